"""Model-written code in the sandbox: every way out is tried, and each ends as a failed test."""

from __future__ import annotations

import secrets
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from haltwise.study.repair.graders.code import grade_code
from haltwise.study.repair.sandbox import ACCEPT, Ending, Limits, Runner, SandboxError, runner

TESTS = ["assert double(2) == 4", "assert double(-1) == -2"]
GOOD = "def double(x):\n    return 2 * x\n"


@pytest.fixture(scope="module")
def run() -> Runner:
    """A sandbox with tight limits; skipped where there is none."""
    try:
        return runner(limits=Limits(cpu=3, wall=5.0, memory=256 * 2**20, output=100_000))
    except SandboxError as error:
        pytest.skip(str(error))


def inside(code: str) -> str:
    """Return a candidate that is right, and runs ``code`` first when it is tested."""
    body = "\n    ".join(code.splitlines())
    return f"def double(x):\n    {body}\n    return 2 * x\n"


def processes_with(mark: str) -> list[str]:
    """Return the running processes whose command line holds ``mark``."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                if mark.encode() in (entry / "cmdline").read_bytes():
                    found.append(entry.name)
            except OSError:
                continue
    return found


def test_a_right_candidate_passes(run: Runner) -> None:
    """A correct program passes, and the set-up code runs after it."""
    assert grade_code(GOOD, TESTS, run).valid
    assert grade_code(GOOD, ["assert four == 4"], run, setup="four = double(2)").valid


@pytest.mark.parametrize(
    ("candidate", "why"),
    [
        ("def double(x):\n    return x + 2\n", "AssertionError"),
        ("def double(x) return 2", "SyntaxError: expected ':'"),
        ("", "NameError: name 'double' is not defined"),
        (GOOD + "import os\nos._exit(0)", "ended before its tests had run"),
        (GOOD + "raise SystemExit(0)", "ended before its tests had run"),
        (GOOD + "import os\nprint(input())", "EOFError: EOF when reading a line"),
        (GOOD + "print('all tests passed')\nexit()", "ended before its tests had run"),
        (inside("import os\nos._exit(0)"), "ended before its tests had run"),
        (inside("import ctypes\nctypes.string_at(0)"), "ended with exit code 139"),
    ],
)
def test_a_wrong_candidate_fails_with_the_reason(run: Runner, candidate: str, why: str) -> None:
    """Wrong answers, broken syntax and early exits are failures that say why."""
    grade = grade_code(candidate, TESTS, run)
    assert not grade.valid
    assert grade.why == why


def test_reading_a_secret_outside_fails(run: Runner, tmp_path: Path) -> None:
    """A file of the caller is not there, neither directly nor through a symlink."""
    secret = tmp_path / "secret.txt"
    secret.write_text("key")
    secret.chmod(0o644)
    for code in (
        f"open({str(secret)!r}).read()",
        f"import os\nos.symlink({str(secret)!r}, 'link')\nopen('link').read()",
        "open('/etc/passwd').read()",
        "open('/proc/1/environ').read().index('HOME=/root')",
    ):
        grade = grade_code(inside(code), TESTS, run)
        assert not grade.valid
        assert grade.why.split(":")[0] in {"FileNotFoundError", "PermissionError", "ValueError"}


def test_the_environment_is_empty(run: Runner, monkeypatch: pytest.MonkeyPatch) -> None:
    """No variable of the caller reaches the program."""
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    done = run("import os; print(sorted(os.environ))", "")
    assert "OPENAI_API_KEY" not in done.stdout
    assert done.code == 0


@pytest.mark.parametrize("target", ["/usr/owned", "/owned", "/dev/owned", "/proc/sys/kernel/owned"])
def test_writing_outside_fails(run: Runner, target: str) -> None:
    """The system is read-only."""
    grade = grade_code(inside(f"open({target!r}, 'w')"), TESTS, run)
    assert not grade.valid
    assert not Path(target).exists()


def test_the_temporary_folder_is_fresh_and_gone_afterwards(run: Runner) -> None:
    """A file written in one run is neither in the next one nor on this machine."""
    name = f"left-{secrets.token_hex(8)}"
    code = f"import os; print(os.listdir('/tmp')); open('/tmp/{name}', 'w').write('x')"
    assert run(code, "").stdout == "[]\n"
    assert run(code, "").stdout == "[]\n"
    assert not Path("/tmp", name).exists()


def test_opening_a_socket_fails(run: Runner) -> None:
    """A server that listens on loopback outside cannot be reached from inside."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        code = f"import socket\nsocket.create_connection(('127.0.0.1', {port}), 1)"
        grade = grade_code(inside(code), TESTS, run)
    assert not grade.valid
    assert grade.why.startswith(("ConnectionRefusedError", "OSError"))


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("import os\nwhile True: os.fork()", "BlockingIOError"),
        ("x = []\nwhile True: x.append(bytearray(10**7))", "MemoryError"),
        ("while True: pass", "still running after "),
        ("import time\ntime.sleep(60)", "still running after 5."),
        ("while True: print('x' * 1000)", "wrote more output than allowed"),
        ("open('/tmp/big', 'wb').write(bytes(10**8))", "OSError: [Errno 27] File too large"),
    ],
)
def test_bombs_end_as_failed_tests(run: Runner, code: str, why: str) -> None:
    """Fork bomb, memory bomb, endless loop, sleep, output flood, huge file: a failure each."""
    grade = grade_code(inside(code), TESTS, run)
    assert not grade.valid
    assert grade.why.startswith(why)


