"""A gateway in front of a stub, for the tests of this folder."""

from __future__ import annotations

import asyncio
import json
from contextlib import asynccontextmanager

import aiohttp

from haltwise.core.expression import parse_policy
from haltwise.gateway.server import Gateway
from haltwise.gateway.settings import Settings
from haltwise.testing.stub_models import StubServer


class Client:
    """Sends requests to one gateway and reads the responses."""

    def __init__(self, url, session, gateway):
        self.url, self.session, self.gateway = url, session, gateway

    async def post(self, path, body=None, *, data=None, **options):
        """Return (status, headers, bytes) of one POST."""
        data = data if data is not None else json.dumps(body).encode()
        headers = {"content-type": "application/json", **options.pop("headers", {})}
        async with self.session.post(self.url + path, data=data, headers=headers) as response:
            return response.status, response.headers, await response.read()

    async def get(self, path):
        """Return (status, text) of one GET."""
        async with self.session.get(self.url + path) as response:
            return response.status, await response.text()


@asynccontextmanager
async def gateway(upstream, policy="streak(5)", **options):
    """Serve a gateway and give a client of it."""
    served = Gateway(Settings(upstream, parse_policy(policy), **options))
    async with served.listening(grace=2) as url, aiohttp.ClientSession() as session:
        yield Client(url, session, served)


def with_stub(main, *, mode="obedient", path="", policy="streak(5)", stub=None, **options):
    """Run ``main(client, stub)`` on a gateway in front of a stub and return its result."""

    async def run():
        with stub or StubServer(mode) as server:
            async with gateway(server.url + path, policy, **options) as client:
                return await main(client, server)

    return asyncio.run(run())
