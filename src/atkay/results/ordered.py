"""Ordered: aggregates that depend on the users' values in their order: quantiles, extremes, and the worst users' mean.

A user in part, where the worst share of the users is no whole number of them, counts in part.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from atkay.core.moments import total
from atkay.core.reference import EXACT_POWER

if TYPE_CHECKING:
    from atkay.aggregates import Aggregate
    from atkay.core.types import Array, Floats

TAIL_USERS = 5
"""With fewer users on the smaller side of a quantile, or among the worst, no interval and no bootstrap can be relied
on: simulated intervals of 95 % hold less than 90 %.
"""

STANDARD_DEVIATIONS = 12
"""A binomial count is never further away from its mean."""


def ordered_value(values: Floats, aggregate: Aggregate) -> float:
    """The aggregate of some values, none of which is NaN; NaN where there are none."""
    if not len(values):
        return math.nan
    if aggregate.quantile is not None:
        return float(np.quantile(values, aggregate.quantile))
    values = _worst_first(values, aggregate)
    size = aggregate.share * len(values)
    whole = int(size)
    lowest = Fraction(total(values[:whole]), 1 << EXACT_POWER)
    if size > whole:
        lowest += (size - whole) * Fraction(float(values[whole]))
    return aggregate.sign * float(lowest / size)


def ordered_interval(values: Floats, aggregate: Aggregate, confidence: float) -> tuple[float, float]:
    """The confidence interval of the aggregate; NaN where there is none, as of extremes.

    That of a quantile lies between two order statistics: it holds whatever the distribution is, since the number of
    users below the quantile is binomial (Conover, Practical nonparametric statistics). That of the worst users' mean is
    Student's, for the linear approximation of Rockafellar and Uryasev (Optimization of conditional value-at-risk, 2000)
    with as many degrees of freedom as there are worst users, less one. Where these and more users share one value, such
    as 0, there is nothing to approximate: the interval goes from there, as nobody is worse, to the upper limit of the
    quantile that the worst users are below, since their mean is not above it.
    """
    n = len(values)
    if aggregate.extreme or (n * aggregate.tail < TAIL_USERS and aggregate.quantile is None):
        return math.nan, math.nan
    if aggregate.quantile is not None:
        return _between(np.sort(values), aggregate.quantile, (1 - confidence) / 2)
    from scipy.special import stdtrit

    values = _worst_first(values, aggregate)
    size = float(aggregate.share * n)
    edge = values[min(int(size), n - 1)]
    if edge == values[0]:
        high = _places(n, aggregate.tail, (1 - confidence) / 2)[1]
        ends = sorted((aggregate.sign * float(edge), aggregate.sign * float(values[min(high, n) - 1])))
        return (ends[0], ends[1]) if high <= n else (math.nan, math.nan)
    scores = edge - np.maximum(edge - values, 0.0) * (n / size)
    half = float(stdtrit(size - 1, (1 + confidence) / 2)) * float(scores.std(ddof=1)) / math.sqrt(n)
    middle = ordered_value(values * aggregate.sign, aggregate)
    return middle - half, middle + half


def _between(values: Floats, quantile: float, outside: float) -> tuple[float, float]:
    """The order statistics below and above a quantile; NaN where there are too few values for either."""
    low, high = _places(len(values), quantile, outside)
    if low < 1 or high > len(values):
        return math.nan, math.nan
    return float(values[low - 1]), float(values[high - 1])


def _places(n: int, quantile: float, outside: float) -> tuple[int, int]:
    """Which of n values in their order stand below and above a quantile, from 1: 0 or n + 1 where none does."""
    from scipy.special import bdtr

    away = STANDARD_DEVIATIONS * math.sqrt(n * quantile * (1 - quantile)) + 1
    count = np.arange(max(0, int(n * quantile - away)), min(n, int(n * quantile + away) + 1) + 1)
    below = bdtr(count.astype(float), n, quantile)
    low = int(count[np.searchsorted(below, outside, side="right")])  # the first count that is no longer too unlikely
    return low, int(count[np.searchsorted(below, 1 - outside)]) + 1


def resampled_values(values: Floats, counts: Array, aggregate: Aggregate) -> Floats:
    """The aggregate of each sample; ``counts`` tells how often each value is in it, samples x values, all of one size.

    Both are in the order of the values, the worst first.
    """
    n = int(counts[0].sum())
    below = counts.cumsum(axis=1, dtype=counts.dtype)
    if aggregate.quantile is None:
        size = float(aggregate.share * n)
        taken = np.clip(size - (below - counts), 0.0, counts)
        return np.asarray(taken @ values / size)
    place = (n - 1) * aggregate.quantile
    whole = int(place)
    first, second = (values[(below <= at).sum(axis=1)] for at in (whole, min(whole + 1, n - 1)))
    return np.asarray(first + (place - whole) * (second - first))


def _worst_first(values: Floats, aggregate: Aggregate) -> Floats:
    """The values from the worst on; where lower ones are better, with the other sign."""
    return np.sort(values * aggregate.sign)
