"""``haltwise view DIR``: the reports of a folder of runs in the browser, on loopback alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..core.errors import InputError
from .options import json_option, replicates_option

if TYPE_CHECKING:
    from ..report.view import Viewer


@click.command()
@click.argument("folder", type=click.Path(path_type=Path), metavar="DIR")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8766,
    show_default=True,
    help="Where to listen, on 127.0.0.1; 0: any free port.",
)
@replicates_option
@json_option
def command(folder: Path, port: int, replicates: int, as_json: bool) -> None:
    """Show the reports of the studies and traces in DIR, in the browser, while they grow.

    Listens on 127.0.0.1 only, and serves reports, never files. An open page loads anew when a file
    of its run has changed.
    """
    if not folder.is_dir():
        raise InputError(
            f"{folder}: there is no such folder; name one that holds studies or traces"
        )
    from ..report.extra import needed

    for module in ("aiohttp", "altair", "jinja2", "vl_convert"):
        needed(module)
    from ..report.view import Viewer
    from .pages import Request, page_of

    viewer = Viewer(folder, lambda path: page_of(Request((str(path),), replicates=replicates)).page)
    _run(viewer, port, as_json)


def _run(viewer: Viewer, port: int, as_json: bool) -> None:
    import asyncio
    import signal

    from ..report.view import serve

    def ready(url: str) -> None:
        click.echo(json.dumps({"url": url}) if as_json else f"{url}  (Ctrl-C ends)")

    async def main() -> None:
        stop = asyncio.Event()
        loop = asyncio.get_running_loop()
        for name in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(name, stop.set)
        await serve(viewer, port, stop, ready)

    try:
        asyncio.run(main())
    except OSError as error:
        raise InputError(
            f"port {port} cannot be listened on: {error.strerror}; type another one with --port"
        ) from None
