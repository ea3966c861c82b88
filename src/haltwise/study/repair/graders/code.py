"""Does a candidate program pass its tests? Builds the program, runs it sandboxed, reads the end.

A pass is a secret word printed after the last test. The word reaches the program on standard input
once the candidate's own top level has run, so a candidate that exits early, prints what it likes or
closes the streams has failed. It guards against accident and cheap tricks; a candidate that
searches the interpreter's frames while it is being tested could still find the word.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence

from ..grade import Grade
from ..sandbox import Ending, Run, Runner

_HARNESS = """\
import os as _os, sys as _sys
_names = {{"__name__": "__main__"}}
_read, _write, _out = _os.read, _os.write, _os.dup(1)
_input = _os.dup(0)
_null = _os.open("/dev/null", _os.O_RDONLY)
_os.dup2(_null, 0)
exec(compile({candidate!r}, "candidate.py", "exec"), _names)
_word = _read(_input, 64)
for _i, _test in enumerate({tests!r}):
    exec(compile(_test, f"test {{_i + 1}}", "exec"), _names)
_sys.stdout.flush()
_write(_out, b"\\n" + _word)
"""


def grade_code(candidate: str, tests: Sequence[str], run: Runner, *, setup: str = "") -> Grade:
    """Run ``tests`` on ``candidate`` in one fresh sandboxed process.

    Args:
        candidate: the program as the model wrote it.
        tests: statements that raise when the candidate is wrong, run in order.
        run: a runner from `haltwise.study.repair.sandbox.runner`.
        setup: code that the tests need; runs after the candidate, as MBPP has it.
    """
    word = secrets.token_hex(16)
    statements = [setup, *tests] if setup else list(tests)
    done = run(_HARNESS.format(candidate=candidate, tests=statements), word)
    if done.ending is Ending.EXITED and done.code == 0 and done.stdout.endswith("\n" + word):
        return Grade(True, "all tests passed")
    return Grade(False, _why(done))


def _why(done: Run) -> str:
    if done.ending is Ending.TIMEOUT:
        return f"still running after {done.seconds:.1f} s"
    if done.ending is Ending.OUTPUT:
        return "wrote more output than allowed"
    lines = done.stderr.strip().splitlines()
    if done.code == 0:
        return "ended before its tests had run"
    return lines[-1] if lines else f"ended with exit code {done.code}"
