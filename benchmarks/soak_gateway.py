"""The gateway under faults, for long: every request is answered once, and memory stays flat.

The stub upstream fails on purpose: status 500, connections reset in the middle of a stream, slow
bodies, malformed JSON; 5 % of the clients go away early. Each answer must carry the number of its
own request. Prints what happened and exits with 1 where a promise was broken.

Run: ``python benchmarks/soak_gateway.py [--requests 50000] [--clients 32]``.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import sys
from collections import Counter
from pathlib import Path

import aiohttp
from aiohttp import web

from haltwise.testing.agents import PATHS
from haltwise.testing.conversations import USELESS, conversation
from haltwise.testing.stub_models import ANSWER, StubServer, Turn

ROOT = Path(__file__).resolve().parent.parent
FAULTS = ("none",) * 12 + ("500", "reset", "slow", "malformed")
LEAVING = 0.05


def marked(body: dict) -> tuple[int, str]:
    """Return the number and the fault that the question of a request names."""
    key = "input" if "input" in body else "messages"
    content = body[key][0]["content"]
    text = content if isinstance(content, str) else content[0]["text"]
    number, fault = text.split()[-2:]
    return int(number), fault


async def upstream(request: web.Request, body: dict) -> web.StreamResponse | None:
    """Fail as the question says; otherwise echo its number in a header."""
    number, fault = marked(body)
    if fault == "500":
        return web.json_response({"error": number}, status=500)
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


def resident(pid: int) -> float:
    """Return a process's resident memory in MB."""
    text = Path(f"/proc/{pid}/status").read_text()
    return int(text.split("VmRSS:")[1].split()[0]) / 1024


async def soak(requests: int, clients: int, seed: int = 0) -> tuple[Counter[str], list[float]]:
    """Send the requests; return what became of them, and the gateway's memory by tenths."""
    with StubServer(fault=upstream) as stub:
        plain = stub.turn

        def numbered(dialect: str, body: dict) -> Turn:
            stub.requests.clear()
            return plain(dialect, body)._replace(text=f"number {marked(body)[0]} {ANSWER}")

        stub.turn = numbered  # type: ignore[method-assign]
        gateway = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "haltwise", "serve", "--upstream", stub.url, "--policy",
            "streak(5)", "--port", "0", "--timeout", "30", "--json",
            stdout=asyncio.subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        )  # fmt: skip
        assert gateway.stdout is not None
        try:
            url = json.loads(await gateway.stdout.readline())["url"]
            return await clients_of(url, gateway.pid, requests, clients, random.Random(seed))
        finally:
            gateway.terminate()
            await gateway.wait()


async def clients_of(
    url: str, pid: int, requests: int, clients: int, rng: random.Random
) -> tuple[Counter[str], list[float]]:
    """Let ``clients`` share the requests."""
    outcomes: Counter[str] = Counter()
    memory: list[float] = []
    numbers = iter(range(requests))
    async with aiohttp.ClientSession() as session:

        async def client() -> None:
            for number in numbers:
                await ask(session, url, number, rng, outcomes)
                if number % max(requests // 10, 1) == 0:
                    memory.append(resident(pid))

        await asyncio.gather(*[client() for _ in range(clients)])
        memory.append(resident(pid))
        async with session.get(url + "/metrics") as response:
            text = await response.text()
    still_open = text.split("\nhaltwise_open_requests ")[1].split()[0]
    outcomes["still open"] = int(float(still_open))
    return outcomes, memory


async def ask(
    session: aiohttp.ClientSession,
    url: str,
    number: int,
    rng: random.Random,
    outcomes: Counter[str],
) -> None:
    """Send one request and note what became of it."""
    fault, stream = rng.choice(FAULTS), rng.random() < 0.5
    dialect = rng.choice(sorted(PATHS))
    question = f"Which river? {number} {fault}"
    steps = rng.choice((1, 4, 5, 6))
    body = conversation(dialect, [USELESS] * steps, question=question, stream=stream)
    leaves = rng.random() < LEAVING
    outcomes["sent"] += 1
    try:
        request = session.post(url + PATHS[dialect], json=body)
        if leaves:
            await asyncio.wait_for(request, 0.004)
            outcomes["left late"] += 1
            return
        async with request as response:
            data = await response.read()
    except TimeoutError:
        outcomes["left"] += 1
    except aiohttp.ClientError:
        outcomes["broken off" if fault == "reset" else "LOST"] += 1
    else:
        mine = f"number {number} ".encode()
        outcomes[judged(response.status, data.count(mine), fault, stopped=steps >= 5)] += 1


def judged(status: int, mine: int, fault: str, *, stopped: bool) -> str:
    """Return what an answer is, in capitals where it should not be so."""
    if fault in ("none", "slow"):
        return "answered" if status == 200 and mine else f"WRONG {fault} {status} {mine}".upper()
    if fault == "500":
        return "error handed on" if status == 500 else "WRONG"
    if fault == "reset":
        return "error said" if status == 502 else "HALF AN ANSWER"
    if not stopped:
        return "malformed handed on"
    return "error said" if status == 502 else "WRONG"


def main() -> int:
    """Run and report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=50_000)
    parser.add_argument("--clients", type=int, default=32)
    options = parser.parse_args()
    outcomes, memory = asyncio.run(soak(options.requests, options.clients))
    print(json.dumps(dict(outcomes.most_common()), indent=1))
    print("resident memory, MB:", " ".join(f"{value:.0f}" for value in memory))
    growth = memory[-1] - memory[len(memory) // 3]
    print(f"growth over the last two thirds: {growth:.1f} MB")
    broken = [name for name in outcomes if name.isupper()]
    return 1 if broken or outcomes["still open"] or growth > 5 else 0


if __name__ == "__main__":
    sys.exit(main())
