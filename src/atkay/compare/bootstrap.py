"""Bootstrap: what the mean differences would be for other users like these, by drawing users with replacement."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from atkay.arrays import Floats
from atkay.compare.permutation import PERMUTATIONS, UNITS, Key, generator
from atkay.compare.progress import Steps
from atkay.lists import ranges
from atkay.means import CONFIDENCE, mean

if TYPE_CHECKING:
    from collections.abc import Sequence

    from atkay.compare.sheet import Pair, Paired


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
        reached = ~(np.abs(self.t) < np.abs(self.observed_t))
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


def draw(paired: Sequence[Paired], pairs: Sequence[Pair], samples: int, rng: int, key: Key) -> Drawn:
    """Samples of the units, with replacement; all metrics and pairs see the same ones."""
    columns, combine = zip(*(each.columns(pairs) for each in paired), strict=True)
    shape, n = (len(paired), len(pairs)), len(columns[0])
    there = [None if each.complete.all() else np.column_stack([each.defined(p) for p in pairs]) for each in paired]
    means = np.array([[mean(each.difference(pair)) for pair in pairs] for each in paired])

    def differences(begin: int, end: int) -> Floats:
        """Of some units, less their mean, 0 where undefined; units x metrics · pairs."""
        parts = []
        for at, (column, mix, known) in enumerate(zip(columns, combine, there, strict=True)):
            centred = column[begin:end] @ mix - means[at]
            parts.append(centred if known is None else centred * known[begin:end])
        return np.hstack(parts)

    def known(begin: int, end: int) -> Floats:
        """Which of these differences are defined, where not all are."""
        return np.hstack([np.empty((end - begin, 0)), *(one[begin:end] for one in there if one is not None)])

    partial = np.repeat([one is not None for one in there], len(pairs))
    sums, squares = (np.zeros((samples, len(partial))) for _ in range(2))
    counts = np.full((samples, len(partial)), float(n))
    counts[:, partial] = 0
    with Steps("bootstrap samples", samples) as steps:
        for number, (first, last) in enumerate(ranges(samples, PERMUTATIONS)):
            random, rows = generator(rng, (*key, number)), slice(first, last)
            drawn = np.empty((last - first, n), np.int16)
            for at in range(last - first):
                drawn[at] = np.bincount(random.integers(0, n, n), minlength=n)
            for begin, end in ranges(n, UNITS):
                times, these = drawn[:, begin:end].astype(np.float64), differences(begin, end)
                sums[rows] += times @ these
                squares[rows] += times @ these**2
                if partial.any():
                    counts[rows, partial] += times @ known(begin, end)
            steps.advance(last - first)
    with np.errstate(divide="ignore", invalid="ignore"):
        away = sums / counts
        error = np.sqrt((squares / counts - away**2) / (counts - 1))
        t = away / error
    moments = [[_moments(each.difference(pair)) for pair in pairs] for each in paired]
    observed_t, skew = np.moveaxis(np.array(moments).reshape(*shape, 2), 2, 0)
    return Drawn(means, away.reshape(-1, *shape), t.reshape(-1, *shape), observed_t, skew)


def _moments(difference: Floats) -> tuple[float, float]:
    """The t-value, and the acceleration."""
    n, middle = len(difference), mean(difference)
    square = float(((difference - middle) ** 2).sum())
    if n < 2 or square == 0:
        return np.nan, np.nan
    return middle / np.sqrt(square / (n - 1) / n), float(((difference - middle) ** 3).sum()) / (6 * square**1.5)
