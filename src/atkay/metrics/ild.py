"""Intra-list distance: how far apart the items of a list are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from atkay.core.bits import count_bits
from atkay.core.kernels import sums
from atkay.metrics.categories import categories_of, in_blocks, masks, spread
from atkay.metrics.metric import Bools, Definition, Floats, Ints, Judged, ListMetric, divide, word
from atkay.metrics.vectors import unit_vectors, vectors_of

Distance = Callable[[Ints, Ints], Floats]
"""Distances of pairs of rows of ``judged.top``."""


@dataclass(frozen=True)
class ILD(ListMetric):
    """How different the items of one list are from each other: the intra-list distance.

    The mean of ``d(i, j)`` over all pairs of items in the top k.

    Conventions
    -----------
    by
        What the distance is made of. ``features``: 1 - cosine of the items' vectors (0 to 2). ``euclidean``: the
        length of the difference of the vectors. ``categories``: 1 - |A ∩ B| / |A ∪ B| for the items' sets of
        categories (Jaccard). ``cooccurrence``: 1 - n_ij / √(n_i n_j), with n_i the training users of item i and n_ij
        those of both; this one needs ``train``, the others need ``features``.
    unknown
        What happens to an item of which nothing is known: no vector, or one of zeros where a cosine is taken; no
        category; no training user. ``skip`` leaves its pairs out; ``apart`` puts it at distance 1 from every item.

    A list without a pair has no value: fewer than two items, or with ``skip`` fewer than two that are known.

    References
    ----------
    Smyth and McClave, Similarity vs. diversity, 2001. Ziegler et al., Improving recommendation lists through topic
    diversification, 2005 (the sum of similarities instead of the mean of distances). Vargas and Castells, Rank and
    relevance in novelty and diversity metrics for recommender systems, 2011 (the mean over pairs).

    Examples
    --------
    Tea and rum share one of three categories, d = 2/3; rye shares none with either, d = 1. (2/3 + 1 + 1) / 3.

    >>> features = {"tea": ["drink", "hot"], "rum": ["drink", "strong"], "rye": ["bread"]}
    >>> lists, truth = {"ann": ["tea", "rum", "rye"]}, {"ann": ["tea"]}
    >>> result = atkay.evaluate(lists, truth, "ild(by=categories)@3", features=features)
    >>> round(result["ild(by=categories)@3"], 4)
    0.8889
    """

    name = "ild"
    aliases = ("intra_list_distance", "intra_list_diversity")

    by: Literal["features", "euclidean", "categories", "cooccurrence"] = word(
        features="1 - cosine of the items' vectors",
        euclidean="the Euclidean distance of the items' vectors",
        categories="1 - Jaccard similarity of the items' categories",
        cooccurrence="1 - shared training users over the geometric mean of both items' users",
    )
    unknown: Literal["skip", "apart"] = word(
        skip="pairs with an item of which nothing is known are left out",
        apart="an item of which nothing is known is at distance 1 from every other",
    )

    @property
    def needs(self) -> tuple[str, ...]:  # type: ignore[override]  # a word decides
        return ("train",) if self.needs_pairs else ("features",)

    @property
    def needs_pairs(self) -> bool:  # type: ignore[override]  # a word decides
        return self.by == "cooccurrence"

    @property
    def bounded(self) -> bool:  # type: ignore[override]  # a word decides
        """Vectors may point away from each other."""
        return self.by in ("categories", "cooccurrence")

    def values(self, judged: Judged) -> Floats:
        known, total = self._totals(judged)
        m, n = judged.over_list(known.astype(float), self.cutoffs), judged.listed(self.cutoffs)
        pairs = m * (m - 1) / 2
        if self.unknown == "apart":
            every_pair = n * (n - 1) / 2
            total, pairs = total + (every_pair - pairs), every_pair
        return divide(total, pairs, np.nan)

    def _totals(self, judged: Judged) -> tuple[Bools, Floats]:
        """Which listed items are known, and the sum of distances over the pairs of these: queries x cutoffs."""
        item = judged.top(self.reach).item
        if self.by == "cooccurrence":
            known = judged.train.popularity.take(item) > 0
            return known, _over_pairs(judged, self.cutoffs, known, self._cooccurrence(judged))
        length = judged.listed((self.reach,))[:, 0]
        if self.by == "categories":
            known, of, width = categories_of(judged, self).length.take(item) > 0, self._categories, 1
        else:
            vectors = vectors_of(judged, self, ("by=categories", "by=euclidean"), cosine=self.by == "features")
            known, of, width = ~np.isnan(vectors[:, 0]).take(item), self._euclidean, vectors.shape[1]
            if self.by == "features":
                known &= (vectors != 0).any(axis=1).take(item)
                return known, _of_cosines(judged, self.cutoffs, known, vectors)
        rows = np.append(0, np.cumsum(length))

        def total(first: int, last: int) -> Floats:
            part = judged.part(first, last)
            return _over_pairs(part, self.cutoffs, known[rows[first] : rows[last]], of(part))

        return known, in_blocks(length * width, total, len(self.cutoffs))

    def _cooccurrence(self, judged: Judged) -> Distance:
        item, train = judged.top(self.reach).item, judged.train
        return lambda first, second: 1 - train.likeness(item.take(first), item.take(second))

    def _categories(self, judged: Judged) -> Distance:
        """Jaccard distances."""
        categories, places = categories_of(judged, self), judged.top(self.reach)
        size = categories.length.take(places.item)
        row, category = spread(categories, places.item)
        sets = masks(places.query.take(row), row, category, len(size), categories.n_items)

        def distance(first: Ints, second: Ints) -> Floats:
            common = np.zeros(len(first), np.int64)
            for part in sets.T:
                common += count_bits(part.take(first) & part.take(second))
            return 1 - common / (size.take(first) + size.take(second) - common)

        return distance

    def _euclidean(self, judged: Judged) -> Distance:
        vectors = judged.features.vectors
        assert vectors is not None  # checked before
        rows = vectors[judged.top(self.reach).item]

        def distance(first: Ints, second: Ints) -> Floats:
            apart = rows[first] - rows[second]
            length: Floats = np.sqrt(np.einsum("ij,ij->i", apart, apart))
            return length

        return distance

    def define(self) -> Definition:
        distance, formula = {
            "features": ("1 - cosine of two items' vectors", "1 - cos(v_i, v_j)"),
            "euclidean": ("the Euclidean distance of two items' vectors", "|v_i - v_j|"),
            "categories": ("1 - shared over all categories of two items", "1 - |A ∩ B| / |A ∪ B|"),
            "cooccurrence": (
                "1 - shared over the geometric mean of two items' training users",
                "1 - n_ij / √(n_i n_j)",
            ),
        }[self.by]
        left = "items of which nothing is known left out" if self.unknown == "skip" else "unknown items at distance 1"
        return Definition(f"{distance}, averaged over all pairs of items in {self.top}, {left}", f"mean {formula}")


def _over_pairs(judged: Judged, cutoffs: tuple[int, ...], known: Bools, distance: Distance) -> Floats:
    """The sum of distances over the pairs of known items: queries x cutoffs. A pair counts from its lower rank on."""
    places = judged.top(max(cutoffs))
    last = judged.listed((max(cutoffs),))[:, 0].take(places.query)  # the last rank of the row's list
    total = np.zeros((judged.n_queries, len(cutoffs)))
    first = np.arange(len(places.rank))
    for gap in range(1, int(last.max(initial=0))):
        first = first[places.rank.take(first) + gap <= last.take(first)]
        pair = first[known.take(first) & known.take(first + gap)]
        lower = pair + gap
        total += sums(
            places.query.take(pair), places.rank.take(lower), distance(pair, lower), cutoffs, judged.n_queries
        )
    return total


def _of_cosines(judged: Judged, cutoffs: tuple[int, ...], known: Bools, vectors: Floats) -> Floats:
    """The sum of 1 - cosine over the pairs of known items, without the pairs.

    Of m unit vectors with sum S, the cosines of all pairs add up to (|S|² - m) / 2.
    """
    places = judged.top(max(cutoffs))
    length = judged.listed((max(cutoffs),))[:, 0]
    first = np.cumsum(length) - length
    few = len(vectors) <= len(places.item)
    units = unit_vectors(vectors) if few else vectors
    summed, m = np.zeros((judged.n_queries, vectors.shape[1])), np.zeros(judged.n_queries)
    out = np.empty((judged.n_queries, len(cutoffs)))
    deepest = int(length.max(initial=0))
    for rank in range(1, deepest + 1):
        query = np.flatnonzero(length >= rank)
        row = first[query] + rank - 1
        query, row = query[known[row]], row[known[row]]
        here = units[places.item[row]]
        summed[query] += here if few else unit_vectors(here)
        m[query] += 1
        for column in np.flatnonzero(np.equal(cutoffs, rank)):
            out[:, column] = _apart(summed, m)
    for column in np.flatnonzero(np.greater(cutoffs, deepest)):
        out[:, column] = _apart(summed, m)
    return out


def _apart(summed: Floats, m: Floats) -> Floats:
    # A single vector, or the same direction throughout, may be off 0 by a rounding.
    total: Floats = np.where(m > 1, np.maximum((m * m - np.einsum("ij,ij->i", summed, summed)) / 2, 0), 0)
    return total
