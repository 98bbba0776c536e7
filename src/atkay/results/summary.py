"""Summaries: mean, interval and counts of a metric, from exact sums (:mod:`atkay.core.moments`)."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from contextlib import suppress
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from atkay.aggregates import MEAN, Aggregate
from atkay.core.moments import Moments, digits_of, divides, means, quotient, sum_up, times_power, total
from atkay.core.types import Floats, Ints
from atkay.errors import InputError
from atkay.results.intervals import AUTO, UNLIMITED, Estimate, IntervalMethod, Limits, within
from atkay.results.ordered import ordered_value

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

LARGEST_LOGARITHM = math.log(sys.float_info.max)

RATIO_SIDES = ("numerator", "denominator")


class Summary(NamedTuple):
    """A metric's mean, its 95 % CI, the SD over users (``deviation``), and counts of users."""

    mean: float
    low: float
    high: float
    deviation: float
    users: int
    undefined: int


def group_sums(values: Floats, groups: Ints, n_groups: int) -> Floats:
    """The sum of each group, the same to the last bit whatever the order of its values and the other groups are.

    Digits stand at fixed powers of 2, their sums are exact, and those of a group are added from the lowest on.
    """
    sums = np.zeros(n_groups)
    for power, digit in reversed(list(digits_of(values[None]))):
        sums += times_power(np.bincount(groups, digit[0], n_groups).astype(float), power)
    return sums


def group_means(values: Floats, groups: Ints, n_groups: int) -> Floats:
    """The mean of each group; NaN does not count, and a group of nothing else is NaN."""
    there = ~np.isnan(values)
    counts = np.bincount(groups[there], minlength=n_groups)
    with np.errstate(invalid="ignore"):
        means: Floats = group_sums(values[there], groups[there], n_groups) / counts
    return means


Unit = Floats | tuple[Floats, Floats]
"""What a number is the mean of; numerators and denominators where it is pooled."""

Aggregates = Mapping[str, Aggregate]
"""The aggregates of the numbers that are no means."""


def units(
    names: Sequence[str],
    values: Floats,
    ratios: Mapping[str, tuple[Floats, Floats]],
    groups: Ints | None = None,
    rows: Ints | None = None,
    aggregates: Aggregates = MappingProxyType({}),
    weights: Floats | None = None,
) -> Iterator[tuple[str, Unit]]:
    """What each number is the mean of, for some of the queries or for all.

    ``values`` has a column per name, ``ratios`` the sides of those that are pooled. A unit is a query, or all queries
    of one group. It counts in a mean if it has a value, and in a pooled number if its denominator is not 0 (see
    :func:`divides`). A geometric mean is the mean of the units' logarithms. A weighted mean is a
    ratio of sums: of weights times values, and of weights.
    """

    def of_units(of_queries: Floats, merge: Any) -> Floats:
        of_queries = of_queries if rows is None else of_queries[rows]
        return of_queries if code is None else merge(of_queries, code, n_groups)

    code, n_groups = None, 1
    if groups is not None:
        code = np.unique(groups if rows is None else groups[rows], return_inverse=True)[1]
        n_groups = int(code.max()) + 1
    weight = None if weights is None else of_units(weights, group_means)  # the same for all queries of a group
    for at, name in enumerate(names):
        if name in ratios:
            numerator, denominator = (of_units(side, group_sums) for side in ratios[name])
            yield name, ((numerator, denominator) if weight is None else (weight * numerator, weight * denominator))
            continue
        unit = scaled(of_units(values[:, at], group_means), aggregates.get(name, MEAN))
        yield name, (unit if weight is None else (weight * unit, weight))


def scaled(values: Floats, aggregate: Aggregate) -> Floats:
    """The values of units, on the scale on which their mean is taken."""
    return np.log(np.maximum(values, aggregate.number or 0.0)) if aggregate.logarithmic else values


def unscaled(value: float, aggregate: Aggregate) -> float:
    """A mean, or an end of its interval, back from the scale on which it was taken."""
    return math.exp(min(value, LARGEST_LOGARITHM)) if aggregate.logarithmic else value


def mean(unit: Unit) -> float:
    """The mean of the values that are not NaN, or the ratio of the sums: as :attr:`Moments.mean` has it."""
    if isinstance(unit, tuple):
        there = divides(unit[1]) & ~np.isnan(unit[0])
        return quotient(*(total(side if there.all() else side[there]) for side in unit))
    defined = unit[~np.isnan(unit)] if np.isnan(unit.max(initial=0.0)) else unit
    return means(defined[None])[0] if len(defined) else math.nan


def value_of(unit: Unit, aggregate: Aggregate) -> float:
    """The mean, or another aggregate, of the values that are not NaN."""
    if aggregate.ordered and not isinstance(unit, tuple):
        return ordered_value(unit[~np.isnan(unit)], aggregate)
    return unscaled(mean(unit), aggregate)


