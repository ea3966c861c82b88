"""The gateway against direct calls and, where it is installed, against the LiteLLM proxy.

One run, one stub upstream, the same requests: chat completions with a history of 10 and of 200
messages, 1, 16 and 128 clients with persistent connections. Both proxies are one process each and
decide with the same code (`haltwise.adapters.litellm` is the hook). Clients and upstream speak
HTTP by hand, so that they cost as little as possible.

Run: ``python benchmarks/bench_gateway.py [--litellm /path/to/venv] [--seconds 4]``.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from haltwise.testing.conversations import USEFUL, conversation

ROOT = Path(__file__).resolve().parent.parent
REPLY = json.dumps(
    {
        "id": "c",
        "object": "chat.completion",
        "created": 1_700_000_000,
        "model": "stub",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": "The river is the Strel."},
                "finish_reason": "stop",
            }
        ],
        "usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15},
    }
).encode()
RESPONSE = (
    b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n" % len(REPLY)
) + REPLY


class Upstream(asyncio.Protocol):
    """Answers every request with one fixed completion."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin a connection."""
        self.transport, self.data = transport, b""

    def data_received(self, data: bytes) -> None:
        """Answer each request that is whole."""
        self.data += data
        while (end := self.data.find(b"\r\n\r\n")) >= 0:
            head = self.data[:end].lower()
            place = head.find(b"content-length:")
            length = int(head[place + 15 :].split(b"\r\n", 1)[0]) if place >= 0 else 0
            if len(self.data) < end + 4 + length:
                return
            self.data = self.data[end + 4 + length :]
            self.transport.write(RESPONSE)


async def upstream(port: int) -> None:
    """Serve the stub for ever."""
    loop = asyncio.get_running_loop()
    server = await loop.create_server(Upstream, "127.0.0.1", port, backlog=512)
    await server.serve_forever()


