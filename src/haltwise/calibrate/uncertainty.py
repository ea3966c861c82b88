"""How far a fit may be off: the cluster-robust covariance of its logits.

The linearised bootstrap over loops: ``H^-1 B H^-1`` with H the curvature of the objective and B the
sum over clusters of squared scores (White 1982). It costs a few E steps where a refitted bootstrap
costs hundreds of fits, and it holds when loops of one question depend on each other.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.special import expit

from .chain import Chain, ChainModel
from .emission import Floats

_STEP = 1e-4


def covariance(chain: Chain, model: ChainModel, theta: Floats) -> Floats:
    """Return the covariance of the logits ``theta`` at a maximum, shape (size, size).

    Parameters that are held have variance 0. The prior enters H and B alike, as the information
    that it is: where the data say nothing the variance is that of the prior, not 0.

    Args:
        chain: the loops.
        model: what was estimated.
        theta: logits of the fit, shape (size,).
    """
    free = np.flatnonzero(~chain.held(model))
    shifts = np.zeros((2 * len(free), model.size))
    shifts[np.arange(len(free)), free] = _STEP
    shifts[np.arange(len(free)) + len(free), free] = -_STEP
    total = chain.scores(model, theta + shifts).sum(axis=1)[:, free]
    curvature = -(total[: len(free)] - total[len(free) :]) / (2 * _STEP)
    p = expit(theta[free])
    prior = np.diag(2 * max(chain.prior, 1e-6) * p * (1 - p))
    scores = chain.scores(model, theta[None])[0][:, free]
    by_cluster = _summed(scores, chain.table.cluster)
    clusters = len(by_cluster)
    spread = by_cluster.T @ by_cluster * (clusters / max(clusters - 1, 1)) + prior
    inverse = np.linalg.pinv(_positive((curvature + curvature.T) / 2) + prior)
    result = np.zeros((model.size, model.size))
    result[np.ix_(free, free)] = inverse @ spread @ inverse
    return result


def _summed(scores: Floats, cluster: npt.NDArray[np.int64]) -> Floats:
    names, index = np.unique(cluster, return_inverse=True)
    result = np.zeros((len(names), scores.shape[1]))
    np.add.at(result, index, scores)
    return result


def _positive(matrix: Floats) -> Floats:
    """Return the matrix with negative curvature, which a flat ridge can show, set to 0."""
    values, vectors = np.linalg.eigh(matrix)
    return np.asarray((vectors * np.maximum(values, 0.0)) @ vectors.T)
