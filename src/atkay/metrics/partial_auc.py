"""Partial AUC: AUC against the k irrelevant items that stand highest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from atkay.metrics.metric import WHOLE, AllOrders, Definition, Floats, Ints, Judged, Metric, divide, word
from atkay.metrics.shuffled import over_misses_above


@dataclass(frozen=True)
class PartialAUC(Metric):
    """How often a relevant item ranks above one of the k irrelevant items that stand highest.

    ``Σ max(0, k - (rank - nth)) / (k R)`` over the hits of the whole list: a hit with rank - nth irrelevant items above
    it has the others of the first k below. The k counts irrelevant items and not ranks, so lists should have R + k
    items. A relevant item that is not listed ranks below all of them.

    Conventions
    -----------
    relevant
        ``all`` counts every relevant item (pAUC); ``top`` only the first k hits, over k min(k, R) (PAP).
    short
        A list with fewer than k irrelevant items that misses a relevant one: ``ignore`` counts it as it is (RecTools'
        default); ``skip`` gives no value (RecTools' ``exclude``).

    Without a cutoff k is the number of irrelevant items in the list, and a user without any has no value.

    References
    ----------
    Budhiraja et al., Rich-item recommendations for rich-users: exploiting dynamic and static side information, 2020.

    Examples
    --------
    Hits at ranks 1 and 3, one irrelevant item between them, k = 2: the first has 2 of 2 below it, the second 1.

    >>> result = atkay.evaluate({"ann": ["a", "x", "b", "y"]}, {"ann": ["a", "b"]}, "partial_auc@2")
    >>> result["partial_auc@2"]
    0.75
    """

    name = "partial_auc"
    aliases = ("pauc",)
    partial = True
    monotone = True

    relevant: Literal["all", "top"] = word(all="every relevant item", top="the first k hits")
    short: Literal["ignore", "skip"] = word(
        ignore="a list with fewer than k irrelevant items counts as it is",
        skip="a list with fewer than k irrelevant items that misses a relevant one has no value",
    )

    @property
    def reach(self) -> int:
        """The k irrelevant items may stand anywhere."""
        return WHOLE

    def values(self, judged: Judged) -> Floats:
        hits = judged.total(1, (WHOLE,))[:, 0]
        irrelevant = judged.n_listed - hits
        above = judged.rank - judged.nth
        out = np.empty((judged.n_queries, len(self.cutoffs)))
        for column, k in enumerate(self.cutoffs):
            limit = irrelevant if k == WHOLE else np.full(judged.n_queries, float(k))
            below = np.maximum(limit[judged.query] - above, 0)
            if self.relevant == "top":
                below = np.where(judged.nth <= limit[judged.query], below, 0)
            most = np.minimum(limit, judged.n_relevant) if self.relevant == "top" else judged.n_relevant
            out[:, column] = divide(np.bincount(judged.query, below, judged.n_queries), limit * most, np.nan)
            if self.short == "skip":
                out[(irrelevant < limit) & (hits < judged.n_relevant), column] = np.nan
        return out

    def all_orders(self, judged: Judged) -> AllOrders | None:
        """Each hit has the irrelevant items above it in any number, if all hits count."""
        hits = judged.total(1, (WHOLE,))
        misses = judged.n_listed - hits[:, 0].astype(np.int64)
        limit = np.where(np.array(self.cutoffs) == WHOLE, misses[:, None], self.cutoffs).astype(float)
        if self.relevant == "top" and (hits > limit).any():
            return None

        def mean(column: Floats) -> Floats:
            def worth(query: Ints, above: Ints) -> Floats:
                return np.maximum(column[query] - above, 0)

            return over_misses_above(misses, judged.n_listed, worth, (WHOLE,))[:, 0]

        defined = np.where(np.isnan(self.values(judged)), np.nan, limit)
        most = np.minimum(limit, judged.n_relevant[:, None]) if self.relevant == "top" else judged.n_relevant[:, None]
        return AllOrders(divide(hits * np.array(list(map(mean, limit.T))).T, defined * most, np.nan))

    def define(self) -> Definition:
        k = "N" if self.k is None else str(self.k)
        which = "the highest irrelevant items" if self.k is None else f"the {self.k} highest irrelevant items"
        most = f"min({k}, R)" if self.relevant == "top" else "R"
        of = f"the first {k} hits" if self.relevant == "top" else "the relevant items"
        return Definition(
            f"pairs of one of {of} and one of {which} in the right order, divided by {k} · {most}",
            f"Σ max(0, {k} - (rank - nth)) / ({k} · {most})",
        )