def request_bytes(messages: int) -> bytes:
    """Return one request with a history of ``messages`` messages (half of them results)."""
    texts = [f"{USEFUL} Paragraph {i}, with a few more words in it." for i in range(messages // 2)]
    body = json.dumps(conversation("chat", texts)).encode()
    head = (
        "POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer sk-bench"
        f"\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


async def one(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, data: bytes) -> None:
    """Send one request and read its response to the end."""
    writer.write(data)
    head = await reader.readuntil(b"\r\n\r\n")
    if not head.startswith(b"HTTP/1.1 200"):
        raise RuntimeError(head.decode())
    lower = head.lower()
    place = lower.find(b"content-length:")
    await reader.readexactly(int(lower[place + 15 :].split(b"\r\n", 1)[0]))


async def latency(ports: dict[str, int], data: bytes, rounds: int) -> dict[str, list[float]]:
    """Return seconds per request of each target, asked in turn."""
    found: dict[str, list[float]] = {name: [] for name in ports}
    links = {name: await asyncio.open_connection("127.0.0.1", p) for name, p in ports.items()}
    for turn in range(rounds + 20):
        for name, link in links.items():
            began = time.perf_counter()
            await one(*link, data)
            if turn >= 20:
                found[name].append(time.perf_counter() - began)
    for _, writer in links.values():
        writer.close()
    return found


async def throughput(port: int, data: bytes, clients: int, seconds: float) -> float:
    """Return requests per second of ``clients`` that ask as fast as they can."""
    count, until = 0, time.perf_counter() + seconds

    async def client() -> None:
        nonlocal count
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        while time.perf_counter() < until:
            await one(reader, writer, data)
            count += 1
        writer.close()

    began = time.perf_counter()
    await asyncio.gather(*[client() for _ in range(clients)])
    return count / (time.perf_counter() - began)


def free_port() -> int:
    """Return a port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def started(command: list[str], port: int, **options: object) -> subprocess.Popen[bytes]:
    """Start a server and wait until it listens."""
    process = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **options
    )
    for _ in range(1200):
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 0.2):
            return process
        if process.poll() is not None:
            raise RuntimeError(f"{command[:3]} ended with {process.returncode}")
        time.sleep(0.1)
    raise RuntimeError(f"{command[:3]} does not listen on {port}")


def litellm(venv: Path, folder: Path, port: int, target: int) -> subprocess.Popen[bytes]:
    """Start the LiteLLM proxy with the same rule as a hook."""
    (folder / "stop_hook.py").write_text(
        "from haltwise.adapters.litellm import StopHook\nhandler = StopHook('streak(5)')\n"
    )
    (folder / "config.yaml").write_text(
        "model_list:\n  - model_name: stub\n    litellm_params: {model: openai/stub, "
        f'api_base: "http://127.0.0.1:{target}/v1", api_key: x}}\n'
        "litellm_settings:\n  callbacks: stop_hook.handler\n"
    )
    command = [str(venv / "bin/litellm"), "--config", "config.yaml", "--host", "127.0.0.1"]
    path = f"{folder}:{ROOT / 'src'}"
    return started(
        [*command, "--port", str(port), "--num_workers", "1"],
        port,
        cwd=folder,
        env={
            **os.environ,
            "PYTHONPATH": path,
            "LITELLM_LOCAL_MODEL_COST_MAP": "True",
            "LITELLM_DANGEROUSLY_PERMIT_WEAK_OR_UNSET_MASTER_KEY": "true",
        },
    )


def resident(process: subprocess.Popen[bytes]) -> float:
    """Return the resident memory of a process and its children, in MB."""
    kilobytes = 0
    for pid in [process.pid, *children(process.pid)]:
        status = Path(f"/proc/{pid}/status").read_text()
        kilobytes += int(status.split("VmRSS:")[1].split()[0])
    return kilobytes / 1024


def children(pid: int) -> list[int]:
    """Return the children of a process."""
    text = Path(f"/proc/{pid}/task/{pid}/children").read_text()
    return [int(word) for word in text.split()]


async def measure(ports: dict[str, int], rounds: int, seconds: float) -> None:
    """Measure and print everything."""
    for messages in (10, 200):
        data = request_bytes(messages)
        found = await latency(ports, data, rounds)
        direct = statistics.median(found["direct"])
        print(f"\n{messages} messages, {len(data) / 1000:.0f} kB, 1 client, one after the other")
        for name, times in found.items():
            p50, p99 = statistics.median(times), statistics.quantiles(times, n=100)[98]
            print(
                f"  {name:10s} p50 {p50 * 1000:7.2f} ms   p99 {p99 * 1000:7.2f} ms"
                f"   added p50 {(p50 - direct) * 1000:7.2f} ms"
            )
        for clients in (1, 16, 128):
            rates = {name: await throughput(p, data, clients, seconds) for name, p in ports.items()}
            line = "   ".join(f"{name} {rate:8.0f}/s" for name, rate in rates.items())
            ratio = ""
            if "litellm" in rates:
                ratio = f"   gateway : litellm = {rates['gateway'] / rates['litellm']:.1f}"
            print(f"  {clients:4d} clients   {line}{ratio}")


def main() -> None:
    """Start everything, measure, stop everything."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--litellm", type=Path, help="environment that holds litellm[proxy]")
    parser.add_argument("--seconds", type=float, default=4.0, help="of each throughput")
    parser.add_argument("--rounds", type=int, default=400, help="requests of each latency")
    parser.add_argument("--upstream", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.upstream:
        asyncio.run(upstream(options.upstream))
    target, port = free_port(), free_port()
    python = [sys.executable, "-m", "haltwise", "serve", "--policy", "streak(5)"]
    env = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    with contextlib.ExitStack() as stack, tempfile.TemporaryDirectory() as folder:
        processes = {
            "direct": started(
                [sys.executable, __file__, "--upstream", str(target)], target, env=env
            )
        }
        ports = {"direct": target, "gateway": port}
        stack.callback(lambda: [process.terminate() for process in processes.values()])
        processes["gateway"] = started(
            [*python, "--upstream", f"http://127.0.0.1:{target}", "--port", str(port)],
            port,
            env=env,
        )
        if options.litellm:
            ports["litellm"] = free_port()
            processes["litellm"] = litellm(options.litellm, Path(folder), ports["litellm"], target)
        idle = {name: resident(process) for name, process in processes.items()}
        asyncio.run(measure(ports, options.rounds, options.seconds))
        print("\nresident memory, at the start and at the end")
        for name, process in processes.items():
            print(f"  {name:10s} {idle[name]:6.0f} MB   {resident(process):6.0f} MB")


if __name__ == "__main__":
    main()
