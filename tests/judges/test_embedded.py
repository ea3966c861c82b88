"""The embedded model: errors without it, and (slow) what it answers."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from haltwise.core.errors import InputError
from haltwise.judges import embedded
from haltwise.judges.embedded import EmbeddedModel, ModelError, load_embedded
from haltwise.judges.weights import find_weights


def test_without_the_runtime_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error is the line to type."""
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    with pytest.raises(InputError, match=r"pip install 'haltwise\[embedded\]'"):
        EmbeddedModel(Path("nowhere.gguf"))


def test_without_weights_and_without_leave_to_download_it_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """`download=False` never goes online; the size is in the message."""
    monkeypatch.setattr(embedded, "find_weights", lambda: None)
    with pytest.raises(InputError, match=r"1\.1 GB"):
        load_embedded(download=False)


def test_it_is_loaded_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Two calls with the same options build one model."""
    monkeypatch.setattr(embedded, "find_weights", lambda: tmp_path / "w.gguf")
    monkeypatch.setattr(embedded, "_LOADED", {})
    built: list[Path] = []

    def build(path: Path, *, slots: int, context: int) -> object:
        built.append(path)
        return object()

    first = load_embedded(download=False, build=build)  # type: ignore[arg-type]
    assert load_embedded(download=False, build=build) is first  # type: ignore[arg-type]
    assert len(built) == 1


@pytest.fixture(scope="module")
def model() -> Iterator[EmbeddedModel]:
    """The model itself, where its weights are on this machine."""
    if find_weights() is None:
        pytest.skip("the weights are not on this machine; type: haltwise demo")
    pytest.importorskip("xllamacpp")
    yield load_embedded(download=False, context=2048)


@pytest.mark.slow
def test_greedy_answers_repeat_to_the_byte(model: EmbeddedModel) -> None:
    """The same prompt without prefix reuse gives the same text, whatever was asked in between."""
    ask = [{"role": "user", "content": "Name three bridges in one sentence."}]
    first = model.chat(ask, max_tokens=30, reuse_prefix=False)
    model.chat([{"role": "user", "content": "Say hello."}], max_tokens=5, reuse_prefix=False)
    assert model.chat(ask, max_tokens=30, reuse_prefix=False) == first


@pytest.mark.slow
def test_a_schema_binds_and_a_limit_is_reported(model: EmbeddedModel) -> None:
    """The schema's keys come back; two tokens end with finish "length"."""
    schema = {
        "type": "object",
        "properties": {"word": {"type": "string", "maxLength": 10}},
        "required": ["word"],
        "additionalProperties": False,
    }
    ask = [{"role": "user", "content": "Give me a word as JSON."}]
    (reply,) = model.chat(ask, schema=schema)
    assert '"word"' in reply.text
    assert model.chat(ask, max_tokens=2)[0].finish == "length"


@pytest.mark.slow
def test_probabilities_of_one_word_answers(model: EmbeddedModel) -> None:
    """7 x 9 = 63 is more likely "yes" than 7 x 9 = 12, and the two words sum to 1."""
    right, wrong = (
        model.probabilities(
            [{"role": "user", "content": f"Is 7 * 9 equal to {n}? Reply yes or no."}], ["yes", "no"]
        )[0]
        for n in (63, 12)
    )
    assert right["yes"] > wrong["yes"]
    assert sum(right.values()) == pytest.approx(1)


@pytest.mark.slow
def test_a_prompt_that_is_too_long_is_a_clear_error(model: EmbeddedModel) -> None:
    """The runtime's error document becomes an exception."""
    with pytest.raises(ModelError, match="context"):
        model.chat([{"role": "user", "content": "word " * 4000}])


@pytest.mark.slow
def test_each_of_several_answers_is_counted() -> None:
    """Three answers have their own numbers of tokens, each as long as its text needs."""
    pytest.importorskip("xllamacpp")
    if find_weights() is None:
        pytest.skip("the weights are not on this machine; type: haltwise demo")
    model = load_embedded(download=False, slots=3, context=512)
    ask = [{"role": "user", "content": "Say a short sentence."}]
    replies = model.chat(ask, max_tokens=24, temperature=1.0, seed=4, n=3)
    assert len(replies) == 3
    for reply in replies:
        words = len(reply.text.split())
        assert words <= reply.output_tokens <= 24
