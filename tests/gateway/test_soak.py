"""The soak in small: faults of every kind, and no promise broken."""

from __future__ import annotations

import asyncio
import importlib.util
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[2] / "benchmarks" / "soak_gateway.py"


def test_400_requests_with_faults_are_each_answered_once():
    """No request is lost, no answer is another one's, nothing stays open."""
    spec = importlib.util.spec_from_file_location("soak_gateway", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    outcomes, _ = asyncio.run(module.soak(400, 16, seed=1))
    assert [name for name in outcomes if name.isupper()] == []
    assert outcomes["sent"] == 400
    assert outcomes["still open"] == 0
    assert outcomes["answered"] > 200
    assert min(outcomes[name] for name in ("error handed on", "error said", "broken off")) > 0
