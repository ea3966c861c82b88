"""The gateway under faults, for long: every request is answered once, and memory stays flat.

The stub upstream fails on purpose: status 500, connections reset in the middle of a stream, slow
bodies, malformed JSON; 5 % of the clients go away early. Each answer must carry the number of its
own request, once, and each request must reach the upstream once. Prints what happened, every
broken promise with request and response in full, and exits with 1 where there is one.

Memory: the gateway remembers a bounded number of verdicts and forced answers, so that it grows
until these are full (`WARM` requests), and no further. From then on two things are held flat: the
blocks that Python has allocated (one object kept per request is 10,000 blocks) and the resident
memory. The memory of verdicts drops its older half whenever the younger one is full; what it holds
at the moment is taken out of the blocks by regression.

Run: ``python benchmarks/soak_gateway.py [--requests 60000] [--clients 32] [--seed 0]``.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import os
import random
import re
import signal
import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import aiohttp
import numpy as np
from aiohttp import web

from haltwise.testing.agents import PATHS
from haltwise.testing.conversations import USELESS, conversation
from haltwise.testing.stub_models import ANSWER, StubServer, Turn

ROOT = Path(__file__).resolve().parent.parent
FAULTS = ("none",) * 12 + ("500", "reset", "slow", "malformed")
LEAVING = 0.05
WARM = 30_000
"""Requests until the gateway's bounded memories are full: the last one is that of 10,000 forced
answers, of which a request leaves .37 on average."""
BLOCKS = 1000
"""Allocated blocks that may be added per 10,000 requests: a tenth of one object per request."""
RESIDENT = 0.5
"""MB that may be added per 10,000 requests: 52 bytes a request."""


class Memory(NamedTuple):
    """What the gateway held after so many requests."""

    requests: int
    verdicts: int
    """Steps in the memory of verdicts."""
    blocks: int
    """As ``sys.getallocatedblocks`` counts them, after a collection."""
    resident: float
    """In MB."""


@dataclass
class Outcome:
    """What became of a soak."""

    counts: Counter[str] = field(default_factory=Counter)
    """By kind; a broken promise is in capitals."""
    broken: list[dict] = field(default_factory=list)
    """Every broken promise in full."""
    memory: list[Memory] = field(default_factory=list)
    """Oldest first."""
    arrivals: Counter[int] = field(default_factory=Counter)
    """How often each request has reached the upstream."""

    def breaks(self, kind: str, **details: object) -> None:
        """Note a broken promise."""
        self.counts[kind] += 1
        self.broken.append({"kind": kind, **details})

    def growth(self, warm: int) -> tuple[float, float]:
        """Return blocks and MB added per 10,000 requests after ``warm``; NaN below 5 points."""
        points = [point for point in self.memory if point.requests >= warm]
        if len(points) < 5:
            return float("nan"), float("nan")
        x = np.array([(point.requests / 10_000, point.verdicts, 1.0) for point in points])
        y = np.array([(point.blocks, point.resident) for point in points])
        slopes = np.linalg.lstsq(x, y, rcond=None)[0][0]
        return float(slopes[0]), float(slopes[1])


def marked(body: dict) -> tuple[int, str]:
    """Return the number and the fault that the question of a request names."""
    key = "input" if "input" in body else "messages"
    content = body[key][0]["content"]
    text = content if isinstance(content, str) else content[0]["text"]
    number, fault = text.split()[-2:]
    return int(number), fault


async def fail(request: web.Request, fault: str) -> web.StreamResponse | None:
    """Fail as ``fault`` says; None for a fault that lets the answer through."""
    if fault == "500":
        return web.json_response({"error": "on purpose"}, status=500)
    if fault == "malformed":
        return web.Response(body=b'{"choices": [', content_type="application/json")
    if fault == "slow":
        await asyncio.sleep(0.02)
    if fault == "reset":
        response = web.StreamResponse(headers={"content-type": "text/event-stream"})
        await response.prepare(request)
        await response.write(b'data: {"choices": []}\n\n')
        if request.transport is not None:
            request.transport.abort()
        return response
    return None


async def soak(requests: int, clients: int, seed: int = 0) -> Outcome:
    """Send the requests; return what became of them, and the gateway's memory along the way."""
    outcome = Outcome()

    async def upstream(request: web.Request, body: dict) -> web.StreamResponse | None:
        number, fault = marked(body)
        outcome.arrivals[number] += 1
        stub.requests.clear()
        return await fail(request, fault)

    with StubServer("rogue", fault=upstream) as stub:
        plain = stub.turn

        def numbered(dialect: str, body: dict) -> Turn:
            return plain(dialect, body)._replace(text=f"number {marked(body)[0]} {ANSWER}")

        stub.turn = numbered  # type: ignore[method-assign]
        gateway = await asyncio.create_subprocess_exec(
            sys.executable, __file__, "--gateway", stub.url,
            stdout=asyncio.subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        )  # fmt: skip
        try:
            await clients_of(gateway, requests, clients, random.Random(seed), outcome)
        finally:
            gateway.terminate()
            await gateway.wait()
    return outcome


