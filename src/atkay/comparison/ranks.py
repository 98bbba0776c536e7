"""Rank intervals: which ranks a run could have among all users, by a bootstrap of all its differences at once."""

from __future__ import annotations

import math
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from atkay.comparison.tiers import places, ranked_metrics
from atkay.comparison.trial import Trial
from atkay.comparison.verdict import LEVEL, way
from atkay.results.numbers import Numbers
from atkay.text.progress import Steps

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from atkay.comparison.comparison import Comparison
    from atkay.comparison.difference import Difference
    from atkay.core.types import Bools, Floats

SAMPLES, SAMPLES_PER_RUN = 2_000, 20
"""Bootstrap samples: at least 2,000, and 20 per run, because more runs need smaller p-values."""


class RankInterval(NamedTuple):
    """The rank of a run's mean, 1 for the best, and the 95 % interval of its rank."""

    rank: int
    low: int
    high: int


class RankIntervals(Numbers[dict[str, RankInterval]]):
    """The interval of each run in each metric that has ranks, best first."""

    holder = "table of ranks"
    lack = "has no direction, or was not tested"


def rank_intervals_of(comparison: Comparison) -> RankIntervals:
    """For each run the ranks that these users do not exclude.

    A run is compared with all others by one bootstrap. Its rank is at least 1 + the number of runs that are
    significantly better, and at most the number of runs less those that are significantly worse. That these are all
    right has a probability of 95 %, for each run by itself.

    Every pair's p-value is that of the comparison's own test; the bootstrap says how the pairs hang together, in place
    of a correction that assumes the worst.

    Mogstad, Romano, Shaikh and Wilhelm, Inference for ranks, 2024.
    """
    if comparison.sheet is None:
        return RankIntervals()
    runs = comparison.runs
    pairs = list(combinations(range(len(runs)), 2))
    column = {frozenset((runs[one], runs[other])): at for at, (one, other) in enumerate(pairs)}
    metrics, samples = ranked_metrics(comparison), max(SAMPLES, SAMPLES_PER_RUN * len(runs))
    intervals = RankIntervals()
    with Steps("ranking", len(metrics)) as steps:
        for paired in comparison.sheet.paired():
            if (name := str(paired.metric)) in metrics:
                trial = Trial([paired], pairs, samples, comparison.rng, (0,), steps, spread=False)
                differences = [each for each in comparison.every_pair if each.metric == name]
                own = [column[frozenset((each.run, each.against))] for each in differences]
                tails = rarity(trial.drawn.away[:, 0, own])
                intervals[name] = _intervals(places(comparison, name), differences, tails)
                steps.next()
    return intervals


def _intervals(places: Mapping[str, int], differences: Sequence[Difference], tails: Floats) -> dict[str, RankInterval]:
    """The intervals of one metric; ranks are counted among the runs that have a mean."""
    p = np.array([each.p.get(each.decided_by or "", math.nan) for each in differences])
    intervals = {}
    for run, rank in places.items():
        own = [at for at, each in enumerate(differences) if run in (each.run, each.against) and not math.isnan(p[at])]
        decided = [differences[at] for at in np.array(own)[significant(p[own], tails[:, own])]]
        ways = [
            way(each.better, each.difference if run == each.run else -each.difference)
            for each in decided
            if each.decided_by not in each.opposite
        ]
        low, high = 1 + ways.count("worse"), len(places) - ways.count("better")
        intervals[run] = RankInterval(rank, min(rank, low), max(rank, high))  # means may be of other users
    return intervals


def rarity(away: Floats) -> Floats:
    """Samples x pairs: the share of a pair's samples that are at least as far from its difference as each of them."""
    from scipy.stats import rankdata

    return np.asarray(rankdata(-np.abs(away), method="max", axis=0)) / len(away)


def significant(p: Floats, tails: Floats) -> Bools:
    """Which of a family of p-values are significant together, step by step: what is decided leaves the family.

    Westfall and Young, Resampling-based multiple testing, 1993 (step-down min p).
    """
    decided = np.zeros(len(p), bool)
    while not decided.all():
        reached = (tails[:, ~decided].min(axis=1)[:, None] <= p).sum(axis=0)
        more = ~decided & ((reached + 1) / (len(tails) + 1) < LEVEL)
        if not more.any():
            break
        decided |= more
    return decided
