"""Enforcement without memory: messages in, decision out, structure into the next request."""

from __future__ import annotations

from .candidate import best_candidate
from .decide import Assessment, VerdictMemory, assess, decide, signal_step
from .dialects import ANTHROPIC, CHAT, DIALECTS, RESPONSES, Dialect, How
from .gate import gate_request, gates, scrub_response
from .history import Loop, Result, Step, read_loop
from .messages import MARK, NOTE, OWN, Call, Message, is_own, mark

__all__ = [
    "ANTHROPIC",
    "CHAT",
    "DIALECTS",
    "MARK",
    "NOTE",
    "OWN",
    "RESPONSES",
    "Assessment",
    "Call",
    "Dialect",
    "How",
    "Loop",
    "Message",
    "Result",
    "Step",
    "VerdictMemory",
    "assess",
    "best_candidate",
    "decide",
    "gate_request",
    "gates",
    "is_own",
    "mark",
    "read_loop",
    "scrub_response",
    "signal_step",
]
