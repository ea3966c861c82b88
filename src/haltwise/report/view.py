"""Reports over a folder of runs, served on loopback and kept up to date while the runs go on.

A page is built when it is asked for and again once a file of its run has changed; an open page
hears of the change and loads anew. Serves reports only: no file is ever sent. Requests whose Host
is not this server's own are refused, so that no other site's page can read along.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..core.errors import HaltwiseError
from .extra import needed
from .page import Fragment, Page, Section, render
from .runs import Run, runs_in
from .words import count

HOST = "127.0.0.1"
"""The only address that is listened on."""
POLL = 1.0
"""Seconds between looks at the files of an open page."""
HEADERS = {
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
}
"""On every answer."""

Build = Callable[[Path], Page]
"""From the path of a run to its report; raises `HaltwiseError` where there is none yet."""


@dataclass(frozen=True)
class _Built:
    stamp: str
    html: str
    headline: str


class Viewer:
    """Serves the runs of one folder."""

    def __init__(self, folder: Path, build: Build, poll: float = POLL) -> None:
        """Take the folder, what makes a report of a run, and the seconds between looks."""
        self._folder = folder
        self._build = build
        self._poll = poll
        self._built: dict[str, _Built] = {}
        self._building = asyncio.Lock()

    def app(self) -> Any:
        """Return the aiohttp application."""
        web = needed("aiohttp.web")
        app = web.Application(middlewares=[web.middleware(_guarded)])
        app.router.add_get("/", self._index)
        app.router.add_get("/run/{id:[0-9a-f]{16}}", self._run)
        app.router.add_get("/changes", self._changes)
        app.router.add_get("/changes/{id:[0-9a-f]{16}}", self._changes)
        return app

    async def _index(self, request: Any) -> Any:
        web = needed("aiohttp.web")
        runs = await asyncio.to_thread(runs_in, self._folder)
        rows = [await asyncio.to_thread(self._row, run) for run in runs]
        html = render(_index_page(self._folder, rows), live="/changes")
        return web.Response(text=html, content_type="text/html", headers=HEADERS)

    async def _run(self, request: Any) -> Any:
        web = needed("aiohttp.web")
        run = await self._find(request)
        async with self._building:
            built = await asyncio.to_thread(self._report, run)
        return web.Response(text=built.html, content_type="text/html", headers=HEADERS)

    async def _changes(self, request: Any) -> Any:
        """Send an event whenever the run's files, or the list of runs, have changed."""
        web = needed("aiohttp.web")
        look: Callable[[], str] = self._stamp_of_all
        if "id" in request.match_info:
            look = (await self._find(request)).stamp
        response = web.StreamResponse(headers={**HEADERS, "Content-Type": "text/event-stream"})
        await response.prepare(request)
        known = await asyncio.to_thread(look)
        await response.write(b": watching\n\n")
        while True:
            await asyncio.sleep(self._poll)
            now = await asyncio.to_thread(look)
            text = f"data: {now}\n\n" if now != known else ": still the same\n\n"
            known = now
            try:
                await response.write(text.encode("ascii"))
            except (ConnectionError, RuntimeError):
                return response

    async def _find(self, request: Any) -> Run:
        web = needed("aiohttp.web")
        wanted = request.match_info["id"]
        for run in await asyncio.to_thread(runs_in, self._folder):
            if run.id == wanted:
                return run
        raise web.HTTPNotFound(text="no such run; it may have been moved or deleted")

    def _report(self, run: Run) -> _Built:
        stamp = run.stamp()
        known = self._built.get(run.id)
        if known is not None and known.stamp == stamp:
            return known
        try:
            page = self._build(run.path)
        except HaltwiseError as error:
            page = _waiting_page(run, str(error))
        built = _Built(stamp, render(page, live=f"/changes/{run.id}"), page.headline)
        self._built[run.id] = built
        return built

    def _row(self, run: Run) -> dict[str, str]:
        known = self._built.get(run.id)
        changed = run.changed()
        when = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(changed)) if changed else ""
        return {
            "address": f"/run/{run.id}",
            "name": run.name,
            "kind": "study" if run.study else "traces",
            "changed": when,
            "headline": known.headline if known is not None and known.stamp == run.stamp() else "",
        }

    def _stamp_of_all(self) -> str:
        return " ".join(f"{run.id}{run.stamp()}" for run in runs_in(self._folder))


async def serve(
    viewer: Viewer, port: int, stop: asyncio.Event, ready: Callable[[str], None]
) -> None:
    """Serve until ``stop`` is set; ``ready`` is told the address.

    Raises:
        OSError: the port is taken.
    """
    web = needed("aiohttp.web")
    runner = web.AppRunner(viewer.app(), access_log=None, shutdown_timeout=1.0)
    await runner.setup()
    try:
        site = web.TCPSite(runner, HOST, port)
        await site.start()
        ready(f"http://{HOST}:{runner.addresses[0][1]}")
        await stop.wait()
    finally:
        await runner.cleanup()


async def _guarded(request: Any, handler: Callable[[Any], Any]) -> Any:
    """Refuse requests that were meant for another host: a name that was pointed at this machine."""
    web = needed("aiohttp.web")
    name = request.host.rsplit(":", 1)[0] if ":" in request.host else request.host
    if name not in (HOST, "localhost"):
        raise web.HTTPForbidden(text="this server answers for 127.0.0.1 and localhost only")
    return await handler(request)


def _index_page(folder: Path, rows: list[dict[str, str]]) -> Page:
    listed = Fragment("runs.html.j2", {"rows": rows})
    return Page(
        title="haltwise: runs",
        kind="Runs",
        headline=f"{count(len(rows), 'run')} in {folder.resolve().name}"
        if rows
        else f"No study and no traces in {folder.resolve().name} yet",
        about="This page and every report keep up with the files while runs go on.",
        sections=[Section("runs", "Reports", "", [listed])],
        colophon=[("folder", str(folder))],
    )


def _waiting_page(run: Run, why: str) -> Page:
    return Page(
        title=f"haltwise: {run.name}",
        kind="Waiting",
        headline="Nothing to report yet",
        about=why,
        sections=[],
        colophon=[("from", run.name)],
    )
