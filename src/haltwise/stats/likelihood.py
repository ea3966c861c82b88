"""Likelihood-ratio test of nested models. Knows two log likelihoods."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class LikelihoodRatio:
    """A likelihood-ratio test."""

    statistic: float
    """Twice the gain in log likelihood, at least 0; NaN when a likelihood is."""
    p: float
    """P(a gain as large | the smaller model); NaN when undefined."""


def likelihood_ratio(
    smaller: float, larger: float, df: int = 1, *, boundary: bool = False
) -> LikelihoodRatio:
    """Test the smaller of two nested models (Wilks 1938).

    A larger model that ends below the smaller one has not been maximised: the statistic is then 0
    and the smaller model stays.

    Args:
        smaller: maximised log likelihood of the smaller model.
        larger: that of the larger one.
        df: number of additional parameters.
        boundary: the one additional parameter is 0 in the smaller model and cannot be negative (a
            variance, an intra-class correlation): p is half the chi-square tail (Self and Liang
            1987), and 5 % is reached at 2.71 instead of 3.84.

    Raises:
        ValueError: ``df`` is below 1, or ``boundary`` with several parameters.
    """
    from scipy.special import chdtrc

    if df < 1 or (boundary and df != 1):
        raise ValueError(f"df is a number from 1 up, and 1 at a boundary; got {df!r}")
    gain = 2 * (larger - smaller)
    if math.isnan(gain):
        return LikelihoodRatio(math.nan, math.nan)
    statistic = max(gain, 0.0)
    tail = float(chdtrc(df, statistic))
    return LikelihoodRatio(statistic, tail / 2 if boundary and statistic > 0 else tail)
