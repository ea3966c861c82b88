"""Checked conversion of what callers hand in to the arrays that statistics work on."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


def cluster_matrix(rows: ArrayLike) -> NDArray[Any]:
    """Return ``rows`` as a finite (clusters x columns) matrix: integers as they are, or floats.

    Raises:
        ValueError: not two-dimensional, or a value is NaN or infinite.
    """
    matrix = np.asarray(rows)
    if matrix.dtype.kind not in "iu":
        matrix = matrix.astype(np.float64) + 0.0  # which makes one value of 0.0 and -0.0
    if matrix.ndim != 2:
        raise ValueError(
            f"cluster statistics are a matrix (clusters x columns); got {matrix.shape}"
        )
    if matrix.dtype.kind == "f" and not np.isfinite(matrix).all():
        raise ValueError("cluster statistics are finite numbers; got NaN or infinity")
    return matrix


def cluster_counts(counts: ArrayLike | None, rows: int) -> IntArray:
    """Return how often each row occurs: ``counts``, or 1 each.

    Raises:
        ValueError: not one non-negative whole number a row.
    """
    if counts is None:
        return np.ones(rows, dtype=np.int64)
    given = np.asarray(counts)
    whole = given.astype(np.int64)
    if given.shape != (rows,) or (whole != given).any() or (whole < 0).any():
        raise ValueError(
            f"counts are {rows} whole numbers from 0 up, one a row; got shape {given.shape}"
        )
    return whole


def check_level(level: float) -> None:
    """Raise ValueError unless ``level`` is a coverage strictly between 0 and 1."""
    if not 0 < level < 1:
        raise ValueError(f"level is a coverage between 0 and 1, as in 0.95; got {level!r}")


def normal_quantile(level: float) -> float:
    """Return the two-sided normal quantile of ``level``: 1.96 for 0.95."""
    from scipy.special import ndtri

    check_level(level)
    return float(ndtri((1 + level) / 2))
