"""Likelihood-ratio tests."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.stats

from haltwise.stats.likelihood import likelihood_ratio


def test_equals_statsmodels() -> None:
    """The test of a logit slope is statsmodels' llr against the constant."""
    import statsmodels.api as sm

    rng = np.random.default_rng(0)
    x = rng.normal(size=(200, 2))
    y = rng.random(200) < 1 / (1 + np.exp(-0.4 * x[:, 0]))
    fit = sm.Logit(y.astype(int), sm.add_constant(x)).fit(disp=0)
    test = likelihood_ratio(fit.llnull, fit.llf, 2)
    assert test.statistic == pytest.approx(fit.llr)
    assert test.p == pytest.approx(fit.llr_pvalue)


def test_boundary_halves_the_tail() -> None:
    """At a boundary 2.71 is the 5 % limit (METHODS section 2, over-dispersion)."""
    assert likelihood_ratio(0, 2.7055434540954146 / 2, boundary=True).p == pytest.approx(0.05)
    assert likelihood_ratio(0, 3.841458820694124 / 2).p == pytest.approx(0.05)
    assert likelihood_ratio(0, 0, boundary=True).p == 1


def test_boundary_level_by_simulation() -> None:
    """A variance of normal means that is truly 0 is found in 5 % of samples at 2.71."""
    # Known unit error, groups of one: the likelihood is that of N(0, 1 + v), v >= 0.
    x = np.random.default_rng(1).normal(size=(4000, 50))
    v = np.maximum((x**2).mean(axis=1) - 1, 0)[:, None]
    larger = scipy.stats.norm.logpdf(x, scale=np.sqrt(1 + v)).sum(axis=1)
    smaller = scipy.stats.norm.logpdf(x).sum(axis=1)
    found = [
        likelihood_ratio(s, b, boundary=True).p < 0.05 for s, b in zip(smaller, larger, strict=True)
    ]
    assert np.mean(found) == pytest.approx(0.05, abs=0.015)


def test_a_worse_larger_model_changes_nothing() -> None:
    """A larger model below the smaller one was not maximised: statistic 0, p 1."""
    test = likelihood_ratio(-10, -10.5)
    assert (test.statistic, test.p) == (0, 1)
    assert math.isnan(likelihood_ratio(math.nan, -1).p)


def test_wrong_input_is_refused() -> None:
    """No degrees of freedom, or a boundary with several, are errors."""
    with pytest.raises(ValueError, match="from 1 up"):
        likelihood_ratio(0, 1, 0)
    with pytest.raises(ValueError, match="from 1 up"):
        likelihood_ratio(0, 1, 2, boundary=True)
