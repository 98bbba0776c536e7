"""Category count: how many categories a list shows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from atkay.core.kernels import sums
from atkay.metrics.categories import added, categories_of, cells, spread
from atkay.metrics.metric import Definition, Floats, Judged, ListMetric


@dataclass(frozen=True)
class CategoryCount(ListMetric):
    """How many different categories the list shows.

    ``|union of the categories of the items in the top k|``. It needs categories in ``features``. An item without a
    category adds none; an empty list has no value.

    References
    ----------
    Ziegler et al., Improving recommendation lists through topic diversification, 2005 (topics of a list). Zhai, Cohen
    and Lafferty, Beyond independent relevance, 2003 (subtopic recall, the same count as a share of all).

    Examples
    --------
    Drink, hot and bread:

    >>> features = {"rum": ["drink"], "tea": ["drink", "hot"], "rye": ["bread"]}
    >>> lists, truth = {"ann": ["rum", "tea", "rye"]}, {"ann": ["tea"]}
    >>> atkay.evaluate(lists, truth, "category_count@3", features=features)["category_count@3"]
    3.0
    """

    name = "category_count"
    aliases = ("n_categories", "genre_count")
    needs = ("features",)
    bounded = False

    def values(self, judged: Judged) -> Floats:
        categories, places = categories_of(judged, self), judged.top(max(self.cutoffs))
        row, category = spread(categories, places.item)
        query, rank = places.query.take(row), places.rank.take(row)
        cell, owner = cells(query, category, judged.n_queries, categories.n_items)
        mass = sums(cell, rank, np.ones(len(row)), self.cutoffs, len(owner))
        counts = [added(owner, there.astype(float), judged.n_queries) for there in (mass > 0).T]
        return np.where(judged.listed(self.cutoffs) > 0, np.array(counts).T, np.nan)

    def define(self) -> Definition:
        return Definition(f"number of different categories of the items in {self.top}", "|∪ categories of items|")