def test_many_small_files_cannot_fill_the_memory(run: Runner) -> None:
    """The temporary folder as a whole is bounded."""
    code = "for i in range(100): open(f'/tmp/{i}', 'wb').write(bytes(10**6))"
    grade = grade_code(inside(code), TESTS, run)
    assert grade.why == "OSError: [Errno 28] No space left on device"


def test_limits_cannot_be_lifted(run: Runner) -> None:
    """Neither rlimits nor a namespace of its own give a program more than it was given."""
    raise_limit = "import resource\nresource.setrlimit(resource.RLIMIT_NPROC, (10**4, 10**4))"
    assert grade_code(inside(raise_limit), TESTS, run).why.startswith(("ValueError", "Permission"))
    unshare = "import ctypes\nassert ctypes.CDLL(None).unshare(0x10000000) == 0, 'refused'"
    assert grade_code(inside(unshare), TESTS, run).why == "AssertionError: refused"


def test_a_process_that_detaches_itself_is_gone_when_the_run_ends(run: Runner) -> None:
    """A child in a session of its own dies with the run, finished or killed."""
    mark = secrets.token_hex(8)
    for ending in ("", "while True: pass"):
        code = (
            f"import os, subprocess, sys\n"
            f"subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)', {mark!r}],"
            f" start_new_session=True)\n{ending}"
        )
        run(code, "")
        assert processes_with(mark) == []


def test_the_input_reaches_the_program(run: Runner) -> None:
    """What is given as input is read, whatever the length of the program."""
    program = "#" * 200_000 + "\nprint(input()[::-1])"
    assert run(program, "olleh\n").stdout == "hello\n"


def test_without_a_sandbox_only_when_it_is_typed() -> None:
    """The unsandboxed runner exists under its telling name alone."""
    assert grade_code(GOOD, TESTS, runner(ACCEPT)).valid
    assert runner(ACCEPT, Limits(wall=0.5))("while True: pass", "").ending is Ending.TIMEOUT
    with pytest.raises(SandboxError, match="none-i-accept"):
        runner("none")


def test_a_missing_tool_is_named_with_the_line_to_type(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without bubblewrap nothing runs, and the error says how to get it."""
    monkeypatch.setenv("PATH", "/nonexistent")
    with pytest.raises(SandboxError, match="sudo apt-get install -y bubblewrap"):
        runner()


def test_mbpp_reference_solutions_pass(run: Runner, shared_data: Callable[[str], Path]) -> None:
    """Sixty of the reference programs of MBPP pass their own tests (all of them: the slow test)."""
    import json

    lines = shared_data("mbpp/mbpp.jsonl").read_text().splitlines()
    for line in lines[:: len(lines) // 60]:
        task = json.loads(line)
        grade = grade_code(task["code"], task["test_list"], run, setup=task["test_setup_code"])
        assert grade.valid, (task["task_id"], grade.why)
