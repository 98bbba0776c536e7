"""Distances of items: what the metrics about pairs of items of a list share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np

from atkay.core.bits import count_bits
from atkay.metrics.categories import categories_of, in_blocks, masks, spread
from atkay.metrics.metric import Bools, Floats, Ints, Judged, ListMetric, word
from atkay.metrics.vectors import unit_vectors, vectors_of

Distance = Callable[[Ints, Ints], Floats]
"""Distances of pairs of rows of ``judged.top``."""


@dataclass(frozen=True)
class OfPairs(ListMetric):
    """A metric of the distances between the items of a list."""

    by: Literal["features", "euclidean", "hamming", "categories", "cooccurrence"] = word(
        features="1 - cosine of the items' vectors",
        euclidean="the Euclidean distance of the items' vectors",
        hamming="the number of features in which the items' vectors differ",
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

    def known(self, judged: Judged) -> Bools:
        """Which rows of ``judged.top`` show an item of which enough is known."""
        item = judged.top(self.reach).item
        if self.by == "cooccurrence":
            return judged.train.popularity.take(item) > 0
        if self.by == "categories":
            return categories_of(judged, self).length.take(item) > 0
        vectors = vectors_of(judged, self, ("by=categories", "by=euclidean"), cosine=self.by == "features")
        known: Bools = ~np.isnan(vectors[:, 0]) & ((vectors != 0).any(axis=1) | (self.by != "features"))
        return known.take(item)

    def distances(self, judged: Judged) -> Distance:
        """The distances of pairs whose items are known."""
        of: dict[str, Callable[[Judged], Distance]] = {
            "features": self._cosine, "euclidean": self._euclidean, "hamming": self._hamming,
            "categories": self._categories, "cooccurrence": self._cooccurrence,
        }  # fmt: skip
        return of[self.by](judged)

    def by_parts(self, judged: Judged, known: Bools, of: Callable[[Judged, Bools, Distance], Floats]) -> Floats:
        """The values of parts of the queries, joined: what is gathered for the pairs of a part stays small."""
        if self.by == "cooccurrence":
            return of(judged, known, self.distances(judged))
        length = judged.listed((self.reach,))[:, 0]
        rows = np.append(0, np.cumsum(length))
        vectors = judged.features.vectors
        width = 1 if self.by == "categories" or vectors is None else vectors.shape[1]

        def of_part(first: int, last: int) -> Floats:
            part = judged.part(first, last)
            return of(part, known[rows[first] : rows[last]], self.distances(part))

        return in_blocks(length * width, of_part, len(self.cutoffs))

    @property
    def distance(self) -> tuple[str, str]:
        """The distance in words and as a formula."""
        return {
            "features": ("1 - cosine of two items' vectors", "1 - cos(v_i, v_j)"),
            "euclidean": ("the Euclidean distance of two items' vectors", "|v_i - v_j|"),
            "hamming": ("the number of features in which two items' vectors differ", "|{f : v_if ≠ v_jf}|"),
            "categories": ("1 - shared over all categories of two items", "1 - |A ∩ B| / |A ∪ B|"),
            "cooccurrence": (
                "1 - shared over the geometric mean of two items' training users",
                "1 - n_ij / √(n_i n_j)",
            ),
        }[self.by]

    @property
    def left_out(self) -> str:
        """What happens to items of which nothing is known, in words."""
        return "items of which nothing is known left out" if self.unknown == "skip" else "unknown items at distance 1"

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
        rows = self._vectors(judged)

        def distance(first: Ints, second: Ints) -> Floats:
            apart = rows[first] - rows[second]
            length: Floats = np.sqrt(np.einsum("ij,ij->i", apart, apart))
            return length

        return distance

    def _hamming(self, judged: Judged) -> Distance:
        rows = self._vectors(judged)
        return lambda first, second: np.count_nonzero(rows[first] != rows[second], axis=1).astype(float)

    def _cosine(self, judged: Judged) -> Distance:
        rows = unit_vectors(self._vectors(judged))
        return lambda first, second: np.maximum(1 - np.einsum("ij,ij->i", rows[first], rows[second]), 0)

    def _vectors(self, judged: Judged) -> Floats:
        vectors = judged.features.vectors
        assert vectors is not None  # checked before
        return vectors[judged.top(self.reach).item]


def pairs(judged: Judged, reach: int, known: Bools) -> Iterator[tuple[Ints, Ints]]:
    """The pairs of known items of the lists, as rows of ``judged.top``, the higher place first; the closest first."""
    places = judged.top(reach)
    last = judged.listed((reach,))[:, 0].take(places.query)  # the last rank of the row's list
    first = np.arange(len(places.rank))
    for gap in range(1, int(last.max(initial=0))):
        first = first[places.rank.take(first) + gap <= last.take(first)]
        pair = first[known.take(first) & known.take(first + gap)]
        yield pair, pair + gap