def means_of(
    names: Sequence[str],
    values: Floats,
    ratios: Mapping[str, tuple[Floats, Floats]],
    groups: Ints | None,
    aggregates: Aggregates,
    weights: Floats | None,
) -> dict[str, float]:
    """The mean, or another aggregate, of each number."""
    if groups is None and weights is None and not ratios and not aggregates and len(values):
        with suppress(InputError):  # a value is NaN, or infinite: one number after the other
            return dict(zip(names, means(values.T), strict=True))
    return {
        name: value_of(unit, aggregates.get(name, MEAN))
        for name, unit in units(names, values, ratios, groups, aggregates=aggregates, weights=weights)
    }


def summarise(
    unit: Unit | Moments,
    aggregate: Aggregate = MEAN,
    method: IntervalMethod = AUTO,
    limits: Limits = UNLIMITED,
    clusters: Ints | None = None,
) -> Summary:
    """The mean with its interval, the delta method's for pooled metrics; NaN is ignored.

    ``limits`` are the lowest and the highest value that there can be, which no interval goes beyond. ``clusters`` has
    the cluster of each unit. The interval of a geometric mean is that of the mean of logarithms, and back; it has no
    SD. Those of aggregates that depend on the order of the values are in :mod:`atkay.results.ordered`.
    """
    if aggregate.ordered and isinstance(unit, np.ndarray):
        values = unit[~np.isnan(unit)]
        ends = method.of_ordered(values, aggregate)
        return summarise(unit)._replace(mean=ordered_value(values, aggregate), low=ends[0], high=ends[1])
    moments = unit if isinstance(unit, Moments) else moments_of(unit)
    basis, scores = moments, unit
    if clusters is not None and not isinstance(unit, Moments):
        scores = clustered(unit, clusters)
        basis = moments_of(scores)
    # On the scale of logarithms there are other limits.
    ends = method.of_mean(
        Estimate(moments, basis, UNLIMITED if aggregate.logarithmic else limits),
        lambda: scores_of(scores, basis.mean) if not isinstance(scores, Moments) else np.empty(0),
    )
    value, low, high = (unscaled(each, aggregate) for each in (moments.mean, *ends))
    low, high = within((low, high), value, limits)
    has_deviation = not (moments.pooled or aggregate.logarithmic)
    deviation = moments.deviation if has_deviation else math.nan
    return Summary(value, low, high, deviation, moments.users, moments.undefined)


def moments_of(unit: Unit) -> Moments:
    """The exact sums of what a number is the mean of."""
    sides = unit if isinstance(unit, tuple) else (unit,)
    return sum_up(["unit"], *(side[:, None] for side in sides))["unit"]


def clustered(unit: Unit, clusters: Ints) -> tuple[Floats, Floats]:
    """What a number is the mean of, cluster by cluster: a mean over users is a ratio of sums over clusters.

    The delta method's variance of that ratio is then the cluster-robust one: G / (G - 1) times the sum of the squared
    sums of each of the G clusters' residuals (CR1; Liang and Zeger, 1986).
    """
    above, below = unit if isinstance(unit, tuple) else (unit, np.ones_like(unit))
    there = divides(below) & ~np.isnan(above)
    code = np.unique(clusters[there], return_inverse=True)[1]
    n_clusters = int(code.max(initial=-1)) + 1
    return group_sums(above[there], code, n_clusters), group_sums(below[there], code, n_clusters)


def scores_of(unit: Unit, mean: float) -> Floats:
    """Values of which the number is the mean; a ratio's are those of its linear approximation."""
    if not isinstance(unit, tuple):
        return unit[~np.isnan(unit)]
    there = divides(unit[1]) & ~np.isnan(unit[0])
    return linear(unit[0][there], unit[1][there], mean)


def linear(above: Floats, below: Floats, ratio: float | Floats) -> Floats:
    """Values whose mean is a ratio of sums, as far as it is linear in these (the delta method)."""
    return np.asarray(ratio + (above - ratio * below) * (len(above) / below.sum(axis=0)))


HEADER = ("mean", "95 % CI", "SD", "users", "undefined")


def number_types() -> dict[str, Any]:
    from atkay.core.forks import polars as pl

    return {name: pl.Int64 if name in ("users", "undefined") else pl.Float64 for name in Summary._fields}


def cells(summary: Summary, digits: int = 4, scale: int = 1) -> tuple[str, ...]:
    """A summary as it is printed, with this number of decimals and times ``scale``."""

    def number(value: float) -> str:
        return "–" if math.isnan(value) else f"{scale * value:.{digits}f}"

    interval = "–" if math.isnan(summary.low) else f"[{number(summary.low)}, {number(summary.high)}]"
    return (
        number(summary.mean), interval, number(summary.deviation), f"{summary.users:,}", f"{summary.undefined:,}"
    )  # fmt: skip
