"""Means and their intervals, the same to the last digit whatever the order of the users.

A sum of floats depends on the order in which they are added, so a mean would move in its last digits when rows are
shuffled or users are evaluated in parts. Here every value is cut into two pieces of few bits, whose sums are exact
in any order.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from atkay.metrics.base import Floats, Ints

CONFIDENCE = 0.95


class Summary(NamedTuple):
    """What is said of one number: its mean, the 95 % interval of the mean, the spread, and whom it counts."""

    mean: float
    low: float
    high: float
    deviation: float
    users: int
    undefined: int


def exact_sums(values: Floats, groups: Ints | None = None, n_groups: int = 1) -> Floats:
    """The sum of each column, or of each group in each column (groups x columns), in no particular order."""
    n, columns = values.shape
    out = np.zeros((n_groups, columns))
    top = np.abs(values).max(axis=0, initial=0.0)
    # A piece has as many bits as can be added n times without rounding.
    bits = 52 - math.ceil(math.log2(n + 1))
    for at in np.flatnonzero(top):
        scale = 2.0 ** (bits - max(math.frexp(top[at])[1], -900))
        scaled = values[:, at] * scale
        coarse = np.rint(scaled)
        fine = np.rint((scaled - coarse) * 2.0**bits)
        out[:, at] = (_add(coarse, groups, n_groups) + _add(fine, groups, n_groups) * 2.0**-bits) / scale
    return out


def _add(whole: Floats, groups: Ints | None, n_groups: int) -> Floats | float:
    if groups is None:
        return float(whole.sum())
    return np.bincount(groups, weights=whole, minlength=n_groups).astype(np.float64)


def group_means(values: Floats, groups: Ints, n_groups: int) -> Floats:
    """The mean of each group in each column; NaN does not count, and a group of nothing else is NaN."""
    there = ~np.isnan(values)
    sums = exact_sums(np.where(there, values, 0.0), groups, n_groups)
    counts = exact_sums(there.astype(float), groups, n_groups)
    means = np.full(sums.shape, np.nan)
    np.divide(sums, counts, out=means, where=counts > 0)
    return means


def summarise(values: Floats) -> list[Summary]:
    """The mean of each column with Student's interval; NaN does not count."""
    there = ~np.isnan(values)
    n = there.sum(axis=0)
    filled = np.where(there, values, 0.0)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = exact_sums(filled)[0] / n
        squares = exact_sums(np.where(there, (values - mean) ** 2, 0.0))[0]
        deviation = np.sqrt(np.where(n > 1, squares / (n - 1), np.nan))
    return [
        Summary(float(m), *_interval(float(m), float(d), int(k)), float(d), int(k), len(values) - int(k))
        for m, d, k in zip(mean, deviation, n, strict=True)
    ]


def summarise_pooled(numerator: Floats, denominator: Floats) -> Summary:
    """A ratio of sums, with the interval of its linear approximation (the delta method)."""
    above, below = exact_sums(np.column_stack((numerator, denominator)))[0]
    n = len(numerator)
    if below == 0:
        return Summary(math.nan, math.nan, math.nan, math.nan, n, 0)
    ratio = float(above / below)
    away = (numerator - ratio * denominator) * (n / below)
    squares = float(exact_sums((away**2)[:, None])[0, 0])
    spread = math.sqrt(squares / (n - 1)) if n > 1 else math.nan
    return Summary(ratio, *_interval(ratio, spread, n), math.nan, n, 0)


def _interval(mean: float, deviation: float, n: int) -> tuple[float, float]:
    if n < 2:
        return math.nan, math.nan
    from scipy.special import stdtrit

    half = float(stdtrit(n - 1, (1 + CONFIDENCE) / 2)) * deviation / math.sqrt(n)
    return mean - half, mean + half
