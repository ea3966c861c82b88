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
from .policy_file import PolicyFile, load_policy, read_policy_file, write_policy_file
from .read import read, read_outlines
from .repair_table import RepairTable
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
    "PolicyFile",
    "RepairEpisode",
    "RepairStep",
    "RepairTable",
    "SearchEpisode",
    "SearchStep",
    "Skip",
    "identity",
    "load_policy",
    "outline_of",
    "read",
    "read_outlines",
    "read_policy_file",
    "write_episodes",
    "write_policy_file",
]
