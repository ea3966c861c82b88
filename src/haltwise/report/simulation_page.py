"""The report of an exact simulation: what each repair rule delivers at a given noise."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..core.noise import NoiseModel
from ..replay.exact import Evaluation
from ..replay.exact_optimum import Optimum
from ..replay.exact_planning import SignMap
from ..stats.estimate import Estimate
from .compared import usable
from .figure import Figure, Table, spec_of
from .page import Page, Section
from .repair.rounds import rounds_figure
from .repair.signs import wrong_sign_figure
from .words import DASH, fixed, percent


def simulation_page(
    noise: NoiseModel,
    found: Sequence[tuple[str, Evaluation]],
    best: Optimum,
    thresholds: Sequence[float],
    ahead: Sequence[float],
    signs: SignMap | None = None,
    *,
    tau: float = 0.0,
    colophon: Sequence[tuple[str, str]] = (),
) -> Page:
    """Return the report.

    Args:
        noise: the parameters.
        found: every rule by name, with what it delivers.
        best: what the best rule delivers that gives out the newest plan.
        thresholds: b* by repair.
        ahead: thresholds that look ahead, by repairs left from 1.
        signs: where the sign of the gain is lost, if that was asked for.
        tau: price of a repair.
        colophon: how the report came about.
    """
    ours = [pair for pair in found if usable(pair[0])] or list(found)
    name, top = max(ours, key=lambda pair: pair[1].objective)
    apart = max(found, key=lambda pair: _gap(pair[1]))
    sections = [
        Section(
            "rules",
            "What each rule delivers",
            "Exact: all histories of votes are followed, none is drawn.",
            [_rules(found, best)],
        ),
        Section(
            "rounds",
            "Validity against acceptance",
            f"Under {apart[0]}, where the two part the most.",
            [
                rounds_figure(
                    _exact(apart[1].validity_by_round), _exact(apart[1].acceptance_by_round)
                )
            ],
        ),
        Section(
            "thresholds",
            "When a repair pays",
            "The belief below which it does: for the next round alone, and looking ahead, where "
            "the option to stop later is worth something.",
            [_thresholds(thresholds, ahead)],
        ),
    ]
    if signs is not None:
        sections.append(Section("signs", "Where the sign is lost", "", [wrong_sign_figure(signs)]))
    return Page(
        title="haltwise: simulation of repair rules",
        kind="Simulation",
        headline=f"{name} delivers {percent(top.validity)} valid plans with "
        f"{fixed(top.repairs, 2)} repairs each; no repair delivers {percent(noise.valid)}",
        about=(
            f"rho0 {noise.rho0:g}, rho1 {noise.rho1:g} (J = {noise.discrimination:.2f}), "
            f"alpha {noise.alpha:g}, beta {noise.beta:g}, {percent(noise.valid)} valid at first, "
            f"ICC {noise.icc:g}; price of a repair {tau:g}."
        ),
        sections=sections,
        colophon=colophon,
    )


def _gap(each: Evaluation) -> float:
    pairs = zip(each.acceptance_by_round, each.validity_by_round, strict=True)
    return max(accepted - valid for accepted, valid in pairs)


def _exact(values: Sequence[float]) -> list[Estimate]:
    return [Estimate(value) for value in values]


def _rules(found: Sequence[tuple[str, Evaluation]], best: Optimum) -> Figure:
    data = [
        {
            "rule": name,
            "objective": each.objective,
            "validity": each.validity,
            "repairs": each.repairs,
        }
        for name, each in found
    ]
    return Figure(
        name="rules",
        title=f"The best rule for the newest plan reaches {fixed(best.objective)}",
        text=(
            "Validity minus the price of the repairs, by rule; the dashed line is the best that a "
            "rule can do which delivers the newest plan. Rules that may deliver an earlier plan "
            "can pass it."
        ),
        spec=_chart(data, best.objective),
        table=Table.of(
            ("rule", "valid", "accepted", "repairs", "votes", "objective"),
            [
                (
                    name,
                    fixed(each.validity),
                    fixed(each.acceptance_by_round[-1]),
                    fixed(each.repairs, 2),
                    fixed(each.votes, 1),
                    fixed(each.objective),
                )
                for name, each in found
            ],
        ),
        height=64 + 30 * len(data),
    )


def _thresholds(thresholds: Sequence[float], ahead: Sequence[float]) -> Table:
    rows = []
    for place in range(max(len(thresholds), len(ahead))):
        now = fixed(thresholds[place]) if place < len(thresholds) else DASH
        later = fixed(ahead[place]) if place < len(ahead) else DASH
        rows.append((str(place + 1), now, later))
    return Table.of(("repair, or repairs left", "b* of this repair", "looking ahead"), rows)


def _chart(data: list[dict[str, Any]], best: float) -> dict[str, Any]:
    import altair as alt

    names = [row["rule"] for row in data]
    dots = (
        alt.Chart(alt.InlineData(values=data))
        .mark_point(size=90)
        .encode(
            y=alt.Y("rule:N", title=None, sort=names, axis=alt.Axis(labelLimit=240)),
            x=alt.X(
                "objective:Q",
                title="validity minus the price of repairs",
                scale=alt.Scale(domain=[0, 1]),
                axis=alt.Axis(grid=True, tickCount=5),
            ),
            tooltip=[
                alt.Tooltip("rule:N", title="rule"),
                alt.Tooltip("objective:Q", title="objective", format=".3f"),
                alt.Tooltip("validity:Q", title="valid", format=".3f"),
                alt.Tooltip("repairs:Q", title="repairs", format=".2f"),
            ],
        )
    )
    line = alt.Chart(alt.InlineData(values=[{"x": best}])).mark_rule(style="reference")
    return spec_of(alt.layer(line.encode(x="x:Q"), dots))
