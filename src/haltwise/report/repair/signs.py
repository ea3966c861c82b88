"""The sign map: the threshold of a repair against what votes tell, with the calibration's cloud."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...calibrate.repair import RepairCalibration
from ...replay.exact_planning import SignMap
from ..figure import Figure, Table, spec_of
from ..words import DASH, fixed, percent, percent_or_dash

DRAWS = 400
"""Parameter sets drawn from what the data leave possible."""


def threshold_of(alpha: float, beta: float, tau: float = 0.0) -> float | None:
    """Return b* = (alpha - tau) / (alpha + beta), the belief below which a repair pays.

    None where a repair changes nothing (alpha + beta = 0).
    """
    return None if alpha + beta <= 0 else min(1.0, max(0.0, (alpha - tau) / (alpha + beta)))


def sign_figure(calibration: RepairCalibration, *, seed: int = 0) -> Figure:
    """Return b* against J: the fit, and as many dots as draws that the data leave possible."""
    noise = calibration.fit.noise
    draws = calibration.fit.draws(DRAWS, 1, np.random.default_rng(seed))
    j = 1 - draws.rho0 - draws.rho1
    alpha, beta = draws.alpha[:, 0], draws.beta[:, 0]
    total = alpha + beta
    usable = total > 0
    stars = np.divide(alpha, total, out=np.zeros_like(alpha), where=usable)
    repair = "repairs a plan that nobody has voted on"
    keep = "keeps it"
    valid = draws.valid
    data = [
        {"j": float(a), "b": float(b), "what": repair if p < b else keep}
        for a, b, p in zip(j[usable], stars[usable], valid[usable], strict=True)
    ]
    star = threshold_of(noise.alpha_at(1), noise.beta_at(1))
    known = "known" if calibration.identified else "not known"
    flips = percent(calibration.sign.p_flip)
    quantiles = np.quantile(stars[usable], [0.025, 0.975]) if usable.any() else [np.nan, np.nan]
    return Figure(
        name="sign-map",
        title=f"The sign of a repair's gain is {known}: {flips} of the decisions could flip",
        text=(
            "Each dot is a set of parameters that the data leave possible: what a vote tells, J, "
            "and the belief b* below which a repair pays. A narrow cloud means that decisions "
            "rest on evidence. The cross is the fit."
        ),
        spec=_cloud(data, noise.discrimination, star) if data and star is not None else None,
        table=Table.of(
            ("", "fit", "95 % of the cloud"),
            [
                (
                    "J, what a vote tells",
                    fixed(noise.discrimination),
                    " to ".join(fixed(v) for v in np.quantile(j, [0.025, 0.975])),
                ),
                (
                    "b*, repair below this belief",
                    DASH if star is None else fixed(star),
                    " to ".join(fixed(float(v)) for v in quantiles),
                ),
                ("share of decisions that could flip", flips, ""),
                ("accepted", percent(calibration.eta), ""),
            ],
        ),
        height=320,
        note=calibration.choice.why,
    )


def wrong_sign_figure(signs: SignMap) -> Figure:
    """Return P(wrong sign) over what a vote tells and how clear the decision is."""
    bands = [
        f"{low:g} to {high:g}" for low, high in zip(signs.margin, signs.margin[1:], strict=False)
    ]
    data = [
        {"j": f"{j:g}", "margin": band, "wrong": p}
        for j, row in zip(signs.discrimination, signs.wrong, strict=True)
        for band, p in zip(bands, row, strict=True)
        if p is not None
    ]
    rows = [
        (f"{j:g}", *(DASH if p is None else percent_or_dash(p) for p in row))
        for j, row in zip(signs.discrimination, signs.wrong, strict=True)
    ]
    return Figure(
        name="wrong-signs",
        title="Signs are lost where votes tell little and the margin is small",
        text=(
            f"Probability of a wrong sign after calibration on {signs.plans} plans: by what a vote "
            "tells, J, and by the margin of the decision."
        ),
        spec=_heat(data, bands) if data else None,
        table=Table.of(("J", *(f"margin {band}" for band in bands)), rows),
        height=120 + 30 * len(rows),
    )


def _cloud(data: list[dict[str, Any]], j: float, star: float) -> dict[str, Any]:
    import altair as alt

    x = alt.X(
        "j:Q",
        title="J, what a vote tells",
        scale=alt.Scale(zero=False),
        axis=alt.Axis(grid=True, tickCount=6),
    )
    y = alt.Y("b:Q", title="b*", scale=alt.Scale(zero=False, nice=True))
    dots = (
        alt.Chart(alt.InlineData(values=data))
        .mark_point(size=22, opacity=0.45)
        .encode(x=x, y=y, color=alt.Color("what:N", title=None))
    )
    fit = (
        alt.Chart(alt.InlineData(values=[{"j": j, "b": star}]))
        .mark_point(shape="cross", size=180, style="recorded")
        .encode(x="j:Q", y="b:Q")
    )
    return spec_of(alt.layer(dots, fit))


def _heat(data: list[dict[str, Any]], bands: list[str]) -> dict[str, Any]:
    import altair as alt

    chart = (
        alt.Chart(alt.InlineData(values=data))
        .mark_rect(style="cell")
        .encode(
            x=alt.X("margin:O", title="margin of the decision", sort=bands),
            y=alt.Y("j:O", title="J", sort="descending"),
            color=alt.Color(
                "wrong:Q",
                title="wrong sign",
                scale=alt.Scale(domain=[0, 0.5]),
                legend=alt.Legend(format="%", gradientLength=160),
            ),
            tooltip=[
                alt.Tooltip("j:O", title="J"),
                alt.Tooltip("margin:O", title="margin"),
                alt.Tooltip("wrong:Q", title="wrong sign", format=".1%"),
            ],
        )
    )
    return spec_of(chart)
