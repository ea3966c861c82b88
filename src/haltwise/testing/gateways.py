"""A gateway in a thread of its own, for agents that run synchronously. Needs ``gateway``."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from ..gateway.server import Gateway, serve


@contextmanager
def served(gateway: Gateway) -> Iterator[str]:
    """Serve ``gateway`` on a free port while the block runs; gives its base URL."""
    ready = threading.Event()
    url = ""
    loop = asyncio.new_event_loop()
    stop = asyncio.Event()

    def listening(where: str) -> None:
        nonlocal url
        url = where
        ready.set()

    def run() -> None:
        loop.run_until_complete(serve(gateway, "127.0.0.1", 0, stop, listening))
        loop.close()

    thread = threading.Thread(target=run, daemon=True, name="gateway")
    thread.start()
    ready.wait()
    try:
        yield url
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join()
