"""Expected popularity complement: how many did not know a listed item."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from atkay.core.kernels import sums
from atkay.metrics.gains import DISCOUNTS
from atkay.metrics.metric import Definition, Floats, Ints, Judged, Metric, divide, word

WEIGHTS: dict[str, Callable[[Ints], Floats]] = {
    "log2": lambda rank: 1 / DISCOUNTS["log2"](rank),
    "flat": lambda rank: np.ones(len(rank)),
}


@dataclass(frozen=True)
class EPC(Metric):
    """How unknown the relevant items of the list are: expected popularity complement.

    ``Σ w(j) · rel_j · (1 - n_i / |U|) / Σ w(j)`` over the items in the top k, with j the rank of item i, n_i the number
    of its training users and |U| that of all training users. It needs ``train``.

    Conventions
    -----------
    discount
        ``log2`` has w(j) = 1 / log2(j + 1); ``flat`` has 1 for every rank.
    relevance
        ``hits`` counts relevant items only (rel is 1 or 0); ``listed`` counts all items, relevant or not: the novelty
        of the list by itself.

    An item without training users counts in full. An empty list scores 0, and has no value under ``relevance=listed``.

    References
    ----------
    Vargas and Castells, Rank and relevance in novelty and diversity metrics for recommender systems, 2011.

    Examples
    --------
    One of four users had a, two had b; both are relevant: (3/4 / log2(2) + 2/4 / log2(3)) / (1 / log2(2) + 1 / log2(3))
    = 1.065465 / 1.630930.

    >>> train = {"ann": ["x"], "bob": ["a", "b"], "cat": ["b"], "dan": ["x"]}
    >>> result = atkay.evaluate({"ann": ["a", "b"]}, {"ann": ["a", "b"]}, "epc@2", train=train)
    >>> round(result["epc@2"], 6)
    0.653287
    """

    name = "epc"
    reads_lists = True
    aliases = ("expected_popularity_complement",)
    needs = ("train",)

    discount: Literal["log2", "flat"] = word(log2="1 / log2(rank + 1)", flat="every rank has the same weight")
    relevance: Literal["hits", "listed"] = word(hits="relevant items only", listed="all items, relevant or not")

    @property
    def needs_truth(self) -> bool:  # type: ignore[override]  # a word decides
        """Where all items count, none has to be relevant."""
        return self.relevance == "hits"

    @property
    def better(self) -> str:  # type: ignore[override]  # a word decides
        """How novel a list should be depends on the product."""
        return "higher" if self.relevance == "hits" else "neither"

    @property
    def by_item(self) -> bool:  # type: ignore[override]  # a word decides
        """Items differ in popularity; where all places count alike, the whole top k counts as one."""
        return self.relevance == "hits" or self.discount == "log2"

    def values(self, judged: Judged) -> Floats:
        return self._expected(judged, 1 - judged.train.popularity / judged.train.users)

    def _expected(self, judged: Judged, worth: Floats, counted: Floats | None = None) -> Floats:
        """The mean of what items are worth by the weights of their ranks; ``counted`` is 0 for items left out."""
        weight, cutoffs = WEIGHTS[self.discount], self.cutoffs
        if counted is None:
            # Summed in rank order as the numerator is, so that no value exceeds the worth of the best item.
            listed = judged.listed(cutoffs)
            per = np.concatenate(([0.0], np.cumsum(weight(np.arange(1, listed.max(initial=0) + 1)))))[listed]
        if counted is not None or self.relevance == "listed":
            places = judged.top(max(cutoffs))
            weights = weight(places.rank)
            if counted is not None:
                per = judged.over_list(weights * counted.take(places.item), cutoffs)
        if self.relevance == "listed":
            total = judged.over_list(weights * worth.take(places.item), cutoffs)
            return np.where(per > 0, divide(total, per), np.nan)
        inside = np.flatnonzero(judged.rank <= max(cutoffs))
        query, rank, item = judged.query[inside], judged.rank[inside], judged.item[inside]
        return divide(sums(query, rank, weight(rank) * worth.take(item), cutoffs, judged.n_queries), per)

    def define(self) -> Definition:
        return self._in_words("share of the training users that did not have an item", "(1 - n_i / |U|)")

    def _in_words(self, words: str, term: str) -> Definition:
        weight = {"log2": "1 / log2(rank + 1)", "flat": "1"}[self.discount]
        about = ", 0 for an item that is not relevant" if self.relevance == "hits" else ""
        how = f"weighted by {weight}" if self.discount == "log2" else "with equal weights"
        rel = "rel · " if self.relevance == "hits" else ""
        return Definition(
            f"{words}{about}, averaged over the items of {self.top}, {how}", f"Σ w · {rel}{term} / Σ w, w = {weight}"
        )
