"""Intra-list distance: how far apart the items of a list are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from atkay.core.kernels import sums
from atkay.metrics.distances import Distance, OfPairs, pairs
from atkay.metrics.metric import Bools, Definition, Floats, Judged, divide
from atkay.metrics.vectors import unit_vectors


@dataclass(frozen=True)
class ILD(OfPairs):
    """How different the items of one list are from each other: the intra-list distance.

    The mean of ``d(i, j)`` over all pairs of items in the top k.

    Conventions
    -----------
    by
        What the distance is made of. ``features``: 1 - cosine of the items' vectors (0 to 2). ``euclidean``: the
        length of the difference of the vectors. ``hamming``: the number of features in which the vectors differ
        (RecTools). ``categories``: 1 - |A ∩ B| / |A ∪ B| for the items' sets of
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

    def values(self, judged: Judged) -> Floats:
        known = self.known(judged)
        if self.by == "features":
            vectors = judged.features.vectors
            assert vectors is not None  # checked before
            total = _of_cosines(judged, self.cutoffs, known, vectors)
        else:
            total = self.by_parts(judged, known, self._over_pairs)
        m, n = judged.over_list(known.astype(float), self.cutoffs), judged.listed(self.cutoffs)
        n_pairs = m * (m - 1) / 2
        if self.unknown == "apart":
            every_pair = n * (n - 1) / 2
            total, n_pairs = total + (every_pair - n_pairs), every_pair
        return divide(total, n_pairs, np.nan)

    def _over_pairs(self, judged: Judged, known: Bools, distance: Distance) -> Floats:
        """The sum of distances over the pairs of known items: queries x cutoffs. A pair counts from its lower rank."""
        places = judged.top(self.reach)
        total = np.zeros((judged.n_queries, len(self.cutoffs)))
        for pair, lower in pairs(judged, self.reach, known):
            query, rank = places.query.take(pair), places.rank.take(lower)
            total += sums(query, rank, distance(pair, lower), self.cutoffs, judged.n_queries)
        return total

    def define(self) -> Definition:
        distance, formula = self.distance
        return Definition(
            f"{distance}, averaged over all pairs of items in {self.top}, {self.left_out}", f"mean {formula}"
        )


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
