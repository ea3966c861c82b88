"""What a plan's validity says about its votes: binomial counts, beta-binomial with an ICC.

Arrays in, arrays out. Parameters are acceptance probabilities (``mean``: rho0 for an invalid plan,
1 - rho1 for a valid one); ignorant of where they come from.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.special import betaln, digamma, gammaln

Floats = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]

EDGE = 1e-9
"""Probabilities are kept this far from 0 and 1, so that one impossible vote is not infinite."""


def log_likelihood(
    accepts: Counts, votes: Counts, mean: npt.ArrayLike, icc: npt.ArrayLike
) -> Floats:
    """Return log P(accepts of votes | mean, icc) without the binomial coefficient.

    The coefficient is the same under every parameter and drops out of every ratio; `log_choose`
    adds it where the probability itself is wanted.

    Args:
        accepts: accepting votes, any shape.
        votes: votes given, same shape.
        mean: P(a vote accepts), broadcast against the counts.
        icc: correlation of two votes on one plan, in [0, 1): 0, which is the binomial, or numbers
            above 0 that are broadcast against the counts.
    """
    p = np.clip(mean, EDGE, 1.0 - EDGE)
    if np.ndim(icc) == 0 and icc == 0:
        return np.asarray(accepts * np.log(p) + (votes - accepts) * np.log1p(-p))
    size = 1.0 / np.asarray(icc) - 1.0
    a, b = p * size, (1.0 - p) * size
    return np.asarray(betaln(accepts + a, votes - accepts + b) - betaln(a, b))


def log_choose(votes: Counts, accepts: Counts) -> Floats:
    """Return the logarithm of the binomial coefficient "votes over accepts"."""
    return np.asarray(gammaln(votes + 1) - gammaln(accepts + 1) - gammaln(votes - accepts + 1))


def effective(
    accepts: Counts, votes: Counts, mean: npt.ArrayLike, icc: npt.ArrayLike
) -> tuple[Floats, Floats]:
    """Return the accepts and rejects that count once correlated votes are discounted.

    With A and B so defined, mean <- A / (A + B) never lowers the beta-binomial likelihood (a
    minorise-maximise step: Minka 2000, "Estimating a Dirichlet distribution", for two cells and a
    known precision), and (1 - mean) A - mean B is its score in logit(mean). At icc = 0 they are the
    plain counts, and the step is that of the binomial.
    """
    if np.ndim(icc) == 0 and icc == 0:
        return accepts.astype(np.float64), (votes - accepts).astype(np.float64)
    p = np.clip(mean, EDGE, 1.0 - EDGE)
    size = 1.0 / np.asarray(icc) - 1.0
    a, b = p * size, (1.0 - p) * size
    return (
        np.asarray(a * (digamma(accepts + a) - digamma(a))),
        np.asarray(b * (digamma(votes - accepts + b) - digamma(b))),
    )
