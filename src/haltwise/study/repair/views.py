"""One verifier's votes out of a record in which several verifiers voted on the same plans.

Nothing is stopped in an ungated record, so its plans do not depend on who votes: a study of three
verifiers needs one record of them all. Knows episodes; ignorant of models and files.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from ...core.errors import InputError
from ...record.episode import RepairEpisode, RepairStep
from .prompts import EXACT


def views(episodes: Sequence[RepairEpisode]) -> tuple[str, ...]:
    """Return the verifiers whose votes are told apart, in order of appearance; () where none is."""
    return tuple(
        dict.fromkeys(view for episode in episodes for step in episode.steps for view in step.views)
    )


def of_view(episodes: Sequence[RepairEpisode], view: str) -> list[RepairEpisode]:
    """Return the episodes as they would be had only one verifier voted.

    Args:
        episodes: ungated episodes of one arm, named ``a+b/repairer/full``.
        view: the verifier that is kept.

    Raises:
        InputError: a step has no votes of that verifier.
    """
    known = views(episodes)
    if view not in known:
        told = f"it keeps those of: {', '.join(known)}" if known else "only one verifier voted"
        raise InputError(f"the record has no votes of verifier {view!r} apart; {told}")
    return [
        msgspec.structs.replace(
            episode,
            arm=f"{view}/{str(episode.arm).split('/', 1)[-1]}",
            steps=[_of_view(step, view) for step in episode.steps],
        )
        for episode in episodes
    ]


def _of_view(step: RepairStep, view: str) -> RepairStep:
    accepts, votes = step.views.get(view, (0, 0))
    return msgspec.structs.replace(
        step,
        accepts=accepts,
        votes=votes,
        views={},
        accept_probability=step.accept_probability if view == EXACT else None,
    )
