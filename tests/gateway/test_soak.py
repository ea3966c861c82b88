"""The soak in small: faults of every kind, and no promise broken."""

from __future__ import annotations

import asyncio
import importlib.util
import sys
from pathlib import Path

import numpy as np

SCRIPT = Path(__file__).resolve().parents[2] / "benchmarks" / "soak_gateway.py"


def test_400_requests_with_faults_are_each_answered_once(monkeypatch):
    """No request is lost, no answer is another one's, nothing stays open."""
    spec = importlib.util.spec_from_file_location("soak_gateway", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, module)
    spec.loader.exec_module(module)
    outcome = asyncio.run(module.soak(400, 16, seed=1))
    assert outcome.broken == []
    assert outcome.counts["sent"] == 400
    assert outcome.counts["answered"] > 200
    assert min(outcome.counts[name] for name in ("error handed on", "error said", "broken off")) > 0
    blocks = np.array([point.blocks for point in outcome.memory])
    assert (blocks > 100_000).all()
