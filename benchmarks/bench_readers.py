"""How fast trace readers are, against ``json.loads`` of the same bytes (the floor of any reader).

    python benchmarks/bench_readers.py [--data FOLDER]

Each sample is a real trace of the shared data folder, or the hand-made conversation of the reader
tests with tool results of a real length and kind: 1,500 characters, of which every 40th is escaped
in JSON (25th to 60th in the real traces of tau-bench and SWE-agent). With ``--plain`` none is, and
``json.loads`` copies memory. Files below 2 MB are repeated with new names in them.
Printed for each reader: MB/s, those of ``json.loads``, and the ratio of the times (processor time,
least of fifteen, both measured in turns in one process). Archives are measured on their
decompressed members, text logs only in MB/s.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import sys
import time
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tests")]

from haltwise.record import read  # noqa: E402
from record.readers import dialects  # noqa: E402

TARGET = 2 << 20
LIMIT = 4.0
TEXT_LIMIT = 20.0

Sample = tuple[str, str, bytes, list[bytes]]
"""Reader, file name, the file, and the JSON texts in it."""


def best(*works: Callable[[], object]) -> list[float]:
    """Return the least processor time of fifteen turns of each, in seconds."""
    times: list[list[float]] = [[] for _ in works]
    for _ in range(15):
        for work, spent in zip(works, times, strict=True):
            begun = time.process_time()
            work()
            spent.append(time.process_time() - begun)
    return [min(spent) for spent in times]


def lines_of(data: bytes) -> list[bytes]:
    """Return the lines of a file of JSON lines."""
    return [line for line in data.split(b"\n") if line.strip()]


def made(plain: bool) -> Iterator[Sample]:
    """Yield the hand-made dialects, with results of 1,500 characters."""
    line = 'The page says of the second river that it is "a tributary" and runs north from here, '
    line += "through four towns and a lake.\n"
    text = 13 * (line.replace('"', "").replace("\n", " ") if plain else line)
    dialects.RESULTS.update({key: f"{value} {text}" for key, value in dialects.RESULTS.items()})
    for name, (reader, make) in dialects.DIALECTS.items():
        if name == "inspect.eval":
            yield archive()
            continue
        data = make()
        times = max(1, TARGET // len(data))
        if name.endswith(".jsonl") and reader in ("chat", "anthropic"):
            copies = [
                data.replace(b'"t"', b'"t%d"' % n).replace(b'"Let me', b'"%d Let me' % n)
                for n in range(times)
            ]
            yield reader, name, b"\n".join(copies), copies
        elif name.endswith(".jsonl"):
            lines = [
                line.replace(b'"s1"', b'"s1-%d"' % n)
                .replace(b'"0x1"', b'"0x1-%d"' % n)
                .replace(b'"t1"', b'"t1-%d"' % n)
                .replace(b'"uuid": "', b'"uuid": "%d-' % n)
                for n in range(times)
                for line in lines_of(data)
            ]
            yield reader, name, b"\n".join(lines), lines


def archive() -> Sample:
    """Return an archive of Inspect samples."""
    file = io.BytesIO()
    members = []
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as made_archive:
        made_archive.writestr("header.json", json.dumps(dialects.HEADER))
        for number in range(600):
            sample = json.dumps({**dialects.inspect_sample(), "id": number}).encode()
            members.append(sample)
            made_archive.writestr(f"samples/{number}_epoch_1.json", sample)
    return "inspect", "inspect.eval", file.getvalue(), members


def real(folder: Path) -> Iterator[Sample]:
    """Yield the real traces, as far as they are there."""
    trajectories = folder / "trajectories"
    path = trajectories / "tau_airline_even.json"
    if path.exists():
        data = path.read_bytes()
        yield "chat", path.name, data, [data]
    for name, reader, key in (
        ("trajectories/react_fever_250.jsonl", "react-steps", b'"fever_id": '),
        ("judged_useless/qwen3-8b_unaided_test300.jsonl", "judged-useless", b'"question_id": "'),
        ("repair_loops/loopgain_b20.jsonl", "error-series", b'"prompt_id": "'),
        ("votes/vitaminc_verifiers.jsonl", "votes", b'"id": "'),
    ):
        path = folder / name
        if path.exists():
            lines = lines_of(path.read_bytes())
            times = max(1, TARGET // sum(map(len, lines)))
            lines = [
                line.replace(key, key + b"%d" % n) for n in range(1, times + 1) for line in lines
            ]
            yield reader, path.name, b"\n".join(lines), lines
    for path in sorted((trajectories / "swe_agent").glob("1*.traj"))[:2]:
        data = msgspec.json.encode(msgspec.json.decode(path.read_bytes()))
        lines = [data] * (TARGET // len(data))
        yield "swe-agent", path.name, b"\n".join(lines), lines
    lines = [
        line
        for path in sorted((trajectories / "claude_code").glob("*.jsonl"))
        if "image" not in path.name
        for line in lines_of(path.read_bytes())
    ]
    if lines:
        lines = [
            line.replace(b'"uuid": "', b'"uuid": "%d-' % n)
            for n in range(TARGET // sum(map(len, lines)))
            for line in lines
        ]
        yield "claude-code", "claude_code/*", b"\n".join(lines), lines
    path = trajectories / "reflexion_react_hotpotqa.txt"
    if path.exists():
        yield "react-text", path.name, path.read_bytes() * 4, []


def main() -> int:
    """Print the table; return 1 where a reader misses its limit."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    default = os.environ.get("HALTWISE_SHARED_DATA", str(ROOT.parent / "shared" / "data"))
    parser.add_argument("--data", type=Path, default=Path(default), help="the shared data folder")
    parser.add_argument("--plain", action="store_true", help="made texts without escapes")
    options = parser.parse_args()
    folder = options.data
    failed = 0
    print(f"{'reader':<15}{'sample':<46}{'MB':>6}{'MB/s':>8}{'json.loads MB/s':>17}{'ratio':>7}")
    with TemporaryDirectory() as temporary:
        for reader, name, data, texts in [*real(folder), *made(options.plain)]:
            path = Path(temporary) / name.replace("/*", ".jsonl")
            path.write_bytes(data)

            def ours(path: Path = path, reader: str = reader) -> int:
                return sum(1 for _ in read(path, reader))

            def floor(texts: list[bytes] = texts) -> int:
                return sum(1 for text in texts if json.loads(text) is not None)

            size = sum(map(len, texts)) if texts else len(data)
            spent, least = best(ours, floor)
            row = f"{reader:<15}{name:<46}{size / 1e6:>6.1f}{size / spent / 1e6:>8.1f}"
            if texts:
                failed += spent / least > LIMIT
                print(f"{row}{size / least / 1e6:>17.1f}{spent / least:>7.2f}")
            else:
                failed += size / spent / 1e6 < TEXT_LIMIT
                print(f"{row}{'-':>17}{'-':>7}")
    print(f"{failed} above its limit (ratio {LIMIT:g}, text {TEXT_LIMIT:g} MB/s)")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
