"""Recorded episodes: their shape, their files, and the readers of other people's traces."""

from __future__ import annotations

from .episode import (
    MEAN6,
    REGIMES,
    AnswerNow,
    AnyEpisode,
    Beliefs,
    Call,
    Episode,
    Outcome,
    RepairEpisode,
    RepairStep,
    SearchEpisode,
    SearchStep,
    identity,
)
from .jsonl import write_episodes
from .outline import Outline, Outlines, outline_of
from .read import read, read_outlines
from .skip import Skip

__all__ = [
    "MEAN6",
    "REGIMES",
    "AnswerNow",
    "AnyEpisode",
    "Beliefs",
    "Call",
    "Episode",
    "Outcome",
    "Outline",
    "Outlines",
    "RepairEpisode",
    "RepairStep",
    "SearchEpisode",
    "SearchStep",
    "Skip",
    "identity",
    "outline_of",
    "read",
    "read_outlines",
    "write_episodes",
]
