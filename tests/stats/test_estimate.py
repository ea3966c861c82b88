"""The shape of every sampled quantity."""

from __future__ import annotations

import json
import math
from collections.abc import Callable

from haltwise.stats.estimate import Estimate, none_if_nan, undefined


def test_undefined_is_null_with_a_reason() -> None:
    """An undefined quantity is NaN inside, null in JSON, and says why."""
    estimate = undefined("no searches", n=3, method="share", level=0.9)
    assert not estimate.defined
    assert json.loads(json.dumps(estimate.to_json(), allow_nan=False)) == {
        "value": None,
        "low": None,
        "high": None,
        "level": 0.9,
        "n": 3,
        "method": "share",
        "note": "no searches",
    }


def test_notes_add_up() -> None:
    """A further note does not replace the first one."""
    estimate = Estimate(0.5).noted("one").noted("two")
    assert estimate.defined
    assert estimate.note == "one; two"


def test_only_finite_numbers_are_written() -> None:
    """Infinities have no JSON either."""
    assert none_if_nan(math.inf) is None
    assert none_if_nan(0) == 0.0


def test_import_is_light(run_python: Callable[[str], str]) -> None:
    """The shape itself loads no numerics."""
    code = "import sys, haltwise.stats.estimate; print('numpy' in sys.modules)"
    assert run_python(code).strip() == "False"
