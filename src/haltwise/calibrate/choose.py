"""Which rule the evidence supports: `auto` with its two exceptions, or the rule that was asked for.

Knows a fit and the labelled loops; ignorant of files. METHODS section 2, "Mode choice".
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..core.errors import InputError
from ..core.expression import parse_policy
from ..core.policies.auto import Auto
from ..core.policy import Combination, Policy
from ..record.repair_table import UNKNOWN, RepairTable
from ..replay.repair import repair_firing
from .fit import NoiseFit
from .plans import tally
from .sign import Sign
from .votes import PRIOR

AUTO = "auto"
"""The rule that is chosen unless another one is asked for."""


@dataclass(frozen=True)
class Replay:
    """What a rule would have delivered on the labelled loops, against no repair."""

    loops: int
    """Ungated loops of which every round is labelled."""
    delivered: float
    """Share of them in which the plan it delivers is valid."""
    initial: float
    """Share of them in which the initial plan is valid."""


@dataclass(frozen=True)
class Choice:
    """A rule with the reason for it."""

    policy: str
    """Expression; what it leaves out comes from the policy file."""
    fallback: str | None
    """What `auto` does instead of following the fit: "guard", "none" (no repair), or nothing."""
    why: str
    """One sentence with the evidence."""
    discrimination: float | None
    """J from labelled plans, by which `vrr` decides; None without labelled plans of both kinds."""
    replay: Replay | None
    """The rule on the labelled loops; None where there are none."""


def choose(policy: str, fit: NoiseFit, sign: Sign, table: RepairTable, *, eta: float) -> Choice:
    """Return the rule to use.

    ``auto`` follows the fit unless (i) there is no labelled transition at all: then it guards; or
    (ii) there are ungated labelled loops and, replayed on them, the rule ends below no repair:
    then it delivers the initial plan.

    Args:
        policy: the expression asked for.
        fit: the noise.
        sign: how sure its decisions are.
        table: the loops with the labels that calibration could see.
        eta: largest P_flip to accept.

    Raises:
        ExpressionError: the expression does not parse.
        InputError: it is a rule for search loops.
    """
    j = labelled_discrimination(table)
    fitted = {"noise": fit.noise, "p_flip": sign.p_flip}
    if j is not None:
        fitted["discrimination"] = j
    rule = parse_policy(policy, defaults=fitted)
    if rule.kind == "search":
        raise InputError(f"policy: {rule} is for search loops; name a repair rule such as auto")
    replay = replay_labelled(rule, table)
    evidence = _evidence(fit, sign, replay, eta)
    if not _has_auto(rule):
        return Choice(policy, None, f"asked for; {evidence}", j, replay)
    if fit.n_invalid + fit.n_valid == 0:
        why = f"no labelled transition to estimate repair from: guard; {evidence}"
        return Choice(_with_fallback(policy, "guard"), "guard", why, j, replay)
    if replay is not None and replay.delivered < replay.initial:
        why = f"replayed on the labelled loops it ends below no repair: no repair; {evidence}"
        return Choice(_with_fallback(policy, "none"), "none", why, j, replay)
    return Choice(policy, None, f"optimal stopping on the fit; {evidence}", j, replay)


def labelled_discrimination(table: RepairTable) -> float | None:
    """Return J from labelled plans alone, None without voted ones of both kinds."""
    counts = tally(table, labels=True)
    shares = []
    for plans in (counts.invalid[0], counts.valid[0]):
        votes = float(plans @ counts.votes)
        if votes == 0:
            return None
        shares.append((float(plans @ counts.accepts) + PRIOR) / (votes + 2 * PRIOR))
    return shares[1] - shares[0]


def replay_labelled(rule: Policy, table: RepairTable) -> Replay | None:
    """Replay a rule on the ungated loops of which every round is labelled; None without any."""
    inside = np.arange(table.columns) < table.length[:, None]
    known = ((table.valid != UNKNOWN) | ~inside).all(axis=1)
    loops = table.rows(np.flatnonzero(known & (table.length > 1) & ~table.gated))
    if len(loops) == 0:
        return None
    delivered = np.maximum(repair_firing(rule, loops).candidate, 0)
    valid = loops.valid[np.arange(len(loops)), delivered]
    return Replay(len(loops), float(valid.mean()), float(loops.valid[:, 0].mean()))


def _has_auto(rule: Policy) -> bool:
    if isinstance(rule, Combination):
        return any(_has_auto(part) for part in rule.parts)
    return isinstance(rule, Auto)


def _with_fallback(policy: str, fallback: str) -> str:
    """Return plain `auto` with its fallback written out; others find it in the policy file."""
    return f'auto(fallback="{fallback}")' if policy.strip() == AUTO else policy


def _evidence(fit: NoiseFit, sign: Sign, replay: Replay | None, eta: float) -> str:
    verdict = "identified" if sign.identified(eta) else "not identified"
    parts = [
        f"{fit.n_invalid} labelled transitions from invalid plans, {fit.n_valid} from valid ones",
        f"sign {verdict} (P_flip {sign.p_flip:.3f}, accepted {eta:g})",
    ]
    if replay is not None:
        parts.append(
            f"on {replay.loops} labelled loops {replay.delivered:.3f} valid against "
            f"{replay.initial:.3f} without repair"
        )
    return "; ".join(parts)
