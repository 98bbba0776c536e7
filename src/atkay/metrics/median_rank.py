"""Median rank: where the middle user's first relevant item stands."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from atkay.metrics.metric import WHOLE, Definition, Floats, Ints, Judged, RunMetric, word


@dataclass(frozen=True)
class MedianRank(RunMetric):
    """The rank at which the median user finds the first relevant item.

    The median, over the users with relevant items, of the rank of the first hit in the top k. With an even number of
    users it is the mean of the two middle ranks.

    Conventions
    -----------
    missed
        What the rank of a user without a hit is. ``beyond``: below every other, so that there is no median once a
        middle user is one of them; ``last``: k + 1, or without a cutoff L + 1, one place below the user's list (an
        empty list then stays beyond): for full rankings; ``skip``: such a user does not count, which flatters a run
        that misses much.

    Users without a relevant item do not count, whatever the protocol says. Lower is better.

    References
    ----------
    Hodosh, Young and Hockenmaier, Framing image description as a ranking task, 2013.

    Examples
    --------
    The first hits stand at ranks 1 and 3, and Cat has none: sorted, the ranks are 1, 3 and beyond.

    >>> recs = {"ann": ["a"], "bob": ["x", "y", "a"], "cat": ["x"]}
    >>> truth = {"ann": ["a"], "bob": ["a"], "cat": ["a"]}
    >>> atkay.evaluate(recs, truth, "median_rank")["median_rank"]
    3.0
    """

    name = "median_rank"
    aliases = ("medr", "med_r")
    needs_truth = True
    better = "lower"
    least = 1.0
    bounded = False

    missed: Literal["beyond", "last", "skip"] = word(
        beyond="a user without a hit is below every rank",
        last="a user without a hit has rank k + 1, or one below the list's end",
        skip="a user without a hit does not count",
    )

    def state(self, judged: Judged) -> Ints:
        """How many users have their first hit at each rank, from 1; the last number counts those beyond."""
        first = judged.nth == 1
        ranks = np.full(judged.n_queries, WHOLE)
        ranks[judged.query[first]] = judged.rank[first]
        length, some = judged.n_listed, judged.n_relevant > 0
        bins = judged.lists.n_items + 2  # a list has each item once, so the rank below its end is the deepest there is
        out = np.empty((len(self.cutoffs), bins), np.int64)
        for at, k in enumerate(self.cutoffs):
            place = np.where(ranks <= min(k, WHOLE - 1), ranks, bins)
            if self.missed == "last" and k == WHOLE:
                place = np.where((place == bins) & (length > 0), length + 1, place)
            out[at] = np.bincount(place[some] - 1, minlength=bins)
        return out

    def users(self, judged: Judged) -> Ints:
        """Users with a relevant item or, where the others are skipped, with a hit."""
        some = judged.total(1, self.cutoffs) if self.missed == "skip" else judged.capped(self.cutoffs)
        users: Ints = np.count_nonzero(some, axis=0)
        return users

    def finish(self, state: Ints, judged: Judged) -> Floats:
        """The median at each cutoff."""
        medians = np.full(len(self.cutoffs), np.nan)
        for at, (k, counts) in enumerate(zip(self.cutoffs, state, strict=True)):
            running = np.cumsum(counts[:-1] if self.missed == "skip" else counts)
            if running[-1] == 0:
                continue
            middle = np.searchsorted(running, [(running[-1] - 1) // 2, running[-1] // 2], side="right") + 1.0
            beyond = k + 1.0 if self.missed == "last" and k != WHOLE else np.nan
            medians[at] = np.where(middle == len(counts), beyond, middle).mean()
        return medians

    def define(self) -> Definition:
        place = "one place below the list" if self.k is None else f"rank {int(self.cutoffs[0]) + 1}"
        missed = {
            "beyond": "one without being below all others",
            "last": f"one without having {place}",
            "skip": "one without being left out",
        }[self.missed]
        return Definition(
            f"median over users of the rank of the first relevant item in {self.top}, {missed}", "median of rank"
        )
