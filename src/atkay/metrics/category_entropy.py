"""Category entropy: how evenly a list is spread over categories."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from atkay.core.kernels import sums
from atkay.metrics.categories import added, categories_of, cells, shares, spread
from atkay.metrics.metric import Definition, Floats, Judged, ListMetric, word


@dataclass(frozen=True)
class CategoryEntropy(ListMetric):
    """How evenly the list is spread over categories, in bits.

    ``-Σ p_c log2 p_c`` with p_c the share of category c in the top k: 0 where all items are of one category, log2 n
    where n categories have the same share. It needs categories in ``features``.

    Conventions
    -----------
    count
        What an item with several categories counts. ``split``: 1 in all, in equal parts (Steck 2018, for calibration);
        ``each``: 1 for each of its categories.

    Items without a category are left out; a list in which no item has one has no value.

    References
    ----------
    Shannon, A mathematical theory of communication, 1948. Di Noia et al., Adaptive multi-attribute diversity for
    recommender systems, 2017 (entropy of items' attributes).

    Examples
    --------
    Drink has 1 + 1/2 of two items and hot 1/2, so the shares are 3/4 and 1/4: 0.75 x 0.4150 + 0.25 x 2.

    >>> features = {"rum": ["drink"], "tea": ["drink", "hot"]}
    >>> result = atkay.evaluate({"ann": ["rum", "tea"]}, {"ann": ["tea"]}, "category_entropy@2", features=features)
    >>> round(result["category_entropy@2"], 4)
    0.8113
    """

    name = "category_entropy"
    aliases = ("genre_entropy",)
    needs = ("features",)
    bounded = False

    count: Literal["split", "each"] = word(
        split="an item counts 1, in equal parts", each="an item counts 1 for each of its categories"
    )

    def values(self, judged: Judged) -> Floats:
        categories, places = categories_of(judged, self), judged.top(max(self.cutoffs))
        row, category = spread(categories, places.item)
        query, rank = places.query.take(row), places.rank.take(row)
        weight = shares(categories, places.item).take(row) if self.count == "split" else np.ones(len(row))
        cell, owner = cells(query, category, judged.n_queries, categories.n_items)
        out = np.empty((judged.n_queries, len(self.cutoffs)))
        for column, mass in enumerate(sums(cell, rank, weight, self.cutoffs, len(owner)).T):
            total = added(owner, mass, judged.n_queries)
            share = mass / np.where(total > 0, total, 1).take(owner)
            bits = -share * np.log2(np.where(share > 0, share, 1))
            out[:, column] = np.where(total > 0, added(owner, bits, judged.n_queries), np.nan)
        return out

    def define(self) -> Definition:
        several = "in equal parts" if self.count == "split" else "with 1 for each of them"
        return Definition(
            f"entropy in bits of the categories in {self.top}; an item of several categories counts {several}",
            "-Σ p_c log2 p_c",
        )
