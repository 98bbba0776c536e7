"""Mean reciprocal rank: how early the first relevant item comes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from atkay.judged import ties as expected
from atkay.metrics.metric import Definition, Floats, Judged, Metric, word


@dataclass(frozen=True)
class MRR(Metric):
    """How early the first relevant item comes.

    ``1 / rank`` of the target in the top k, 0 if it is not there.

    Conventions
    -----------
    target
        ``any`` takes the first relevant item, as every library does; ``best`` waits for the item of the highest grade
        in the user's truth (the first one, where several share it), as in "where did we put the most visited place?".

    Without a hit in the top k the value is 0.

    References
    ----------
    Voorhees, The TREC-8 Question Answering Track Report, 1999.

    Examples
    --------
    The first relevant item stands at rank 2, the best one at rank 3:

    >>> result = atkay.evaluate({"ann": ["x", "b", "a"]}, {"ann": {"a": 3, "b": 1}}, ["mrr", "mrr(target=best)"])
    >>> result["mrr"], round(result["mrr(target=best)"], 4)
    (0.5, 0.3333)
    """

    name = "mrr"
    aliases = ("rr", "reciprocal_rank", "recip_rank", "mean_reciprocal_rank")
    monotone = True
    averages = True
    repeats = True
    by_score = True

    target: Literal["any", "best"] = word(
        any="the first relevant item",
        best="the item of the highest grade",
    )

    def values(self, judged: Judged) -> Floats:
        if judged.averaged:
            any_of = np.ones(len(judged.query), bool)
            counts = any_of if self.target == "any" else judged.grade == judged.best[judged.query]
            return expected.reciprocal(judged, counts, self.cutoffs)
        if self.target == "any":
            return judged.total((judged.nth == 1) / judged.rank, self.cutoffs)
        best = np.flatnonzero(judged.grade == judged.best[judged.query])
        query = judged.query[best]
        first = best[np.flatnonzero(np.diff(query, prepend=-1))]
        weights = np.zeros(len(judged.rank))
        weights[first] = 1 / judged.rank[first]
        return judged.total(weights, self.cutoffs)

    def expression(self, judged: Judged) -> str:
        ranks = judged.rank if self.target == "any" else judged.rank[judged.grade == judged.best[judged.query]]
        ranks = ranks[ranks <= self.cutoffs[0]]
        return f"1 / {ranks[0]}" if len(ranks) else "0"

    def define(self) -> Definition:
        target = "first relevant item" if self.target == "any" else "relevant item with the highest grade"
        return Definition(f"1 / rank of the {target} in {self.top}, 0 where there is none", "1 / rank")
