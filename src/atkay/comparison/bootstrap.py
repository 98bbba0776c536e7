"""Bootstrap: what the mean differences would be for other users like these, by drawing users with replacement."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from atkay.comparison.permutation import BYTES_PER_BLOCK, UNITS_PER_BLOCK, combined
from atkay.comparison.sheet import ROUNDING_SHARE
from atkay.core.kernels import resampled_sums
from atkay.core.lists import in_threads, ranges
from atkay.core.types import Array, Bools, Floats, Ints
from atkay.results.intervals import acceleration, bootstrap_interval, t_values
from atkay.results.ordered import TAIL_USERS, resampled_values

if TYPE_CHECKING:
    from collections.abc import Sequence

    from atkay.comparison.sheet import Differences, Pair, Paired
    from atkay.comparison.trial import Trial

UNITS_SAMPLED_ALONE = 200
"""With more units, their number per pair varies too little between samples to change its interval."""

EXACT_AT_ONCE = 64
"""Differences whose squares are summed exactly per block."""

VALUES_PER_BLOCK = 1 << 20
"""Values of resampled units per block."""

EQUAL_T_SHARE = 1e-9
"""t-values that differ by less than this share are equal: their squares cancel more digits than sums do."""


@dataclass(frozen=True, eq=False)
class Drawn:
    """Mean differences of many samples, less the one at hand: samples x metrics x pairs.

    ``reached`` counts the samples whose t-value is at least as far from its centre as the one at hand is from 0.
    ``skew`` is the acceleration of the BCa interval, ``error`` the standard error.
    """

    mean: Floats
    away: Floats
    reached: Ints
    observed_t: Floats
    skew: Floats
    error: Floats
    t: Floats | None = None
    """The t-value of each sample, where it is wanted."""

    def p_values(self) -> Floats:
        """How often a sample's t-value is at least as far from its centre as the one at hand is from 0."""
        p: Floats = (self.reached + 1) / (len(self.away) + 1)
        return np.where(np.isnan(self.observed_t), np.where(self.mean == 0, 1.0, np.nan), p)

    def intervals(self, kind: str) -> tuple[Floats, Floats]:
        """The intervals of the differences, see :func:`bootstrap_interval`."""
        ends = np.full((2, *self.mean.shape), np.nan)
        for place in np.ndindex(*self.mean.shape):
            away = self.away[(slice(None), *place)]
            if not np.isnan(away).any():
                t = None if self.t is None else self.t[(slice(None), *place)]
                mean, skew, error = (float(each[place]) for each in (self.mean, self.skew, self.error))
                ends[(slice(None), *place)] = bootstrap_interval(kind, mean, away, skew, t, error)
        return ends[0], ends[1]


