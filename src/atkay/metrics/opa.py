"""Ordered pair accuracy: how often the better of two listed items stands first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from atkay.metrics.metric import DEEPEST, AllOrders, Definition, Floats, Judged, Ratio, divide
from atkay.metrics.pairs import PairCounts, pairs_of


def graded_pairs(judged: Judged, cutoffs: tuple[int, ...]) -> PairCounts:
    """The pairs of listed items of different grades, up to each cutoff: queries x cutoffs; a miss has grade 0."""
    hits, length, n = judged.total(1, cutoffs), judged.listed(cutoffs), judged.n_queries
    above = judged.total((judged.rank - judged.upto).astype(float), cutoffs)
    among_hits = np.empty((2, n, len(cutoffs)))
    for column, k in enumerate(cutoffs):
        seen = judged.rank <= k
        among_hits[:, :, column] = pairs_of(judged.query[seen], judged.grade[seen], n)
    right, wrong = among_hits
    return PairCounts(right + hits * (length - hits) - above, wrong + above)


@dataclass(frozen=True)
class OPA(Ratio):
    """How often the better of two listed items stands first.

    The pairs of items in the top k whose grades differ and of which the one with the higher grade stands first, divided
    by all pairs whose grades differ. An item that is not relevant has grade 0. With grades of 0 and 1 alone this is
    :class:`AUC` of what is listed.

    Conventions
    -----------
    average
        ``users`` is the mean of the users' shares; ``pooled`` counts every pair equally (TF-Ranking).

    A user without such a pair has no value.

    References
    ----------
    Pasumarthi et al., TF-Ranking: scalable TensorFlow library for learning-to-rank, 2019.

    Examples
    --------
    The grades are 1, 0 and 2. Of the three pairs that differ, only 1 before 0 is in the right order.

    >>> atkay.evaluate({"ann": ["a", "x", "b"]}, {"ann": {"a": 1, "b": 2}}, "opa")["opa"]
    0.3333333333333333
    """

    name = "opa"
    aliases: ClassVar[tuple[str, ...]] = ("ordered_pair_accuracy",)
    by_grade = True
    partial = True
    monotone = True
    of_one_gain = True

    def values(self, judged: Judged) -> Floats:
        lower = self.better == "lower"
        without = np.where(lower | (judged.n_relevant > 0), np.nan, 0.0)[:, None]  # as no_truth=zero has it
        right, pairs = self.ratio(judged)
        values: Floats = np.where(pairs > 0, divide(right, pairs), without)
        return values

    def ratio(self, judged: Judged) -> tuple[Floats, Floats]:
        """The pairs in the right order, and all pairs whose grades differ."""
        right, wrong = graded_pairs(judged, self.cutoffs)
        return right, right + wrong

    def all_orders(self, judged: Judged) -> AllOrders:
        """Read from below, an order has its pairs the other way round: where there are pairs, the mean is 1/2."""
        pairs = OPA.ratio(self @ DEEPEST, judged)[1]
        there = (pairs > 0) & (judged.listed(self.cutoffs) > 1)
        best = float(self.better == "higher")
        return AllOrders(np.where(there, 0.5, np.nan), np.where(there, best, np.nan))

    def define(self) -> Definition:
        return Definition(
            f"pairs of items in {self.top} of which the one with the higher grade stands first, divided by all pairs "
            "whose grades differ",
            "C / (C + D)",
        )
