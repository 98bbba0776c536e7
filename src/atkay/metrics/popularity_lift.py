"""Popularity lift: how much more popular the list is than the user's history."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from atkay.metrics.metric import Definition, Floats, Judged, Ratio, divide
from atkay.metrics.popularity import mean_of_listed


@dataclass(frozen=True)
class PopularityLift(Ratio):
    """How much more popular the listed items are than what the user had before.

    ``(popularity of the list - popularity of the history) / popularity of the history``, each the mean of n_i over
    its items, with n_i the number of training users of item i. It needs ``train``. 0 keeps to the user's taste, 1 is
    twice as popular, -1 lists only items without training users.

    Conventions
    -----------
    average
        ``users`` is the mean of the users' lifts. ``pooled`` divides the sums over users of numerator and denominator,
        which is the lift of a group of Abdollahpouri et al.: its means of popularity, averaged over users, compared.

    A user without history has no value, nor has an empty list; they are not in the sums either.

    References
    ----------
    Abdollahpouri, Mansoury, Burke and Mobasher, The connection between popularity bias, calibration, and fairness in
    recommendation, 2020.

    Examples
    --------
    Three users had tea, one had jam. Ann had both, (3 + 1) / 2 = 2 on average, and is shown tea: (3 - 2) / 2.

    >>> train = {"ann": ["tea", "jam"], "bob": ["tea"], "cat": ["tea"]}
    >>> atkay.evaluate({"ann": ["tea"]}, {"ann": ["tea"]}, "popularity_lift@1", train=train)["popularity_lift@1"]
    0.5
    """

    name = "popularity_lift"
    needs = ("train",)
    needs_truth = False
    reads_lists = True
    looks_back = True
    better = "neither"
    least = -1.0
    bounded = False

    def ratio(self, judged: Judged) -> tuple[Floats, Floats]:
        """The difference and the history's popularity; both 0 where the user has no history or no list."""
        popularity, history = judged.train.popularity, judged.train.history
        listed = mean_of_listed(judged, popularity.astype(float), self.cutoffs)
        had = np.full((judged.n_queries, 1), np.nan)
        some = np.flatnonzero(history.length)
        if len(some):
            total = np.add.reduceat(popularity.take(history.item), history.start[some])
            had[some, 0] = total / history.length[some]
        before = np.broadcast_to(had, listed.shape)
        there = ~np.isnan(listed) & ~np.isnan(before)
        return np.where(there, listed - before, 0.0), np.where(there, before, 0.0)

    def values(self, judged: Judged) -> Floats:
        return divide(*self.ratio(judged), np.nan)

    def define(self) -> Definition:
        return Definition(
            f"mean number of training users of the items of {self.top}, less that of the user's own training items, "
            "divided by the latter",
            "(mean n_i of list - mean n_i of history) / mean n_i of history",
        )