def draw(trial: Trial) -> Drawn:
    """Samples of the units, with replacement; all metrics and pairs see the same ones.

    A pair that has few of the units is sampled by itself: in samples of all units their number would vary.
    """
    paired, pairs, samples = trial.paired, trial.pairs, trial.permutations
    parts = [_centred(each, pairs) for each in paired]
    combine, width = [mix for _, mix in parts], np.cumsum([0, *(column.shape[1] for column, _ in parts)])
    columns = np.hstack([column for column, _ in parts])
    n, shape = len(columns), (len(paired), len(pairs))
    partial = [at for at, each in enumerate(paired) if not each.complete]
    there = [np.column_stack([paired[at].defined(pair) for pair in pairs]) for at in partial]
    observed = in_threads(lambda job: _moments(job[0].difference(job[1])), list(itertools.product(paired, pairs)))
    means, rounding, observed_t, skew, error = np.array(observed).T.reshape(5, *shape)
    squares = Squares.of(columns, width, combine) if trial.spread else Squares(np.empty((n, 0), np.uint16), np.empty(0))
    small = np.hstack([squares.values, *there]).astype(np.uint16, copy=False) if there else squares.values
    away, reached = np.empty((samples, *shape)), np.zeros(shape, np.int64)
    every_t = np.empty_like(away) if trial.studentised else None
    seed, at_once = trial.seed(0), max(256, 8 * BYTES_PER_BLOCK // max(n, 1))
    for first, last in ranges(samples, at_once):
        numbers, counts = np.arange(first, last), np.full((last - first, *shape), float(n))
        sums, small_sums = resampled_sums(seed, numbers, columns, small)
        counts[:, partial] = small_sums[:, squares.values.shape[1] :].reshape(last - first, len(partial), len(pairs))
        with np.errstate(divide="ignore", invalid="ignore"):
            mean = combined(sums, width, combine) / counts
        mean[np.abs(mean) <= rounding] = 0.0
        away[first:last] = mean

        def exact_sums(rows: Ints, places: Ints) -> Floats:
            """The sums of the squares of some of the differences, in some of the samples."""
            of_run = [(at, nth, columns[:, width[at] : width[at + 1]]) for at, nth in places]
            exact = [(runs @ combine[at][:, nth]) ** 2 for at, nth, runs in of_run]
            return resampled_sums(seed, rows, np.column_stack(exact), small[:, :0])[0]

        if every_t is not None:
            for begin, end in ranges(means.size, EXACT_AT_ONCE):
                places = np.argwhere(np.ones(shape, bool))[begin:end]
                at, nth = places.T
                of_place = slice(None), at, nth
                squares_of = exact_sums(numbers, places) / counts[of_place]
                every_t[first:last, at, nth] = t_values(mean[of_place], squares_of, counts[of_place], rounding[at, nth])
        if trial.spread:
            # The squares of differences are most of the work. A bound below and one above the sum of each mostly say
            # the same of a t-value; only where they do not, the exact sums are taken.
            of_t = StudentBound(mean, counts, rounding, np.abs(observed_t) * (1 - EQUAL_T_SHARE))
            reaches, surely = (of_t.reaches(bound.reshape(mean.shape)) for bound in squares.bounds(small_sums, n))
            unsure = np.flatnonzero((reaches != surely).any(axis=(1, 2)))
            places = np.argwhere((reaches != surely).any(axis=0))
            for begin, end in ranges(len(places), EXACT_AT_ONCE) if len(places) else ():
                sums = exact_sums(numbers[unsure], places[begin:end])
                place = unsure[:, None], *places[begin:end].T
                reaches[place] = of_t.part(place).reaches(sums)
            reached += reaches.sum(axis=0)
        trial.steps.advance((last - first) / samples)
    for at, nth in itertools.product(partial, range(len(pairs))):
        if 0 < paired[at].defined(pairs[nth]).sum() < UNITS_SAMPLED_ALONE:
            alone = draw(replace(trial, paired=[paired[at].only(pairs[nth])], pairs=[(0, 1)]))
            away[:, at, nth], reached[at, nth] = alone.away[:, 0, 0], alone.reached[0, 0]
            if every_t is not None and alone.t is not None:
                every_t[:, at, nth] = alone.t[:, 0, 0]
    return Drawn(means, away, reached, observed_t, skew, error, every_t)


def draw_ordered(trial: Trial) -> Drawn:
    """Samples of the units, with replacement, for aggregates that depend on the order of the values.

    ``reached`` counts the samples in which the difference is 0 or has the other sign, twice: the p-value belongs to the
    percentile interval.
    """
    shape, samples = (len(trial.paired), len(trial.pairs)), trial.permutations
    mean, observed, unknown = (np.full(shape, np.nan) for _ in range(3))
    away, reached = np.full((samples, *shape), np.nan), np.full(shape, samples)
    for at, each in enumerate(trial.paired):
        every = _resampled(trial, each, each.all_runs) if each.complete else None
        for nth, pair in enumerate(trial.pairs):
            mean[at, nth] = each.apart(pair)
            n = int(each.defined(pair).sum())
            if n * each.aggregate.tail < TAIL_USERS or each.difference(pair).alike:
                continue
            first, second = (_resampled(trial, each, pair) if every is None else every[:, pair]).T
            apart, rounding = second - first, ROUNDING_SHARE * np.maximum(np.abs(first), np.abs(second))
            apart[np.abs(apart) <= rounding] = 0.0
            moved = apart - mean[at, nth]
            away[:, at, nth], observed[at, nth] = np.where(np.abs(moved) <= rounding, 0.0, moved), mean[at, nth]
            reached[at, nth] = min(2 * min((apart <= 0).sum(), (apart >= 0).sum()), samples)
        trial.steps.advance(1 / len(trial.paired))
    return Drawn(mean, away, reached, observed, unknown, unknown)


def _resampled(trial: Trial, paired: Paired, runs: Sequence[int]) -> Floats:
    """The aggregate of each of these runs in each sample of the units with a value in all of them: samples x runs."""
    aggregate, scores = paired.aggregate, paired.aggregate.sign * paired.scores(runs)
    n, out = len(scores), np.empty((trial.permutations, len(runs)))
    order = np.argsort(scores, axis=0)

    def of_block(block: tuple[int, int]) -> None:
        size = block[1] - block[0]
        unit = trial.random(4, block[0]).integers(0, n, (size, n)) + n * np.arange(size)[:, None]
        counts = np.bincount(unit.ravel(), minlength=size * n).astype(np.int32).reshape(size, n)
        for run, places in enumerate(order.T):
            out[slice(*block), run] = resampled_values(scores[places, run], counts[:, places], aggregate)

    in_threads(of_block, ranges(trial.permutations, max(1, VALUES_PER_BLOCK // max(n, 1))))
    return aggregate.sign * out


@dataclass(frozen=True, eq=False)
class Squares:
    """The squares of all differences as small integers, units x metrics and pairs, and what 1 is of each column."""

    values: Array
    unit: Floats

    @classmethod
    def of(cls, columns: Floats, width: Ints, combine: Sequence[Floats]) -> Squares:
        """As fine as the sum of as many as there are units stays below 2^32."""
        n = len(columns)
        most = min(2**16 - 1, (2**32 - 1) // max(n, 1))
        ends = np.stack([columns.min(axis=0, initial=0.0), columns.max(axis=0, initial=0.0)])
        falls, rises = (combined(ends, width, [np.clip(one, *way) for one in combine]) for way in ((-1, 0), (0, 1)))
        largest = np.maximum(rises[1] + falls[0], -(rises[0] + falls[1])).ravel()  # no difference is larger
        unit = largest**2 / most
        unit[unit == 0] = 1.0
        values = np.empty((n, len(unit)), np.uint16)
        for begin, end in ranges(n, UNITS_PER_BLOCK):
            square = combined(columns[begin:end], width, combine).reshape(end - begin, -1)
            square *= square
            square /= unit
            values[begin:end] = np.rint(square, out=square)
        return cls(values, unit)

    def bounds(self, sums: Array, n: int) -> tuple[Floats, Floats]:
        """Less than the sum of squares can be, and more: rounding moves each of n by at most a half."""
        sums = sums[:, : len(self.unit)].astype(float)
        return np.maximum(sums - n / 2 - 1, 0.0) * self.unit, (sums + n / 2 + 1) * self.unit


@dataclass(frozen=True, eq=False)
class StudentBound:
    """Means of samples and their numbers of units, and the t-value that is to be reached."""

    mean: Floats
    counts: Floats
    rounding: Floats
    least: Floats

    def part(self, place: tuple[Ints, Ints, Ints]) -> StudentBound:
        """Some samples of some metrics and pairs."""
        return StudentBound(self.mean[place], self.counts[place], self.rounding[place[1:]], self.least[place[1:]])

    def reaches(self, squares: Floats) -> Bools:
        """Whether the t-value is reached; the smaller the sum of squares, the more it is.

        A sample without any spread has no t-value; it counts against the difference.
        """
        with np.errstate(divide="ignore", invalid="ignore"):
            t = t_values(self.mean, squares / self.counts, self.counts, self.rounding)
        reached: Bools = ~(np.abs(t) < self.least)
        return reached


def _centred(paired: Paired, pairs: Sequence[Pair]) -> tuple[Floats, Floats]:
    """The columns of :meth:`Paired.columns` about their means: a sample's own mean is then how far away it is."""
    columns, combine = paired.columns(pairs)
    if paired.complete:
        return columns - columns.mean(axis=0), combine
    for at, pair in enumerate(pairs):
        units = paired.defined(pair)
        columns[units, at] -= columns[units, at].mean() if units.any() else 0.0
    return columns, combine


def _moments(difference: Differences) -> tuple[float, float, float, float, float]:
    """The mean and its rounding; the t-value, the acceleration and the standard error, NaN where there is no spread."""
    mean = difference.mean, difference.slack / max(len(difference.values), 1)
    n, away = len(difference.values), difference.values - difference.mean
    square = float((away**2).sum())
    if n < 2 or not square or difference.alike:
        return *mean, np.nan, np.nan, np.nan
    error = np.sqrt(square / (n - 1) / n)
    return *mean, difference.mean / error, acceleration(away), error
