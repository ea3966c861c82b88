"""Reports over a folder: up to date, on loopback, and nothing but reports."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import aiohttp
import pytest

from haltwise.core.errors import InputError
from haltwise.report.page import Page
from haltwise.report.runs import runs_in
from haltwise.report.view import Viewer, serve


def a_page(path: Path) -> Page:
    """Return a page that says what the file says; an empty one gives none."""
    text = path.read_text("utf-8")
    if not text:
        raise InputError("nothing usable in it yet")
    return Page(title="t", kind="k", headline=text, about="a", sections=[])


def talk(folder: Path, ask: Callable[[aiohttp.ClientSession, str], Awaitable[None]]) -> None:
    """Serve a folder and let a client talk to it."""

    async def main() -> None:
        stop: asyncio.Event = asyncio.Event()
        address: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        viewer = Viewer(folder, a_page, poll=0.02)
        server = asyncio.create_task(serve(viewer, 0, stop, address.set_result))
        try:
            async with aiohttp.ClientSession() as client:
                await ask(client, await address)
        finally:
            stop.set()
            await server

    asyncio.run(asyncio.wait_for(main(), 30))


def test_a_report_follows_its_file(tmp_path: Path) -> None:
    """The page says what the file says now; after a change an open page is told."""
    file = tmp_path / "a.jsonl"
    file.write_text("first")
    run = runs_in(tmp_path)[0]

    async def ask(client: aiohttp.ClientSession, url: str) -> None:
        async with client.get(f"{url}/") as answer:
            assert f'href="/run/{run.id}"' in await answer.text()
        async with client.get(f"{url}/run/{run.id}") as answer:
            assert "<h1>first</h1>" in await answer.text()
            assert answer.headers["Cache-Control"] == "no-store"
        async with client.get(f"{url}/changes/{run.id}") as events:
            assert (await events.content.readline()).startswith(b": watching")
            file.write_text("second, longer")
            line = b""
            while not line.startswith(b"data:"):
                line = await events.content.readline()
        async with client.get(f"{url}/run/{run.id}") as answer:
            assert "<h1>second, longer</h1>" in await answer.text()

    talk(tmp_path, ask)


def test_a_run_that_has_nothing_yet_says_so(tmp_path: Path) -> None:
    """A study that has just begun is no error: the page waits for it."""
    (tmp_path / "a.jsonl").write_text("")
    run = runs_in(tmp_path)[0]

    async def ask(client: aiohttp.ClientSession, url: str) -> None:
        async with client.get(f"{url}/run/{run.id}") as answer:
            assert answer.status == 200
            assert "nothing usable in it yet" in await answer.text()

    talk(tmp_path, ask)


@pytest.mark.parametrize(
    "address",
    [
        "/run/../../etc/passwd",
        "/run/%2e%2e%2f%2e%2e%2fetc%2fpasswd",
        "/%2e%2e/secret.jsonl",
        "/secret.jsonl",
        "/run/0000000000000000",
        "/run/secret.jsonl",
    ],
)
def test_no_address_reaches_a_file(tmp_path: Path, address: str) -> None:
    """Addresses name digests of what was found; anything else is not found."""
    folder = tmp_path / "runs"
    folder.mkdir()
    (tmp_path / "secret.jsonl").write_text("secret")

    async def ask(client: aiohttp.ClientSession, url: str) -> None:
        from yarl import URL

        async with client.get(URL(url + address, encoded=True)) as answer:
            assert answer.status == 404
            assert "secret" not in await answer.text()

    talk(folder, ask)


def test_links_out_of_the_folder_are_not_followed(tmp_path: Path) -> None:
    """A link to a file or a folder elsewhere is no run."""
    folder = tmp_path / "runs"
    folder.mkdir()
    (tmp_path / "secret.jsonl").write_text("secret")
    (folder / "file.jsonl").symlink_to(tmp_path / "secret.jsonl")
    (folder / "up").symlink_to(tmp_path, target_is_directory=True)
    (folder / ".hidden.jsonl").write_text("hidden")
    assert runs_in(folder) == []


def test_another_host_is_refused(tmp_path: Path) -> None:
    """A page of another site whose name points here cannot read the reports."""

    async def ask(client: aiohttp.ClientSession, url: str) -> None:
        async with client.get(f"{url}/", headers={"Host": "evil.example"}) as answer:
            assert answer.status == 403

    talk(tmp_path, ask)


def test_a_study_is_one_run(tmp_path: Path) -> None:
    """Files of a study belong to it, and its stamp changes with any of them."""
    study = tmp_path / "study"
    study.mkdir()
    (study / "study.json").write_text("{}")
    (study / "a.jsonl").write_text("")
    (run,) = runs_in(tmp_path)
    assert run.study
    before = run.stamp()
    (study / "a.jsonl").write_text("more")
    assert run.stamp() != before
    assert [found.path for found in runs_in(study)] == [study]
