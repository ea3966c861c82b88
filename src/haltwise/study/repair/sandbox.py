"""Run model-written Python where it can do no harm, and say how it ended.

A run gets: no network, a read-only system, an own empty temporary folder that is gone afterwards,
limits on address space, CPU time, processes, file size and output, and a wall clock outside of it.
Made with bubblewrap under an unprivileged user (as root, limits on processes would not hold).

Knows nothing of tasks and tests; `haltwise.study.repair.graders.code` builds the programs.
"""

from __future__ import annotations

import os
import selectors
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from ...core.errors import HaltwiseError

NOBODY = 65534
"""User and group of a sandboxed run when the caller is root."""
ACCEPT = "none-i-accept"
"""What has to be typed to run model-written code without a sandbox."""


class SandboxError(HaltwiseError):
    """There is no sandbox on this machine; the message gives the line to type."""


class Ending(StrEnum):
    """How a sandboxed program ended."""

    EXITED = "exited"
    """By itself; the exit code tells the rest."""
    TIMEOUT = "timeout"
    """The wall clock or the CPU limit ran out."""
    OUTPUT = "output"
    """It wrote more than the limit allows."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What one run may use."""

    cpu: int = 10
    """Seconds of computing; what a busy machine cannot use up."""
    wall: float = 60.0
    """Seconds by the clock outside, for programs that wait instead of computing."""
    memory: int = 512 * 2**20
    """Bytes of address space of each process."""
    processes: int = 16
    """Processes and threads at once."""
    file_size: int = 16 * 2**20
    """Bytes of one file, and of the temporary folder as a whole."""
    output: int = 2**20
    """Bytes of stdout and stderr together that are read before the run is killed."""


@dataclass(frozen=True, slots=True)
class Run:
    """The outcome of one program."""

    ending: Ending
    code: int | None
    """Exit code, negative for a signal; None when the run was killed from outside."""
    stdout: str
    stderr: str
    seconds: float
    """Wall time."""


Runner = Callable[[str, str], Run]
"""Takes a Python program and its standard input, returns how it ended."""


def runner(kind: str = "bubblewrap", limits: Limits | None = None) -> Runner:
    """Return the function that runs a program.

    Args:
        kind: "bubblewrap", or "none-i-accept" to run with the caller's rights and no isolation.
        limits: what a run may use.

    Raises:
        SandboxError: bubblewrap is missing or does not work here, or ``kind`` is unknown.
    """
    limits = limits or Limits()
    if kind == ACCEPT:
        return lambda program, stdin: _supervise(
            [sys.executable, "-I", "-"], program, stdin, limits
        )
    if kind != "bubblewrap":
        raise SandboxError(f"sandbox {kind!r} is not known; type bubblewrap or {ACCEPT}")
    command = _bubblewrap(limits)
    probe = _supervise(command, "print(6 * 7)", "", limits)
    if probe.stdout != "42\n":
        raise SandboxError(
            f"bubblewrap does not work on this machine ({probe.stderr.strip() or probe.ending}); "
            f"allow user namespaces, use Inspect's docker sandbox, or type --sandbox {ACCEPT}"
        )
    return lambda program, stdin: _supervise(command, program, stdin, limits)


def _bubblewrap(limits: Limits) -> list[str]:
    for tool, package in (("bwrap", "bubblewrap"), ("prlimit", "util-linux")):
        if shutil.which(tool) is None:
            raise SandboxError(
                f"model-written code runs in a sandbox only, and {tool} is missing; "
                f"type: sudo apt-get install -y {package}"
            )
    python, mounts = _interpreter()
    return [
        *("bwrap", "--unshare-all", "--unshare-user", "--disable-userns", "--die-with-parent"),
        "--new-session",
        *mounts,
        *("--proc", "/proc", "--dev", "/dev", "--remount-ro", "/dev"),
        *("--size", str(limits.file_size), "--tmpfs", "/tmp", "--chdir", "/tmp"),
        *("--remount-ro", "/", "--"),
        # Inside the new user namespace, so that the processes of this run alone are counted.
        *(
            "/usr/bin/prlimit",
            f"--as={limits.memory}",
            f"--cpu={limits.cpu}:{limits.cpu + 1}",
            "--core=0",
        ),
        *(f"--nproc={limits.processes}", f"--fsize={limits.file_size}", "--nofile=64"),
        *("--memlock=0", "--msgqueue=0", python, "-I", "-"),
    ]


