"""Intervals: between which ends a number lies, with 95 % confidence, and by which method."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

import numpy as np

from atkay.core.kernels import resampled_sums
from atkay.core.lists import ranges
from atkay.core.types import is_integer
from atkay.errors import SpecError, an_integer, shown, unknown_value
from atkay.results.ordered import TAIL_USERS, ordered_interval, resampled_values

if TYPE_CHECKING:
    from atkay.aggregates import Aggregate
    from atkay.core.moments import Moments
    from atkay.core.types import Floats

CONFIDENCE = 0.95
TAILS = ((1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2)

IntervalName = Literal["auto", "student", "logit", "wilson", "clopper-pearson", "percentile", "bca", "studentised"]
INTERVAL_NAMES: tuple[IntervalName, ...] = get_args(IntervalName)
PROPORTIONS = ("logit", "wilson", "clopper-pearson")
"""Intervals of numbers from 0 to 1."""
RESAMPLED = ("percentile", "bca", "studentised")
"""Bootstrap intervals."""

Ends = tuple[float, float]
Limits = tuple[float, float]
"""The lowest and the highest value that a metric can have."""
UNLIMITED: Limits = (-math.inf, math.inf)
UNKNOWN: Ends = (math.nan, math.nan)

VALUES_PER_BLOCK = 1 << 20
"""Values of resampled users per block."""

ROUNDING_SHARE = 2.0**-40
"""A sample's variance that is smaller than this share of its mean square comes from rounding."""


class Estimate(NamedTuple):
    """A mean to find an interval of: its sums over users, and those over what is independent, users or clusters."""

    users: Moments
    basis: Moments
    limits: Limits

    @property
    def error(self) -> float:
        """The standard error, that of clusters where there are any."""
        return self.basis.deviation / math.sqrt(self.basis.users)


