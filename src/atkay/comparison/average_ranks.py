"""Average ranks: runs over several data sets, with the Friedman test and Nemenyi's critical difference."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from atkay.comparison.sheet import ROUNDING_SHARE
from atkay.comparison.verdict import LEVEL
from atkay.text.help import Visible

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from atkay.core.types import Floats


@dataclass(frozen=True)
class AverageRanks(Visible):
    """The average rank of each run over data sets, the best first, and which runs are level.

    ``chi_squared`` and ``p`` are those of the Friedman test, corrected for ties. Two runs differ significantly if that
    test is significant and their average ranks are ``critical_difference`` or more apart (Nemenyi's test, 5 %).
    ``cliques`` are the groups of runs of which no two differ significantly, as large as possible; a run may be in
    several. ``data_sets`` counts those in which every run has a value.

    Demšar, Statistical comparisons of classifiers over multiple data sets, 2006.
    """

    ranks: Mapping[str, float]
    chi_squared: float
    p: float
    critical_difference: float
    cliques: tuple[tuple[str, ...], ...]
    data_sets: int

    @classmethod
    def of(cls, runs: Sequence[str], means: Floats, better: str) -> AverageRanks:
        """The ranks of means, data sets x runs."""
        ranks = ranked(means[~np.isnan(means).any(axis=1)], better)
        average = ranks.mean(axis=0) if len(ranks) else np.full(len(runs), math.nan)
        chi_squared, p = friedman(ranks)
        least = critical_difference(*ranks.shape)
        order = np.argsort(average, kind="stable")
        reach = least if p < LEVEL else math.inf
        return cls(
            {runs[at]: float(average[at]) for at in order},
            chi_squared,
            p,
            least,
            tuple(tuple(runs[at] for at in order[one]) for one in _cliques(average[order], reach)),
            len(ranks),
        )

    @property
    def letters(self) -> dict[str, str]:
        """A letter for each clique of a run: runs that share one do not differ significantly."""
        return {
            run: "".join(chr(ord("a") + at) for at, clique in enumerate(self.cliques) if run in clique)
            for run in self.ranks
        }


def ranked(means: Floats, better: str) -> Floats:
    """The rank of each run in each data set, 1 for the best; equal means share the average of their ranks."""
    from scipy.stats import rankdata

    order = np.argsort(means if better == "lower" else -means, axis=1, kind="stable")
    ordered = np.take_along_axis(means, order, axis=1)
    largest = np.maximum(np.abs(ordered[:, 1:]), np.abs(ordered[:, :-1]))
    steps = np.cumsum(np.abs(np.diff(ordered, axis=1)) > ROUNDING_SHARE * largest, axis=1)
    place = np.zeros(means.shape)
    np.put_along_axis(place, order[:, 1:], steps, axis=1)
    return np.asarray(rankdata(place, axis=1), dtype=float)


def friedman(ranks: Floats) -> tuple[float, float]:
    """The Friedman statistic, corrected for ties, and its p-value by the chi-squared distribution.

    >>> from atkay.comparison.average_ranks import friedman
    >>> friedman(np.array([[1.0, 2.0, 3.0]] * 4))[0]  # as far apart as can be: data sets x (runs - 1)
    8.0
    """
    from scipy.special import chdtrc

    runs = ranks.shape[1]
    away = ranks - (runs + 1) / 2
    spread = float((away**2).sum())
    if not spread:
        return 0.0, 1.0
    chi_squared = (runs - 1) * float((away.sum(axis=0) ** 2).sum()) / spread
    return chi_squared, float(chdtrc(runs - 1, chi_squared))


def critical_difference(data_sets: int, runs: int) -> float:
    """Nemenyi's critical difference of average ranks at 5 %."""
    from scipy.stats import studentized_range

    if not data_sets:
        return math.nan
    quantile = float(studentized_range.ppf(1 - LEVEL, runs, math.inf)) / math.sqrt(2)
    return quantile * math.sqrt(runs * (runs + 1) / (6 * data_sets))


def _cliques(average: Floats, reach: float) -> list[slice]:
    """The largest groups of neighbours that are less than ``reach`` apart; ``average`` is in order."""
    ends = [int((average - first < reach).sum()) for first in average]
    return [slice(at, end) for at, end in enumerate(ends) if at == 0 or end > ends[at - 1]]
