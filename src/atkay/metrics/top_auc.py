"""AUC of the top k: how often a relevant item ranks above an irrelevant one among the items shown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from atkay.metrics.metric import WHOLE, AllOrders, Definition, Floats, Ints, Judged, Ratio, divide, word
from atkay.metrics.worked import printed


@dataclass(frozen=True)
class TopAUC(Ratio):
    """How often a relevant item ranks above an irrelevant one among the top k alone.

    ``Σ (m - (rank - nth)) / (h m)`` over the h hits in the top k, of which m items are not hits. What the list misses
    does not count: a list whose one hit stands first scores 1, however many relevant items it lacks. For the order of
    all candidates there is :class:`AUC`.

    Conventions
    -----------
    one_kind
        A list whose top k has no hit, or nothing but hits, and so no pair: ``skip`` gives no value (the accuracy of
        ir-measures, where hits alone are an error); ``zero`` scores 0 (torchmetrics); ``hit`` scores 1 for hits alone
        and 0 without a hit (RePlay).
    average
        ``users`` is the mean of the users' values; ``pooled`` counts every pair equally.

    References
    ----------
    Hanley and McNeil, The meaning and use of the area under a receiver operating characteristic (ROC) curve, 1982.

    Examples
    --------
    Hits at ranks 1 and 3, irrelevant items at 2 and 4: of four pairs one is in the wrong order. In the top 2 there is
    one pair, in the right order.

    >>> result = atkay.evaluate({"ann": ["a", "x", "b", "y"]}, {"ann": ["a", "b", "c"]}, ["top_auc@4", "top_auc@2"])
    >>> result["top_auc@4"], result["top_auc@2"]
    (0.75, 1.0)
    """

    name = "top_auc"
    partial = True
    monotone = True

    one_kind: Literal["skip", "zero", "hit"] = word(
        skip="a list without a pair has no value",
        zero="a list without a pair scores 0",
        hit="a list without a pair scores 1 where it has a hit, else 0",
    )

    def values(self, judged: Judged) -> Floats:
        right, pairs = self.ratio(judged)
        hits = judged.total(1, self.cutoffs) > 0
        without = hits.astype(float) if self.one_kind == "hit" else np.nan if self.one_kind == "skip" else 0.0
        values: Floats = np.where(pairs > 0, divide(right, pairs), without)
        return values

    def ratio(self, judged: Judged) -> tuple[Floats, Floats]:
        """The pairs in the right order, and all pairs."""
        hits = judged.total(1, self.cutoffs)
        pairs = hits * (judged.listed(self.cutoffs) - hits)
        return pairs - judged.total((judged.rank - judged.upto).astype(float), self.cutoffs), pairs

    def all_orders(self, judged: Judged) -> AllOrders | None:
        """Read from below, an order has its pairs the other way round: where there are pairs, the mean is 1/2."""
        hits, listed, top = judged.total(1, (WHOLE,)), judged.n_listed[:, None], judged.listed(self.cutoffs)
        mixed = (hits > 0) & (hits < listed) & (top > 1)
        if self.one_kind == "skip":
            return AllOrders(np.where(mixed, 0.5, np.nan), np.where(mixed, 1.0, np.nan))
        if self.average == "pooled":
            return None
        # The chance that the top has hits alone, and that it has none.
        alone, without = (_all_of(each, listed, top) for each in (hits, listed - hits))
        by_hits = np.zeros(top.shape) if self.one_kind == "zero" else alone
        best = mixed if self.one_kind == "zero" else hits * top > 0
        return AllOrders(by_hits + (1 - alone - without) * mixed / 2, best.astype(float))

    def expression(self, judged: Judged) -> str:
        """The pairs, or the value of a list without any."""
        return super().expression(judged) if self.ratio(judged)[1][0, 0] else printed(float(self.values(judged)[0, 0]))

    def define(self) -> Definition:
        without = {"skip": "", "zero": ", 0 where there is none", "hit": ", else 1 with a hit and 0 without"}
        return Definition(
            f"pairs of a hit and another item of {self.top} in the right order, divided by all such pairs"
            + without[self.one_kind],
            "Σ (m - (rank - nth)) / (h m), m = L - h",
        )


def _all_of(kind: Floats, listed: Ints, top: Ints) -> Floats:
    """The chance that all items of the top are among those of one kind, C(kind, top) / C(listed, top)."""
    chance = np.ones(top.shape)
    for place in range(int(np.minimum(top, kind + 1).max(initial=0))):
        chance *= np.where(place < top, np.maximum(kind - place, 0) / np.maximum(listed - place, 1), 1.0)
    return chance