@dataclass(frozen=True)
class IntervalMethod:
    """How intervals are found; ``samples`` and ``rng`` are those of the bootstrap."""

    name: str = "auto"
    samples: int = 10_000
    rng: int = 7

    def __post_init__(self) -> None:
        if self.name not in INTERVAL_NAMES:
            raise SpecError(f"with_intervals: {unknown_value(self.name, 'interval', INTERVAL_NAMES)}")
        for name, least in (("samples", 1), ("rng", 0)):
            number = getattr(self, name)
            if not is_integer(number, least):
                raise SpecError(f"with_intervals: {name} must be {an_integer(least)}, got {shown(number)}.")
            object.__setattr__(self, name, operator.index(number))

    @property
    def words(self) -> str:
        """What intervals these are; nothing for the usual ones."""
        return {
            "auto": "",
            "student": "Student's",
            "logit": "Student's on the scale of log-odds",
            "wilson": "Wilson's, with the effective number of users for values between 0 and 1",
            "clopper-pearson": "Clopper and Pearson's, with the effective number of users for values between 0 and 1",
        }.get(self.name, f"{self.name} bootstrap ({self.samples:,} samples, seed {self.rng})")

    def of_mean(self, of: Estimate, scores: Callable[[], Floats]) -> Ends:
        """The ends of a mean's interval; ``scores`` are values of which it is the mean."""
        if of.basis.users < 2 or math.isnan(of.basis.mean):
            return UNKNOWN
        name, binary = self.name, of.limits == (0.0, 1.0) and of.users.binary
        if name == "auto":
            name = "wilson" if binary else "student"
        if binary and name in ("logit", *RESAMPLED) and of.error < ROUNDING_SHARE:
            name = "wilson"  # nobody differs, and so no sample does
        if name in PROPORTIONS and not 0 <= of.basis.mean <= 1:
            name = "student"
        if name in ("wilson", "clopper-pearson"):
            return proportion(of, exact=name == "clopper-pearson")
        if name == "logit":
            return log_odds(of)
        return student(of) if name == "student" else self._resampled(scores(), of.basis.mean)

    def of_ordered(self, values: Floats, aggregate: Aggregate) -> Ends:
        """The ends of the interval of a number that depends on the order of the values."""
        n = len(values)
        if self.name != "percentile" or aggregate.extreme or n * aggregate.tail < TAIL_USERS:
            return ordered_interval(values, aggregate, CONFIDENCE)
        values = np.sort(values * aggregate.sign)
        drawn = []
        random = np.random.Generator(np.random.PCG64(self.rng))
        for first, last in ranges(self.samples, max(1, VALUES_PER_BLOCK // n)):
            place = random.integers(0, n, (last - first, n)) + n * np.arange(last - first)[:, None]
            counts = np.bincount(place.ravel(), minlength=(last - first) * n).reshape(-1, n)
            drawn.append(aggregate.sign * resampled_values(values, counts, aggregate))
        low, high = np.quantile(np.concatenate(drawn), TAILS).tolist()
        return low, high

    def _resampled(self, scores: Floats, mean: float) -> Ends:
        away = scores - scores.mean()
        n, squares = len(away), away**2
        if not squares.any():
            return mean, mean
        columns = np.column_stack([away, squares])
        seed = int(np.random.SeedSequence(self.rng).generate_state(1, np.uint64)[0]) >> 1
        sums = resampled_sums(seed, np.arange(self.samples), columns, np.empty((n, 0), np.uint16))[0] / n
        t = t_values(sums[:, 0], sums[:, 1], np.full(self.samples, float(n)))
        error = math.sqrt(float(squares.sum()) / (n - 1) / n)
        return bootstrap_interval(self.name, mean, sums[:, 0], acceleration(away), t, error)


AUTO = IntervalMethod()


def student(of: Estimate) -> Ends:
    """Student's interval of a mean."""
    half = critical(of.basis.users - 1) * of.error
    return of.basis.mean - half, of.basis.mean + half


def log_odds(of: Estimate) -> Ends:
    """Student's interval of the log-odds of a mean between 0 and 1, and back: it is wider towards the middle.

    Newcombe, Logit confidence intervals and the inverse sinh transformation, 2001.
    """
    mean = of.basis.mean
    odds = mean / (1 - mean)
    times = math.exp(min(critical(of.basis.users - 1) * of.error / (mean * (1 - mean)), 700.0))
    return odds / (odds + times), 1 / (1 + 1 / (odds * times))


def critical(degrees: int) -> float:
    """How many standard errors Student's interval is wide to each side."""
    from scipy.special import stdtrit

    return float(stdtrit(degrees, TAILS[1]))


def proportion(of: Estimate, *, exact: bool) -> Ends:
    """Wilson's interval of a proportion or, ``exact``, that of Clopper and Pearson.

    Where values lie between 0 and 1, have weights or come in clusters, n is the effective number of users: as many as
    give a mean of zeros and ones this variance, less what Student's t takes off.

    Wilson, Probable inference, 1927. Clopper and Pearson, 1934. Korn and Graubard, Confidence intervals for
    proportions with small expected number of positive counts estimated from survey data, 1998.
    """
    from scipy.special import betaincinv, ndtri

    mean, basis = of.basis.mean, of.basis
    n, z = float(of.users.users), float(ndtri(TAILS[1]))
    if basis.pooled or not of.users.binary:
        variance = of.error**2 * (basis.users - 1) / basis.users
        most = basis.effective if not variance else mean * (1 - mean) / variance
        n = min(most, n) if of.users.binary else most
        n *= (z / critical(basis.users - 1)) ** 2
    if math.isinf(n):
        return mean, mean
    if exact:
        hits = mean * n
        low = float(betaincinv(hits, n - hits + 1, TAILS[0])) if hits > 0 else 0.0
        return low, float(betaincinv(hits + 1, n - hits, TAILS[1])) if hits < n else 1.0
    share = z**2 / n
    half = math.sqrt(share * (mean * (1 - mean) + share / 4))
    return (mean + share / 2 - half) / (1 + share), (mean + share / 2 + half) / (1 + share)


def within(ends: Ends, value: float, limits: Limits) -> Ends:
    """The ends, moved to where values can be, on either side of the one at hand; none where one is infinite."""
    low, high = (float(np.clip(end, *limits)) for end in ends)
    if math.isinf(low) or math.isinf(high):
        return UNKNOWN
    return min(low, value), max(high, value)


def acceleration(away: Floats) -> float:
    """A sixth of the skewness of the values over the root of their number: the acceleration of the BCa interval."""
    squares = away**2
    return float((squares * away).sum()) / (6 * math.pow(squares.sum(), 1.5))


def t_values(mean: Floats, square: Floats, counts: Floats, rounding: Floats | float = 0.0) -> Floats:
    """The t-value of each sample, from its mean and its mean of squares; without end where it has no spread."""
    variance = square - mean**2
    variance[variance <= np.maximum(ROUNDING_SHARE * square, rounding**2)] = 0.0
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(mean / np.sqrt(variance / (counts - 1)))


def bootstrap_interval(name: str, mean: float, away: Floats, skew: float, t: Floats | None, error: float) -> Ends:
    """The interval of a mean from its samples, which are so far ``away`` from it and have these t-values.

    "percentile"; "bca", bias-corrected and accelerated; or "studentised" (bootstrap-t), where the samples' t-values
    stand in the place of Student's. Efron, Better bootstrap confidence intervals, 1987. Hall, Theoretical comparison of
    bootstrap confidence intervals, 1988.
    """
    if name == "studentised":
        assert t is not None
        # A sample whose mean is the one at hand has no t-value where it has no spread either.
        low, high = np.quantile(np.nan_to_num(t, nan=0.0, posinf=np.inf, neginf=-np.inf), TAILS, method="inverted_cdf")
        return mean - float(high) * error, mean - float(low) * error
    levels = np.array(TAILS)
    if name == "bca":
        from scipy.special import ndtr, ndtri

        below = ((away < 0).mean() + (away <= 0).mean()) / 2
        with np.errstate(divide="ignore", invalid="ignore"):
            bias = ndtri(below)
            shifted = bias + ndtri(levels)
            levels = ndtr(bias + shifted / (1 - skew * shifted))
    if np.isnan(levels).any():
        return UNKNOWN
    low, high = (mean + np.quantile(away, levels)).tolist()
    return low, high