async def clients_of(
    gateway: asyncio.subprocess.Process,
    requests: int,
    clients: int,
    rng: random.Random,
    outcome: Outcome,
) -> None:
    """Let ``clients`` share the requests."""
    assert gateway.stdout is not None
    url = json.loads(await gateway.stdout.readline())
    numbers, asking = iter(range(requests)), asyncio.Lock()

    async def held() -> tuple[int, int, float]:
        async with asking:
            gateway.send_signal(signal.SIGUSR1)
            verdicts, blocks, resident = json.loads(await gateway.stdout.readline())
        return verdicts, blocks, resident

    async with aiohttp.ClientSession() as session:

        async def client() -> None:
            for number in numbers:
                await ask(session, url, number, rng, outcome)
                if number % max(requests // 100, 1) == 0:
                    outcome.memory.append(Memory(number, *await held()))

        await asyncio.gather(*[client() for _ in range(clients)])
        async with session.get(url + "/metrics") as response:
            text = await response.text()
    still_open = int(float(text.split("\nhaltwise_open_requests ")[1].split()[0]))
    if still_open:
        outcome.breaks("STILL OPEN", requests=still_open)


async def ask(
    session: aiohttp.ClientSession, url: str, number: int, rng: random.Random, outcome: Outcome
) -> None:
    """Send one request and note what became of it."""
    fault, stream = rng.choice(FAULTS), rng.random() < 0.5
    dialect = rng.choice(sorted(PATHS))
    steps = rng.choice((1, 4, 5, 6))
    question = f"Which river? {number} {fault}"
    body = conversation(dialect, [USELESS] * steps, question=question, stream=stream)
    leaves = rng.random() < LEAVING
    outcome.counts["sent"] += 1
    about = {"number": number, "dialect": dialect, "fault": fault, "steps": steps, "body": body}
    try:
        request = session.post(url + PATHS[dialect], json=body)
        if leaves:
            response = await asyncio.wait_for(request, 0.004)
            response.close()
            outcome.counts["left late"] += 1
            return
        async with request as response:
            data = await response.read()
    except TimeoutError:
        outcome.counts["left"] += 1
    except aiohttp.ClientError as error:
        if fault == "reset":
            outcome.counts["broken off"] += 1
        else:
            outcome.breaks("LOST", error=repr(error), **about)
    else:
        kind = judged(response.status, data, about)
        if kind.isupper():
            headers = dict(response.headers)
            text = data.decode(errors="replace")
            outcome.breaks(kind, status=response.status, headers=headers, answer=text, **about)
        else:
            outcome.counts[kind] += 1
    finally:
        # A forced whole answer that was malformed is asked for once more, and nothing else is.
        most = 2 if fault == "malformed" and steps >= 5 and not stream else 1
        came = outcome.arrivals.pop(number, 0)
        if came > most or (came < most and not leaves):
            outcome.breaks("SENT ON TOO OFTEN OR NOT", arrivals=came, **about)


def judged(status: int, data: bytes, about: dict) -> str:
    """Return what an answer is, in capitals where it should not be so."""
    fault, stream, stopped = about["fault"], about["body"]["stream"], about["steps"] >= 5
    numbers = {int(number) for number in re.findall(rb"number (\d+) ", data)}
    if numbers - {about["number"]}:
        return "ANOTHER ONE'S ANSWER"
    if fault in ("none", "slow"):
        # The Responses API repeats the text in four closing events.
        times = 5 if about["dialect"] == "responses" and stream else 1
        mine = data.count(b"number %d " % about["number"])
        return "answered" if status == 200 and mine == times else "WRONG"
    if fault == "500":
        return "error handed on" if status == 500 else "WRONG"
    if fault == "reset":
        return "error said" if status == 502 else "HALF AN ANSWER"
    if not stopped:
        return "malformed handed on" if status == 200 else "WRONG"
    return "error said" if status == 502 else "WRONG"


async def gateway(upstream: str) -> None:
    """Serve a gateway; print its memory on SIGUSR1. Runs in a process of its own."""
    from haltwise.core.expression import parse_policy
    from haltwise.gateway.server import Gateway, serve
    from haltwise.gateway.settings import Settings

    def report() -> None:
        gc.collect()
        status = Path("/proc/self/status").read_text()
        resident = int(status.split("VmRSS:")[1].split()[0]) / 1024
        verdicts = len(served.judge.memory or ())
        print(json.dumps([verdicts, sys.getallocatedblocks(), resident]), flush=True)

    loop, stop = asyncio.get_running_loop(), asyncio.Event()
    loop.add_signal_handler(signal.SIGUSR1, report)
    loop.add_signal_handler(signal.SIGTERM, stop.set)
    settings = Settings(upstream, parse_policy("streak(5)"), timeout=30)
    served = Gateway(settings)
    await serve(served, "127.0.0.1", 0, stop, lambda url: print(json.dumps(url), flush=True))


def main() -> int:
    """Run and report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=60_000)
    parser.add_argument("--clients", type=int, default=32)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--gateway", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.gateway:
        asyncio.run(gateway(options.gateway))
        return 0
    outcome = asyncio.run(soak(options.requests, options.clients, options.seed))
    for broken in outcome.broken:
        print(json.dumps(broken))
    print(json.dumps(dict(outcome.counts.most_common()), indent=1))
    for point in outcome.memory[:: max(len(outcome.memory) // 12, 1)]:
        print(
            f"after {point.requests:6d}: {point.verdicts:6d} verdicts, {point.blocks:7d} blocks, "
            f"{point.resident:5.1f} MB"
        )
    blocks, resident = outcome.growth(WARM)
    print(
        f"growth per 10,000 requests after {WARM}: {blocks:+.0f} blocks (at most {BLOCKS}), "
        f"{resident:+.2f} MB (at most {RESIDENT})"
    )
    return 1 if outcome.broken or blocks > BLOCKS or resident > RESIDENT else 0


if __name__ == "__main__":
    sys.exit(main())
