"""nDCG at the places where the ideal list changes its grade, averaged."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from atkay.metrics.gains import settled_gain
from atkay.metrics.metric import AllOrders, Definition, Floats, Ints, Judged, Metric, divide
from atkay.metrics.ndcg_rel import Curves, discounts_upto, gain_field
from atkay.words import Scale


@dataclass(frozen=True)
class RNDCG(Metric):
    """nDCG where the ideal list changes its grade, averaged: cutoffs that follow from the truth (trec_eval's Rndcg).

    The mean of ``DCG@n / IDCG@n`` over the numbers n of relevant items of the highest grade, of the two highest, and so
    on down to all R of them; and of the nDCG of the whole list, if it has two places more than that, R + 2 at least.
    With DCG as in :class:`DCG`.

    Conventions
    -----------
    gain
        ``linear`` is the grade (trec_eval), ``exp2`` 2^grade - 1, ``binary`` 1 for every relevant item, where all of
        them are one level; or a table, as in :class:`DCG`: grades of the same gain are one level.

    No hit scores 0. Under the protocol's ``gains=positive`` every grade above 0 counts, but a user without an item that
    is relevant scores 0, as in trec_eval.

    References
    ----------
    The help of trec_eval's measure Rndcg, 2008.

    Examples
    --------
    One item of grade 2 and one of grade 1, listed the wrong way round: nDCG is 1/2 at 1, and at 2
    (1 + 2/log2(3)) / (2 + 1/log2(3)) = 0.8597; their mean.

    >>> result = atkay.evaluate({"ann": ["b", "a"]}, {"ann": {"a": 2, "b": 1}}, "rndcg")
    >>> round(result["rndcg"], 4)
    0.6799
    """

    name = "rndcg"
    cuts = False
    monotone = True

    gain: Literal["linear", "exp2", "binary"] | Scale = gain_field()

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "gain", settled_gain(self.name, self.gain))

    @property
    def of_one_gain(self) -> bool:  # type: ignore[override]  # a word decides
        """Grades count, but for binary gains."""
        return self.gain != "binary"

    def view(self, judged: Judged) -> Judged:
        """Every grade that counts. A user without a relevant item scores 0, unlike in metrics ``by_grade``."""
        return judged.graded or judged

    def values(self, judged: Judged) -> Floats:
        curves = Curves.of(judged, self.gain)

        def dcg(query: Ints, depth: Ints) -> Floats:
            """DCG of the last hit down to the depth: hits are in the order of query and rank."""
            stride = int(max(judged.rank.max(initial=0), depth.max(initial=0))) + 1
            hit = np.searchsorted(judged.query * stride + judged.rank, query * stride + depth, side="right") - 1
            there = np.flatnonzero(hit >= 0)
            there = there[judged.query[hit[there]] == query[there]]
            out = np.zeros(len(query))
            out[there] = curves.dcg[hit[there]]
            return out

        return self._mean(judged, curves, dcg)

    def all_orders(self, judged: Judged) -> AllOrders:
        """The list's gain is spread evenly over its places."""
        curves, upto, length = Curves.of(judged, self.gain), discounts_upto(judged.n_listed), judged.n_listed
        gained = divide(np.bincount(judged.query, curves.worth, judged.n_queries), length.astype(float))

        def dcg(query: Ints, depth: Ints) -> Floats:
            return gained[query] * upto[np.minimum(depth, length[query])]

        return AllOrders(self._mean(judged, curves, dcg))

    def _mean(self, judged: Judged, curves: Curves, dcg: Callable[[Ints, Ints], Floats]) -> Floats:
        next_gain = np.append(curves.ideal[1:], -1.0)
        next_gain[judged.edges[1:][judged.n_relevant > 0] - 1] = -1.0  # the last of each query ends a level, too
        at = np.flatnonzero((curves.ideal != next_gain) & (curves.ideal > 0))
        query, every = curves.owner[at], np.arange(judged.n_queries)
        at_levels = dcg(query, curves.place[at]) / curves.ideal_dcg[at]
        total, n = (np.bincount(query, each, judged.n_queries) for each in (at_levels, np.ones(len(at))))
        longer = (judged.n_listed > curves.n_gaining + 1) & (n > 0)
        whole = divide(dcg(every, judged.n_listed), curves.ends(judged)[1])
        return divide(total + longer * whole, n + longer)[:, None]

    def define(self) -> Definition:
        return Definition(
            "nDCG at each number of items at which the ideal list changes its grade, and of the whole list if it has "
            "two places more than relevant items, averaged",
            "mean DCG@n / IDCG@n",
        )
