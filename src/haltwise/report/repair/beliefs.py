"""Beliefs under a fitted noise model: their tracks, and whether they are as sure as they may be.

Filters the recorded votes as the rules do (`haltwise.core.validity`), and compares with the truth.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from ...core.noise import NoiseModel
from ...core.validity import (
    log_likelihood_ratio,
    log_odds,
    probability,
    repaired,
    updated,
    vote_probability,
)
from ...record.repair_table import UNKNOWN, RepairTable
from ...stats.proportions import clustered_proportion
from ..figure import Figure, Table, spec_of
from ..words import DASH, fixed, percent, percent_or_dash

TRACKS = 24
"""Loops whose beliefs are drawn."""
BINS = np.array([0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 1.0])
"""Edges of the classes of belief in the reliability plot."""

Floats = npt.NDArray[np.float64]


def filtered(table: RepairTable, noise: NoiseModel) -> Floats:
    """Return the belief that each plan is valid given the votes so far, (n, columns).

    NaN beyond the end of a loop. Rounds without votes carry the predicted belief.
    """
    ratio = cache(lambda accepts, votes: log_likelihood_ratio(noise, accepts, votes))

    @cache
    def next_belief(odds: float, k: int, accepts: int, votes: int) -> float:
        if k:
            odds = repaired(odds, noise.alpha_at(k), noise.beta_at(k))
        return updated(odds, ratio(accepts, votes))

    beliefs = np.full(table.accepts.shape, np.nan)
    start = log_odds(noise.valid)
    rows = zip(table.accepts.tolist(), table.votes.tolist(), table.length.tolist(), strict=True)
    for i, (accepts, votes, length) in enumerate(rows):
        odds = start
        for k in range(length):
            odds = next_belief(odds, k, accepts[k], votes[k])
            beliefs[i, k] = probability(odds)
    return beliefs


def tracks_figure(table: RepairTable, noise: NoiseModel, threshold: float | None) -> Figure:
    """Return the beliefs of some loops over the rounds, by the truth of their last plan.

    Args:
        table: the loops.
        noise: what the votes and repairs are believed to be.
        threshold: b*, below which a repair pays; None where it is undefined.
    """
    chosen = _spread(table)
    beliefs = filtered(table.rows(chosen), noise)
    words = {1: "valid at the end", 0: "invalid at the end", UNKNOWN: "truth not known"}
    last = table.valid[chosen, table.length[chosen] - 1].tolist()
    data = [
        {"loop": i, "round": k, "belief": float(value), "end": words[truth]}
        for i, (row, truth) in enumerate(zip(beliefs, last, strict=True))
        for k, value in enumerate(row)
        if value == value
    ]
    everyone = filtered(table, noise)
    rows = [_mean_row(table, everyone, k) for k in range(table.columns)]
    return Figure(
        name="belief-tracks",
        title=_tracks_title(table, everyone),
        text=(
            f"The belief that the newest plan is valid, after its votes, in {len(chosen)} loops"
            + (
                f"; below the dashed line, b* = {threshold:.2f}, a repair pays."
                if threshold
                else "."
            )
        ),
        spec=_tracks(data, threshold) if data else None,
        table=Table.of(("repairs", "mean belief, valid plans", "mean belief, invalid plans"), rows),
        height=300,
    )


def reliability_figure(table: RepairTable, noise: NoiseModel, *, level: float = 0.95) -> Figure:
    """Return the share of valid plans by belief: with the fitted correlation of votes, and without.

    Only plans of known truth count.
    """
    known = (table.valid != UNKNOWN) & (np.arange(table.columns) < table.length[:, None])
    versions = [("as fitted", noise)]
    if noise.icc > 0:
        versions.append(("if votes were independent", replace(noise, icc=0.0)))
    rows, data = [], []
    for name, model in versions:
        beliefs = filtered(table, model)
        places = np.clip(np.digitize(beliefs, BINS[1:-1]), 0, len(BINS) - 2)
        for b in range(len(BINS) - 1):
            here = known & (places == b)
            if not here.any():
                continue
            loops = table.cluster[np.nonzero(here)[0]]
            events = np.bincount(loops, (table.valid == 1)[here].astype(float))
            sizes = np.bincount(loops)
            share = clustered_proportion(events[sizes > 0], sizes[sizes > 0], level=level)
            belief = float(beliefs[here].mean())
            low = share.low if share.low == share.low else share.value
            high = share.high if share.high == share.high else share.value
            row = {"version": name, "belief": belief, "share": share.value}
            data.append({**row, "low": low, "high": high, "n": f"{share.n:,}"})
            band = f"{BINS[b]:g} to {BINS[b + 1]:g}"
            rows.append(
                (f"{band}, {name}", fixed(belief), percent_or_dash(share.value), f"{share.n:,}")
            )
    return Figure(
        name="reliability",
        title=_reliability_title(data),
        text=(
            "Plans sorted by belief: how many of them are really valid. On the diagonal beliefs "
            "are as sure as they may be; correlated votes that are taken for independent ones push "
            "them to the ends."
        ),
        spec=_reliability(data) if data else None,
        table=Table.of(("belief", "mean belief", "really valid", "plans"), rows),
        height=320,
        note="" if data else "no plan has a known truth, so beliefs cannot be checked",
    )


def votes_figure(table: RepairTable, noise: NoiseModel) -> Figure:
    """Return how many votes accept a plan, by its truth: counted, and as the noise model has it."""
    known = (table.valid != UNKNOWN) & (table.votes > 0)
    usual = int(np.bincount(table.votes[known]).argmax()) if known.any() else 0
    rows: list[tuple[str, ...]] = []
    data: list[dict[str, Any]] = []
    plans = {
        truth: table.accepts[known & (table.votes == usual) & (table.valid == truth)]
        for truth in (1, 0)
    }
    for truth, word in ((1, "valid plans"), (0, "invalid plans")):
        counts = np.bincount(plans[truth], minlength=usual + 1) if len(plans[truth]) else None
        rate = 1 - noise.rho1 if truth else noise.rho0
        for s in range(usual + 1):
            seen = None if counts is None else float(counts[s] / counts.sum())
            fitted = vote_probability(rate, noise.icc, s, usual)
            plain = vote_probability(rate, 0.0, s, usual)
            if seen is not None:
                row = {"accepts": s, "truth": word}
                data += [
                    {**row, "kind": "counted", "share": seen},
                    {**row, "kind": "as fitted", "share": fitted},
                ]
                if noise.icc > 0:
                    data.append({**row, "kind": "if votes were independent", "share": plain})
            rows.append(
                (
                    f"{s} of {usual}, {word}",
                    DASH if seen is None else percent(seen),
                    percent(fitted),
                    percent(plain),
                )
            )
    return Figure(
        name="votes",
        title=(
            f"Votes on one plan are correlated: ICC {noise.icc:.2f}"
            if noise.icc > 0
            else "Votes on one plan look independent, or labels are too few to tell"
        ),
        text=(
            f"Accepting votes of {usual} on a plan: the share of plans with so many, against what "
            "the fitted noise expects."
        ),
        spec=_votes(data) if data else None,
        table=Table.of(("accepts", "counted", "as fitted", "if independent"), rows),
        height=260,
        note="" if data else "no plan with votes has a known truth",
    )


def _spread(table: RepairTable) -> npt.NDArray[np.int64]:
    """Return loops of every fate, evenly through the record."""
    order = np.lexsort(
        (np.arange(len(table)), table.valid[np.arange(len(table)), table.length - 1])
    )
    return np.unique(order[np.linspace(0, len(order) - 1, min(TRACKS, len(order))).astype(int)])


def _mean_row(table: RepairTable, beliefs: Floats, k: int) -> tuple[str, str, str]:
    means = []
    for truth in (1, 0):
        here = beliefs[:, k][(table.valid[:, k] == truth) & (k < table.length)]
        means.append(f"{here.mean():.3f} ({len(here):,} plans)" if len(here) else DASH)
    return str(k), means[0], means[1]


def _tracks_title(table: RepairTable, beliefs: Floats) -> str:
    known = (table.valid != UNKNOWN) & ~np.isnan(beliefs)
    valid, invalid = known & (table.valid == 1), known & (table.valid == 0)
    if not valid.any() or not invalid.any():
        return "What votes make of the belief that a plan is valid"
    return (
        f"Mean belief in valid plans {beliefs[valid].mean():.2f}, in invalid ones "
        f"{beliefs[invalid].mean():.2f}"
    )


def _reliability_title(data: Sequence[dict[str, Any]]) -> str:
    fitted = [row for row in data if row["version"] == "as fitted"]
    if not fitted:
        return "Whether beliefs are as sure as they may be is not known"
    worst = max(fitted, key=lambda row: abs(row["share"] - row["belief"]))
    off = abs(100 * (worst["share"] - worst["belief"]))
    side = "too low" if worst["share"] > worst["belief"] else "too high"
    if worst["low"] <= worst["belief"] <= worst["high"]:
        return "Beliefs are as sure as the labels allow"
    return f"Beliefs near {worst['belief']:.2f} are {off:.0f} points {side}"


def _tracks(data: list[dict[str, Any]], threshold: float | None) -> dict[str, Any]:
    import altair as alt

    x = alt.X("round:Q", title="repairs made", axis=alt.Axis(format="d", tickMinStep=1))
    lines = (
        alt.Chart(alt.InlineData(values=data))
        .mark_line(opacity=0.6, strokeWidth=1.5)
        .encode(
            x=x,
            y=alt.Y("belief:Q", title="belief: valid", scale=alt.Scale(domain=[0, 1])),
            detail="loop:N",
            color=alt.Color("end:N", title=None, sort=["valid at the end", "invalid at the end"]),
            strokeDash=alt.StrokeDash("end:N", sort=["valid at the end"], legend=None),
        )
    )
    if threshold is None:
        return spec_of(alt.layer(lines))
    rule = alt.Chart(alt.InlineData(values=[{"b": threshold}]))
    return spec_of(alt.layer(rule.mark_rule(style="reference").encode(y="b:Q"), lines))


def _reliability(data: list[dict[str, Any]]) -> dict[str, Any]:
    import altair as alt

    names = list(dict.fromkeys(row["version"] for row in data))
    base = alt.Chart(alt.InlineData(values=data)).encode(
        x=alt.X(
            "belief:Q",
            title="mean belief",
            scale=alt.Scale(domain=[0, 1]),
            axis=alt.Axis(grid=True, tickCount=5),
        ),
        color=alt.Color("version:N", title=None, sort=names),
        tooltip=[
            alt.Tooltip("version:N", title=" "),
            alt.Tooltip("belief:Q", title="belief", format=".2f"),
            alt.Tooltip("share:Q", title="really valid", format=".1%"),
            alt.Tooltip("n:N", title="plans"),
        ],
    )
    y = alt.Scale(domain=[0, 1])
    bars = base.mark_rule(style="interval").encode(
        y=alt.Y("low:Q", title="really valid", scale=y, axis=alt.Axis(format="%", tickCount=5)),
        y2="high:Q",
    )
    dots = base.mark_point(size=80).encode(
        y="share:Q", shape=alt.Shape("version:N", sort=names, legend=None)
    )
    ends = [{"belief": 0.0, "share": 0.0}, {"belief": 1.0, "share": 1.0}]
    diagonal = (
        alt.Chart(alt.InlineData(values=ends))
        .mark_line(style="reference")
        .encode(x="belief:Q", y="share:Q")
    )
    return spec_of(alt.layer(diagonal, bars, dots))


def _votes(data: list[dict[str, Any]]) -> dict[str, Any]:
    import altair as alt

    counted = [row for row in data if row["kind"] == "counted"]
    expected = [row for row in data if row["kind"] != "counted"]
    truths = ["valid plans", "invalid plans"]
    x = alt.X("accepts:O", title="accepting votes")
    bars = (
        alt.Chart(alt.InlineData(values=counted))
        .mark_bar(opacity=0.45)
        .encode(
            x=x,
            xOffset=alt.XOffset("truth:N", sort=truths),
            y=alt.Y("share:Q", title="share of plans", axis=alt.Axis(format="%", tickCount=5)),
            color=alt.Color("truth:N", title=None, sort=truths),
        )
    )
    marks = (
        alt.Chart(alt.InlineData(values=expected))
        .mark_point(size=60)
        .encode(
            x=x,
            xOffset=alt.XOffset("truth:N", sort=truths),
            y="share:Q",
            color=alt.Color("truth:N", sort=truths),
            shape=alt.Shape("kind:N", title=None, sort=["as fitted"]),
            tooltip=[
                alt.Tooltip("kind:N", title=" "),
                alt.Tooltip("accepts:O", title="accepts"),
                alt.Tooltip("share:Q", title="share", format=".1%"),
            ],
        )
    )
    return spec_of(alt.layer(bars, marks))
