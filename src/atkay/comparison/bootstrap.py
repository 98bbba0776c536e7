"""Bootstrap: what the mean differences would be for other users like these, by drawing users with replacement."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from atkay.comparison.permutation import PERMUTATIONS_PER_BLOCK, UNITS_PER_BLOCK, combined
from atkay.comparison.sheet import ROUNDING_SHARE
from atkay.core.lists import ranges
from atkay.core.types import Floats
from atkay.results.summary import CONFIDENCE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from atkay.comparison.sheet import Differences, Pair, Paired
    from atkay.comparison.trial import Trial

UNITS_SAMPLED_ALONE = 200
"""From so many units on, a pair's number of them varies by so little between samples that its interval is the same."""

EQUAL_T_SHARE = 1e-9
"""t-values that differ by less than this share are equal: their squares cancel more digits than sums do."""


@dataclass(frozen=True, eq=False)
class Drawn:
    """Mean differences of many samples, less the one at hand: samples x metrics x pairs; and their t-values.

    ``skew`` is the acceleration of the BCa interval: for a mean, a sixth of the skewness of the differences over the
    root of their number.
    """

    mean: Floats
    away: Floats
    t: Floats
    observed_t: Floats
    skew: Floats

    def p_values(self) -> Floats:
        """How often a sample's t-value is at least as far from its centre as the one at hand is from 0."""
        samples = len(self.away)
        # A sample without any spread has no t-value; it counts against the difference.
        reached = ~(np.abs(self.t) < np.abs(self.observed_t) * (1 - EQUAL_T_SHARE))
        p: Floats = (reached.sum(axis=0) + 1) / (samples + 1)
        return np.where(np.isnan(self.observed_t), np.where(self.mean == 0, 1.0, np.nan), p)

    def intervals(self, kind: str) -> tuple[Floats, Floats]:
        """The percentile interval of the differences, or BCa: bias-corrected and accelerated.

        Efron, Better bootstrap confidence intervals, 1987.
        """
        from scipy.special import ndtr, ndtri

        levels = np.array([(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])[:, None, None]
        if kind == "bca":
            below = ((self.away < 0).mean(axis=0) + (self.away <= 0).mean(axis=0)) / 2
            with np.errstate(divide="ignore", invalid="ignore"):
                bias = ndtri(below)
                shifted = bias + ndtri(levels)
                levels = ndtr(bias + shifted / (1 - self.skew * shifted))
        levels = np.broadcast_to(levels, (2, *self.mean.shape))
        ends = np.full(levels.shape, np.nan)
        for place in np.ndindex(*self.mean.shape):
            column, level = self.away[(slice(None), *place)], levels[(slice(None), *place)]
            if not np.isnan(level).any():
                ends[(slice(None), *place)] = self.mean[place] + np.quantile(column, level)
        return ends[0], ends[1]


def draw(trial: Trial) -> Drawn:
    """Samples of the units, with replacement; all metrics and pairs see the same ones.

    A pair that has few of the units is sampled by itself: in samples of all units their number would vary.
    """
    paired, pairs, samples = trial.paired, trial.pairs, trial.permutations
    parts = [_centred(each, pairs) for each in paired]
    combine, width = [mix for _, mix in parts], np.cumsum([0, *(column.shape[1] for column, _ in parts)])
    columns = np.hstack([column for column, _ in parts])
    n, shape = len(columns), (samples, len(paired), len(pairs))
    partial = [at for at, each in enumerate(paired) if not each.complete]
    there = np.hstack([np.empty((n, 0)), *(np.column_stack([paired[at].defined(p) for p in pairs]) for at in partial)])
    sums, squares = np.zeros((samples, columns.shape[1])), np.zeros((samples, shape[1] * shape[2]))
    defined = np.zeros((samples, there.shape[1]))
    for number, (first, last) in enumerate(ranges(samples, PERMUTATIONS_PER_BLOCK)):
        random, rows = trial.random(0, number), slice(first, last)
        drawn = np.empty((last - first, n), np.int16)
        for at in range(last - first):
            drawn[at] = np.bincount(random.integers(0, n, n), minlength=n)
        for begin, end in ranges(n, UNITS_PER_BLOCK):
            times = drawn[:, begin:end].astype(np.float64)
            sums[rows] += times @ columns[begin:end]
            defined[rows] += times @ there[begin:end]
            if trial.spread:
                squares[rows] += times @ combined(columns[begin:end], width, combine).reshape(end - begin, -1) ** 2
        trial.steps.advance((last - first) / samples)
    counts = np.full(shape, float(n))
    counts[:, partial] = defined.reshape(samples, len(partial), len(pairs))
    observed = [[each.difference(pair) for pair in pairs] for each in paired]
    means = np.array([[each.mean for each in row] for row in observed])
    rounding = np.array([[each.slack / max(len(each.values), 1) for each in row] for row in observed])
    with np.errstate(divide="ignore", invalid="ignore"):
        away = combined(sums, width, combine) / counts
        away[np.abs(away) <= rounding] = 0.0
        square = squares.reshape(shape) / counts
        variance = square - away**2
        variance[variance <= np.maximum(ROUNDING_SHARE * square, rounding**2)] = 0.0
        t = away / np.sqrt(variance / (counts - 1))
    for at, nth in itertools.product(partial, range(len(pairs))):
        if 0 < paired[at].defined(pairs[nth]).sum() < UNITS_SAMPLED_ALONE:
            alone = draw(replace(trial, paired=[paired[at].only(pairs[nth])], pairs=[(0, 1)]))
            away[:, at, nth], t[:, at, nth] = alone.away[:, 0, 0], alone.t[:, 0, 0]
    observed_t, skew = np.moveaxis(np.array([[_moments(each) for each in row] for row in observed]), 2, 0)
    return Drawn(means, away, t, observed_t, skew)


def _centred(paired: Paired, pairs: Sequence[Pair]) -> tuple[Floats, Floats]:
    """The columns of :meth:`Paired.columns` about their means: a sample's own mean is then how far away it is."""
    columns, combine = paired.columns(pairs)
    if paired.complete:
        return columns - columns.mean(axis=0), combine
    for at, pair in enumerate(pairs):
        units = paired.defined(pair)
        columns[units, at] -= columns[units, at].mean() if units.any() else 0.0
    return columns, combine


def _moments(difference: Differences) -> tuple[float, float]:
    """The t-value, and the acceleration; NaN where there is no spread."""
    n, away = len(difference.values), difference.values - difference.mean
    square = float((away**2).sum())
    if n < 2 or not square or difference.alike:
        return np.nan, np.nan
    return difference.mean / np.sqrt(square / (n - 1) / n), float((away**3).sum()) / (6 * square**1.5)