def _interpreter() -> tuple[str, list[str]]:
    system = ["--ro-bind", "/usr", "/usr"]
    for name in ("bin", "lib", "lib32", "lib64"):
        folder = Path("/", name)
        if folder.is_symlink():
            system += ["--symlink", f"usr/{name}", str(folder)]
        elif folder.is_dir():
            system += ["--ro-bind", str(folder), str(folder)]
    if Path("/usr/bin/python3").exists():
        return "/usr/bin/python3", system
    return sys.executable, [*system, "--ro-bind", sys.base_prefix, sys.base_prefix]


def _supervise(command: list[str], program: str, stdin: str, limits: Limits) -> Run:
    """Run ``command`` on a program that reads itself from descriptor 0, and watch over it.

    The program and its input travel in one anonymous memory file: nothing touches the disk.
    """
    source = program.encode("utf-8", "surrogatepass")
    # ``python -`` reads all of stdin as its program, hence the loader: it takes the first
    # ``length`` bytes as the program, unbuffered, and leaves the rest as the program's own input.
    loader = (
        f"import os; source = os.read(0, {len(source)}); "
        "exec(compile(source, 'program.py', 'exec'), {'__name__': '__main__'})"
    )
    identity: dict[str, Any] = {}
    if os.geteuid() == 0 and command[0] == "bwrap":
        identity = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
    memory = os.memfd_create("program", os.MFD_CLOEXEC)
    try:
        os.write(memory, source + stdin.encode("utf-8", "surrogatepass"))
        os.lseek(memory, 0, os.SEEK_SET)
        start = time.monotonic()
        process = subprocess.Popen(
            [*command[:-1], "-c", loader],
            stdin=memory,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            # Not bwrap's --clearenv: its first process would keep the caller's variables, keys
            # among them, readable inside through /proc/1/environ.
            env={"PATH": "/usr/bin:/bin", "HOME": "/tmp", "LANG": "C.UTF-8"},
            start_new_session=True,
            **identity,
        )
    finally:
        os.close(memory)
    with process:
        ending, texts = _collect(process, start + limits.wall, limits.output)
        if ending is not Ending.EXITED:
            os.killpg(process.pid, signal.SIGKILL)
            # The pipes close when the last process of the run is gone: nothing is left behind.
            _collect(process, time.monotonic() + 5, most=2**40)
        code = process.wait()
    if ending is Ending.EXITED and code in (-24, 128 + 24):  # SIGXCPU: the CPU limit
        ending = Ending.TIMEOUT
    out, err = (text.decode("utf-8", "replace") for text in texts)
    seconds = time.monotonic() - start
    return Run(ending, code if ending is Ending.EXITED else None, out, err, seconds)


def _collect(
    process: subprocess.Popen[bytes], deadline: float, most: int
) -> tuple[Ending, tuple[bytes, bytes]]:
    """Read both pipes until the process ends, the clock runs out or it has written too much."""
    assert process.stdout is not None
    assert process.stderr is not None
    texts = {process.stdout: bytearray(), process.stderr: bytearray()}
    with selectors.DefaultSelector() as selector:
        for pipe in texts:
            selector.register(pipe, selectors.EVENT_READ)
        ending = Ending.EXITED
        read = 0
        while selector.get_map():
            left = deadline - time.monotonic()
            ready = selector.select(max(left, 0))
            if not ready and left <= 0:
                ending = Ending.TIMEOUT
                break
            for key, _ in ready:
                chunk = os.read(key.fd, 65536)
                if not chunk:
                    selector.unregister(key.fileobj)
                read += len(chunk)
                if read <= most + 65536:
                    texts[key.fileobj] += chunk  # type: ignore[index]
            if read > most:
                ending = Ending.OUTPUT
                break
    return ending, (bytes(texts[process.stdout][:most]), bytes(texts[process.stderr][:most]))
