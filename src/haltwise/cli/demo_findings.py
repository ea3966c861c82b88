"""What the recorded search agent of the demo shows, in words. Pure: numbers in, sentences out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..core.events import Verdict

if TYPE_CHECKING:
    from ..audit.result import Audit
    from ..record.episode import SearchEpisode
    from ..study.search.replay_rules import Replayed

DEAD = "persistent"
"""The regime in which the source never works."""
BOTH = "streak(5) | deadline(8)"
"""The rule to begin with."""


def demo_findings(
    episodes: list[SearchEpisode], audited: Audit, replayed: list[Replayed]
) -> list[str]:
    """Return eight sentences on recorded episodes.

    Args:
        episodes: unaided episodes with verdicts and answer-now branches.
        audited: their audit.
        replayed: what rules would have done, ``never`` among them.
    """
    by_regime: dict[str, list[SearchEpisode]] = {}
    for episode in episodes:
        by_regime.setdefault(str(episode.regime), []).append(episode)
    rules = {row.policy: row for row in replayed}
    lines = [_source("works", by_regime.get("clean", [])), _source("is dead", by_regime[DEAD])]
    lines.append(_verdicts(by_regime[DEAD]))
    row = audited.after(5, DEAD)
    if row is None or not row.at_risk:
        lines.append("Nobody saw five useless results in a row and could still choose.")
    else:
        lines.append(
            f"After five useless results in a row, {row.answered} of {row.at_risk} answered at "
            "any later step; the others searched until nothing was left."
        )
    contrast = audited.contrast.estimate
    if contrast.defined:
        lines.append(
            f"At the same step, agents with nothing but useless results were {contrast.value:+.3f} "
            f"more likely to answer than others ({contrast.low:+.3f} to {contrast.high:+.3f}): "
            "0 would mean that verdicts do not matter."
        )
    else:
        lines.append(f"The contrast at equal time is undefined here: {contrast.note}.")
    lines.append(_early(by_regime[DEAD]))
    before, after = rules["never"], rules[BOTH]
    lines.append(
        f"Under {BOTH} it takes {after.calls:.1f} calls instead of {before.calls:.1f} and is "
        f"right in {after.success:.0%} instead of {before.success:.0%} of the episodes whose "
        "end is known."
    )
    lines.append(_late(by_regime.get("recover_after_5", [])))
    return lines


def _source(how: str, episodes: list[SearchEpisode]) -> str:
    if not episodes:
        return f"No episode with a source that {how} was recorded."
    right = sum(bool(e.outcome.success) for e in episodes)
    calls = sum(step.action != "answer" for e in episodes for step in e.steps) / len(episodes)
    return (
        f"With a source that {how}, it is right in {right} of {len(episodes)} and makes "
        f"{calls:.1f} calls."
    )


def _verdicts(episodes: list[SearchEpisode]) -> str:
    said = [
        step.verdicts["side_channel"]
        for episode in episodes
        for step in episode.steps
        if "side_channel" in step.verdicts
    ]
    useless = sum(verdict is Verdict.USELESS for verdict in said)
    return (
        f"Asked on the side, it calls {useless} of the {len(said)} results of the dead source "
        "useless."
    )


def _early(episodes: list[SearchEpisode]) -> str:
    first = [e.steps[0].answer_now for e in episodes if e.steps and e.steps[0].answer_now]
    right = sum(bool(branch.success) for branch in first)
    ended = sum(bool(e.outcome.success) for e in episodes)
    return (
        f"Made to answer after its first dead result it is right in {right} of {len(first)}; "
        f"searching on to its own end it was right in {ended} of {len(episodes)}."
    )


def _late(episodes: list[SearchEpisode]) -> str:
    if not episodes:
        return "No source that comes back after five failures was recorded."
    held = sum(bool(e.outcome.success) and len(e.steps) > 6 for e in episodes)
    if held:
        saved = f"{held} of {len(episodes)} were right only because they had gone on"
    else:
        saved = f"going on past five saved none of the {len(episodes)} here, but it saves others"
    return (
        f"The price of a fixed five: when the source comes back after five failures, {saved}. "
        "`haltwise calibrate search` fits a rule that knows how long sources stay away."
    )
