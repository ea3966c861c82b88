"""Every code block of the README and of the docs runs.

A page's ``python`` and ``sh`` blocks run in order, in one folder that holds the files which the
pages speak of: ``traces.jsonl`` (recorded search episodes), ``answer_now.jsonl`` and
``loops.jsonl`` (verify-repair loops), all simulated. A block after ``<!-- not run: reason -->`` is
left out; any other language is shown, not run. The pages of ``docs/adapters`` need frameworks
and a model: ``tests/adapters/test_pages.py`` runs them.
"""

from __future__ import annotations

import json
import re
import shlex
import shutil
from pathlib import Path
from typing import Any

import pytest

from haltwise.cli.main import run
from haltwise.core.noise import NoiseModel
from haltwise.record.jsonl import write_episodes
from haltwise.simulated.repair import simulate_repair
from haltwise.simulated.search import IGNORES, simulate_search

ROOT = Path(__file__).resolve().parent.parent.parent
PAGES = [
    ROOT / "README.md",
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted((ROOT / "docs/how-to").glob("*.md")),
]
"""The pages of docs/adapters run in the environments of their frameworks, tests/adapters."""
BLOCK = re.compile(
    r"^(?P<skip><!-- not run: [^>]+ -->\n+)?```(?P<language>python|sh)\n(?P<code>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)


def blocks(page: Path) -> list[tuple[str, str]]:
    """Return (language, code) of the blocks that are to be run."""
    return [
        (match["language"], match["code"])
        for match in BLOCK.finditer(page.read_text("utf-8"))
        if match["skip"] is None
    ]


@pytest.fixture(scope="session")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the sample files."""
    folder = tmp_path_factory.mktemp("sample")
    runs = simulate_search(IGNORES, 150, seed=1)
    write_episodes(folder / "traces.jsonl", runs.episodes())
    with (folder / "answer_now.jsonl").open("w") as table:
        for episode in runs.episodes():
            branch = episode.steps[0].answer_now
            if episode.regime == "persistent" and branch is not None:
                row = {"question_id": episode.question_id, "success": branch.success}
                table.write(json.dumps(row) + "\n")
    noise = NoiseModel(rho0=0.3, rho1=0.2, alpha=0.25, beta=0.1, valid=0.6)
    write_episodes(folder / "loops.jsonl", simulate_repair(noise, 300, seed=1).episodes())
    return folder


def run_shell(code: str) -> None:
    """Run the ``haltwise`` commands of a block; every one of them has to end well."""
    for line in code.replace("\\\n", " ").splitlines():
        words = shlex.split(line, comments=True)
        if words:
            assert words[0] == "haltwise", f"only haltwise commands are run, mark the block: {line}"
            assert run(words[1:]) == 0, line


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_block_of_a_page_runs(
    page: Path, sample: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The blocks of one page run in order and build on each other."""
    shutil.copytree(sample, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"__name__": "__main__"}
    for language, code in blocks(page):
        if language == "sh":
            run_shell(code)
        else:
            exec(compile(code, str(page), "exec"), names)


def test_the_pages_have_blocks() -> None:
    """The pattern finds blocks at all; without this, a typo in it would pass every page."""
    assert sum(len(blocks(page)) for page in PAGES) > 0
