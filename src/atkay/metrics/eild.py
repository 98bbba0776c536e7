"""Expected intra-list diversity: how far apart the items are that a user reads, and finds relevant."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from atkay.core.kernels import sums
from atkay.metrics.distances import Distance, OfPairs, pairs
from atkay.metrics.epc import WEIGHTS
from atkay.metrics.metric import Bools, Definition, Floats, Judged, divide, word


@dataclass(frozen=True)
class EILD(OfPairs):
    """How different from each other the relevant items of a list are, for a reader who may stop: expected ILD.

    ``Σ w(i) · rel_i · D_i / Σ w(i)`` over the ranks i of the top k, where D_i is the mean distance of the item at rank
    i to the relevant items at all other ranks j, with weights w(j - i) below it, and w(1) above it: whoever looks at i
    has seen what stands above.

    Conventions
    -----------
    by
        What the distance is made of, as in :class:`~atkay.ILD`. ``features``: 1 - cosine of the items' vectors.
        ``euclidean``: the length of the difference of the vectors. ``hamming``: the number of features in which the
        vectors differ. ``categories``: 1 - Jaccard similarity of the items' categories. ``cooccurrence``:
        1 - n_ij / √(n_i n_j), from ``train``; the others need ``features``.
    unknown
        What happens to an item of which nothing is known. ``skip`` leaves it out, of the divisor, too; ``apart`` puts
        it at distance 1 from every item.
    discount
        ``log2`` has w(n) = 1 / log2(n + 1); ``flat`` has 1 for every n.
    relevance
        ``hits`` counts relevant items only (rel is 1 or 0); ``listed`` counts all items, relevant or not: the
        diversity of the list by itself, which with ``discount=flat`` is that of :class:`~atkay.ILD`.

    A list with fewer than two relevant items scores 0; under ``relevance=listed`` a list with fewer than two items that
    count has no value.

    References
    ----------
    Vargas and Castells, Rank and relevance in novelty and diversity metrics for recommender systems, 2011. RankSys,
    which counts unknown items in the divisor.

    Examples
    --------
    Tea and rum are relevant and share one of three categories, d = 2/3, which is the mean of both. They stand at ranks
    1 and 3: (2/3 · 1 + 2/3 · 0.5) / (1 + 0.630930 + 0.5).

    >>> features = {"tea": ["drink", "hot"], "rye": ["bread"], "rum": ["drink", "strong"]}
    >>> lists, truth = {"ann": ["tea", "rye", "rum"]}, {"ann": ["tea", "rum"]}
    >>> result = atkay.evaluate(lists, truth, "eild(by=categories)@3", features=features)
    >>> round(result["eild(by=categories)@3"], 6)
    0.469279
    """

    name = "eild"
    aliases = ("expected_intra_list_diversity", "expected_intra_list_distance")

    discount: Literal["log2", "flat"] = word(log2="1 / log2(rank + 1)", flat="every rank has the same weight")
    relevance: Literal["hits", "listed"] = word(hits="relevant items only", listed="all items, relevant or not")

    @property
    def needs_truth(self) -> bool:  # type: ignore[override]  # a word decides
        """Where all items count, none has to be relevant."""
        return self.relevance == "hits"

    @property
    def better(self) -> str:  # type: ignore[override]  # a word decides
        """How diverse a list should be depends on the product."""
        return "higher" if self.relevance == "hits" else "neither"

    @property
    def by_item(self) -> bool:  # type: ignore[override]  # a word decides
        """Items differ in their distances; where all places count alike, the whole top k counts as one."""
        return self.relevance == "hits" or self.discount == "log2"

    def values(self, judged: Judged) -> Floats:
        return self.by_parts(judged, self.known(judged), self._expected)

    def _expected(self, judged: Judged, known: Bools, distance: Distance) -> Floats:
        places, weigh, n_queries = judged.top(self.reach), WEIGHTS[self.discount], judged.n_queries
        counts = known if self.unknown == "skip" else np.ones(len(known), bool)
        rel = np.ones(len(known))
        if self.relevance == "hits":
            inside = np.flatnonzero(judged.rank <= self.reach)
            length = judged.listed((self.reach,))[:, 0]
            rel = np.zeros(len(known))
            rel[(np.cumsum(length) - length).take(judged.query[inside]) + judged.rank[inside] - 1] = 1
        # The distances of each row to the others up to each cutoff, and what they weigh: rows x cutoffs.
        total, weight = (np.zeros((len(known), len(self.cutoffs))) for _ in range(2))
        for upper, lower in pairs(judged, self.reach, counts):
            apart, both = np.ones(len(upper)), known.take(upper) & known.take(lower)
            apart[both] = distance(upper[both], lower[both])
            rank = places.rank.take(lower)
            reached = rank[:, None] <= np.array(self.cutoffs)
            below = weigh(rank - places.rank.take(upper)) * rel.take(lower)
            for row, each in ((upper, below), (lower, rel.take(upper))):
                weight[row] += each[:, None] * reached
                total[row] += (each * apart)[:, None] * reached
        worth = (weigh(places.rank) * rel)[:, None] * divide(total, weight)
        above = [
            sums(places.query, places.rank, column, (k,), n_queries)[:, 0]
            for column, k in zip(worth.T, self.cutoffs, strict=True)
        ]
        per = judged.over_list(weigh(places.rank) * counts, self.cutoffs)
        values = divide(np.array(above).T, per)
        if self.relevance == "hits":
            return values
        return np.where(judged.over_list(counts.astype(float), self.cutoffs) > 1, values, np.nan)

    def define(self) -> Definition:
        distance, formula = self.distance
        relevant = "relevant " if self.relevance == "hits" else ""
        how = "weighted by 1 / log2(rank + 1)" if self.discount == "log2" else "with equal weights"
        rel = "rel_i · " if self.relevance == "hits" else ""
        return Definition(
            f"{distance}, averaged for each {relevant}item over the other {relevant}items of {self.top}, and over the "
            f"items, {how}, {self.left_out}",
            f"Σ w_i · {rel}D_i / Σ w_i, D_i = mean {formula}",
        )
