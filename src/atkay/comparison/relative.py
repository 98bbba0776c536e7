"""Relative: a difference as a share of the baseline's mean, with its interval."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from atkay.aggregates import Aggregate

if TYPE_CHECKING:
    from atkay.comparison.difference import Difference
    from atkay.results.summary import Summary


def share(difference: Difference, value: float) -> float:
    """A difference, or an end of its interval, as a share of the other run's mean, taken as a fixed number.

    NaN where that mean is 0 or negative. Of logarithms it is the ratio less 1.
    """
    if Aggregate.of(difference.aggregate).logarithmic:
        return expm1(value)
    ratio = value / difference.base if difference.base > 0 else math.nan
    return ratio if math.isfinite(ratio) else math.nan


def expm1(logarithm: float) -> float:
    """The ratio less 1 of which this is the logarithm, at most a very large number."""
    return math.expm1(min(logarithm, 700.0))


def fieller(apart: Summary, against: Summary, run: Summary) -> tuple[float, float]:
    """The interval of the ratio of two paired means, less 1: the baseline's mean has an error, too.

    ``apart`` is the mean difference with Student's interval. The interval has all ratios r at which the mean of
    ``run - r * against`` does not differ from 0, so that 0 lies in both intervals or in neither. NaN where the
    baseline's mean does not differ from 0 itself: then no ratio is too large. Fieller, Some problems in interval
    estimation, 1954.
    """
    if not (against.mean > 0 and apart.deviation > 0):
        return math.nan, math.nan
    half, of_difference, of_base = (apart.high - apart.low) / 2, apart.deviation**2, against.deviation**2
    both = (run.deviation**2 - of_difference - of_base) / 2  # how differences and baseline vary together
    scale = half**2 / of_difference
    square = against.mean**2 - scale * of_base
    if not square > 0:
        return math.nan, math.nan
    middle = apart.mean * against.mean - scale * both
    root = math.sqrt(max(middle**2 - square * (apart.mean**2 - half**2), 0.0))
    return (middle - root) / square, (middle + root) / square


def inverse(value: float) -> float:
    """The share the other way round: what is 25 % more than another is what the other is 20 % less than.

    >>> round(inverse(0.25), 12)
    -0.2
    """
    return 1 / (1 + value) - 1 if value > -1 else math.nan


def percent(value: float) -> str:
    """A share in percent, or how many times as much it is.

    >>> percent(0.14), percent(-0.0004), percent(30)
    ('+14 %', '-0.04 %', '×31')
    """
    if value >= 10:
        return f"×{1 + value:,.0f}"
    hundredths = 100 * value
    first = float(f"{hundredths:.0e}")  # 9.98 reads as 10, and 0.0998 as 0.1
    digits = 0 if round(abs(hundredths), 1) >= 10 else max(1, -_power(first)) if value else 1
    return f"{round(hundredths, digits) + 0.0:+.{digits}f} %"


def _power(value: float) -> int:
    return math.floor(math.log10(abs(value)))
