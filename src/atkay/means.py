"""Means and their intervals, the same to the last digit whatever the order of the users.

A sum of floats depends on the order in which they are added, so a mean would move in its last digits when rows are
shuffled or users are evaluated in parts. Here every value is cut into two pieces of few bits, whose sums are exact
in any order.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from atkay.arrays import Bools, Floats, Ints

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

CONFIDENCE = 0.95


class Summary(NamedTuple):
    """What is said of one number: its mean, the 95 % interval of the mean, the spread, and whom it counts."""

    mean: float
    low: float
    high: float
    deviation: float
    users: int
    undefined: int


def exact_sum(values: Floats, groups: Ints | None = None, n_groups: int = 1) -> Any:
    """The sum of the values, or of each group of them, as if added without rounding and in no particular order."""
    top = float(np.abs(values).max(initial=0.0))
    if top == 0:
        return 0.0 if groups is None else np.zeros(n_groups)
    # A piece has as many bits as can be added n times without rounding.
    bits = 52 - math.ceil(math.log2(len(values) + 1))
    scale = 2.0 ** (bits - max(math.frexp(top)[1], -900))
    scaled = values * scale
    coarse = np.rint(scaled)
    scaled -= coarse
    scaled *= 2.0**bits
    fine = np.rint(scaled, out=scaled)
    return (_add(coarse, groups, n_groups) + _add(fine, groups, n_groups) * 2.0**-bits) / scale


def _add(whole: Floats, groups: Ints | None, n_groups: int) -> Any:
    return whole.sum() if groups is None else np.bincount(groups, weights=whole, minlength=n_groups)


def group_means(values: Floats, groups: Ints, n_groups: int) -> Floats:
    """The mean of each group; NaN does not count, and a group of nothing else is NaN."""
    there = ~np.isnan(values)
    counts = np.bincount(groups[there], minlength=n_groups)
    with np.errstate(invalid="ignore"):
        means: Floats = exact_sum(values[there], groups[there], n_groups) / counts
    return means


Unit = Floats | tuple[Floats, Floats]
"""What a number is the mean of; numerators and denominators where it is pooled."""


def units(
    names: Sequence[str],
    values: Floats,
    parts: Mapping[str, tuple[Floats, Floats]],
    groups: Ints | None = None,
    rows: Ints | None = None,
) -> Iterator[tuple[str, Unit]]:
    """What each number is the mean of, for some of the queries or for all.

    ``values`` has a column per name, ``parts`` the pairs of those that are pooled. A unit is a query, or all queries of
    one group. It counts in a mean if it has a value, and in a pooled number if its denominator is not 0 (see
    :func:`divides`).
    """

    def of_units(of_queries: Floats, merge: Any) -> Floats:
        of_queries = of_queries if rows is None else of_queries[rows]
        return of_queries if code is None else merge(of_queries, code, n_groups)

    code, n_groups = None, 1
    if groups is not None:
        code = np.unique(groups if rows is None else groups[rows], return_inverse=True)[1]
        n_groups = int(code.max()) + 1
    for at, name in enumerate(names):
        if name in parts:
            above, below = (of_units(part, exact_sum) for part in parts[name])
            yield name, (above, below)
        else:
            yield name, of_units(values[:, at], group_means)


def mean(values: Floats) -> float:
    """The mean of the values that are not NaN."""
    there = _defined(values)
    return float(exact_sum(there)) / len(there) if len(there) else math.nan


def _defined(values: Floats) -> Floats:
    return values[~np.isnan(values)] if np.isnan(values.max(initial=0.0)) else values


def summarise(values: Floats) -> Summary:
    """The mean with Student's interval; NaN does not count."""
    there = _defined(values)
    n, middle = len(there), mean(values)
    spread = math.sqrt(float(exact_sum((there - middle) ** 2)) / (n - 1)) if n > 1 else math.nan
    return Summary(middle, *interval(middle, spread, n), spread, n, len(values) - n)


def divides(denominator: Floats) -> Bools:
    """Who counts in a pooled number: whoever adds to the denominator. The others are undefined.

    A user with nothing to divide by (no pair in AUC, no list under ``no_recs="dcg_zero"``) changes neither sum. If such
    users counted, they would add degrees of freedom to intervals and tests without adding any data.
    """
    return denominator > 0


def pooled(numerator: Floats, denominator: Floats) -> float:
    """The ratio of the sums, NaN where there is nothing to divide by."""
    below = float(exact_sum(denominator))
    return float(exact_sum(numerator)) / below if below else math.nan


def summarise_pooled(numerator: Floats, denominator: Floats) -> Summary:
    """The ratio of the sums, with the interval of its linear approximation (the delta method)."""
    there = divides(denominator)
    undefined = int(np.count_nonzero(~there))
    numerator, denominator = numerator[there], denominator[there]
    n, ratio = len(numerator), pooled(numerator, denominator)
    if math.isnan(ratio) or n < 2:
        return Summary(ratio, math.nan, math.nan, math.nan, n, undefined)
    away = (numerator - ratio * denominator) * (n / float(exact_sum(denominator)))
    spread = math.sqrt(float(exact_sum(away**2)) / (n - 1))
    return Summary(ratio, *interval(ratio, spread, n), math.nan, n, undefined)


def interval(mean: float, deviation: float, n: int) -> tuple[float, float]:
    """Student's interval of a mean of n values."""
    if n < 2:
        return math.nan, math.nan
    from scipy.special import stdtrit

    half = float(stdtrit(n - 1, (1 + CONFIDENCE) / 2)) * deviation / math.sqrt(n)
    return mean - half, mean + half
