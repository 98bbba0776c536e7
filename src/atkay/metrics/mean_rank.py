"""Mean rank: where the relevant items stand on average."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from atkay.judged import ties as expected
from atkay.metrics.auc import unlisted_field
from atkay.metrics.gains import check_weights
from atkay.metrics.metric import Definition, Floats, Judged, Ratio, divide, word


@dataclass(frozen=True)
class MeanRank(Ratio):
    """The mean rank of the relevant items, 1 being the top.

    ``Σ g rank / Σ g`` over the relevant items, with the weight g of each. The list must hold all candidates, without
    a cutoff.

    Conventions
    -----------
    gain
        What a relevant item weighs: ``binary`` 1; ``linear`` its grade (TF-Ranking's average relevance position).
    unlisted
        ``last`` gives relevant items that are not listed the place below the list, L + 1; ``skip`` leaves them out.
    average
        ``users`` is the mean of the users' own values; ``pooled`` weighs all users' items alike (TF-Ranking).

    An empty list has no value, nor under ``unlisted=skip`` a list without a hit. Lower is better.

    References
    ----------
    Zhu, Recall, precision and average precision, 2004.

    Examples
    --------
    Ranks 1 and 4, with weights 1 and 2: (1 + 2 * 4) / 3.

    >>> recs, truth = {"ann": ["a", "x", "y", "b"]}, {"ann": {"a": 1, "b": 2}}
    >>> result = atkay.evaluate(recs, truth, ["mean_rank", "mean_rank(gain=linear)"])
    >>> result["mean_rank"], result["mean_rank(gain=linear)"]
    (2.5, 3.0)
    """

    name = "mean_rank"
    aliases = ("average_relevance_position",)
    cuts = False
    better = "lower"
    partial = True
    bounded = False
    monotone = True
    averages = True

    gain: Literal["binary", "linear"] = word(binary="1", linear="the grade")
    unlisted: Literal["last", "skip"] = unlisted_field()

    @property
    def by_grade(self) -> bool:  # type: ignore[override]  # a word decides
        """Grades are weights."""
        return self.gain == "linear"

    def values(self, judged: Judged) -> Floats:
        return divide(*self.ratio(judged), np.nan)

    def ratio(self, judged: Judged) -> tuple[Floats, Floats]:
        """The weighted ranks, and the weights."""
        binary = self.gain == "binary"
        if not binary:
            check_weights(judged.grades)
        weight = np.ones(len(judged.rank)) if binary else judged.grade
        ranks, weights = (expected.of_list(judged, each) for each in (weight * expected.rank(judged), weight))
        if self.unlisted == "skip":
            return ranks, weights
        query = np.repeat(np.arange(judged.n_queries), judged.n_relevant)
        of_all = np.bincount(query, None if binary else judged.grades, judged.n_queries)[:, None].astype(float)
        missed = np.where(judged.total(1, self.cutoffs) < judged.n_relevant[:, None], of_all - weights, 0.0)
        some = judged.n_listed[:, None] > 0
        return (ranks + missed * (judged.n_listed[:, None] + 1)) * some, of_all * some

    def define(self) -> Definition:
        gain, weighed = ("", "") if self.gain == "binary" else ("grade · ", ", weighed by grade")
        left_out = {"last": "L + 1 for items that are not listed", "skip": "over listed items only"}[self.unlisted]
        below = "Σ grade" if gain else "R" if self.unlisted == "last" else "h"
        return Definition(f"mean of the relevant items' ranks{weighed}, {left_out}", f"Σ {gain}rank / {below}")
