"""Which setting to use: the rule that is worth most where the record tells, else the safest one.

Deadlines below the budget are left to the sliders: the headline keeps the last action for the
answer and takes nothing else away.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...audit.result import Audit
from ...audit.setting import safe_setting
from ...stats.estimate import Estimate
from ..page import Setting
from ..words import fixed, percent, points
from .whatif import Effect, told


def chosen(effects: Sequence[Effect], audit: Audit, price: float) -> Effect | None:
    """Return the effect of the rule to use; None where nothing singles one out."""
    place = effects[0].prices.index(price)
    ours = [e for e in effects if e.rule.deadline == audit.budget]
    worth = [e for e in ours if e.utility[place].defined and not e.unknown]
    if worth and told(effects):
        best = max(worth, key=lambda e: (e.utility[place].value, e.rule.k))
        return best if best.utility[place].value > effects[0].utility[place].value else None
    safe = safe_setting(audit)
    if safe is None:
        return None
    return next((e for e in ours if e.rule.k == safe[0]), None)


def setting(
    effect: Effect, none: Effect, gain: Estimate, audit: Audit, price: float, again: str
) -> Setting:
    """Return the setting in words.

    Args:
        effect: of the rule to use.
        none: what was recorded.
        gain: by how much the rule changes the share of right answers.
        audit: for how much was right.
        price: of a call.
        again: what was read, as it was typed.
    """
    rule = effect.expression
    return Setting(
        rule,
        _effect(effect, none, gain, audit),
        [
            (
                "In front of any model API, without touching the agent",
                f'haltwise serve --upstream https://api.openai.com --policy "{rule}"',
            ),
            (
                "Check it on your own record",
                f'haltwise replay {again} --policy never --policy "{rule}"',
            ),
        ],
        _caution(effect, price),
    )


def _effect(effect: Effect, none: Effect, gain: Estimate, audit: Audit) -> str:
    saved = 1 - effect.calls.value / none.calls.value if none.calls.value else 0.0
    calls = (
        f"{fixed(effect.calls.value, 2)} calls an episode instead of {fixed(none.calls.value, 2)} "
        f"({percent(saved)} fewer)"
    )
    if gain.defined:
        interval = ""
        if gain.low == gain.low:
            interval = f", {gain.level:.0%} interval {points(gain.low)} to {points(gain.high)}"
        return (
            f"On these episodes: {calls}, and {100 * effect.success.value:.1f} % right answers "
            f"instead of {100 * none.success.value:.1f} % ({points(gain.value)} points{interval})."
        )
    return (
        f"On these episodes: {calls}. {effect.at_risk:,} of {audit.right:,} right answers came "
        "after it would have stopped; forced early, some of these would be right as well."
    )


def _caution(effect: Effect, price: float) -> str:
    how = (
        f"The best k on these same episodes at a price of {price:g} right answers a call"
        if effect.success.defined
        else "The smallest k that puts fewer than 2 % of the right answers at risk"
    )
    return (
        f"{how}. A source that recovers later than those recorded here would be cut off; earlier "
        "deadlines are under What if."
    )
