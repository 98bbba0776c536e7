"""Alpha-nDCG: relevance that counts less for each time its topic was shown before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from atkay.core.kernels import within
from atkay.core.lists import Lists, rows_of
from atkay.metrics.categories import added, categories_of, cells, in_blocks, masks, spread
from atkay.metrics.metric import Definition, Floats, Ints, Judged, Metric, number

GAIN_ROUNDING = 1e-12
"""Gains that differ by less than this share are the same sum, added up in another order."""


@dataclass(frozen=True)
class AlphaNDCG(Metric):
    """How much the list shows that is relevant and not yet covered: nDCG in which a repeated topic counts less.

    ``α-DCG / ideal α-DCG``, with α-DCG the sum of ``gain / log2(rank + 1)`` over the hits in the top k. A hit's gain is
    the sum of ``(1 - alpha)^r`` over its topics, r being the number of hits above it that have the topic, too. The
    topics of an item are its categories in ``features``.

    Conventions
    -----------
    alpha
        What a topic loses each time it is repeated: 0 counts every topic of every hit in full, 1 each topic once. 0.5
        in the paper and at TREC.

    The ideal list is made of all relevant items, listed or not: each place takes the one with the highest gain. Of
    equal gains the item with the last id comes first, ids compared as text ("9" before "10"), as in ndeval, the program
    of TREC's web track. Computing the best list is NP-hard, so this greedy one stands for it, as in the paper. Its
    value can depend on the order of ids, and now and then a list beats it and scores above 1.

    All relevant items count equally, whatever their grade. A hit without a category counts 0, and a list without a hit
    scores 0. A user none of whose relevant items has a category has no value.

    References
    ----------
    Clarke et al., Novelty and diversity in information retrieval evaluation, 2008.

    Examples
    --------
    The gains in list order are 2 (two new topics), 1/2 (drink again) and 1: 2 + 0.5 / log2(3) + 1 / 2 = 2.8155. Ideal
    is rye before rum: 2 + 1 / log2(3) + 0.5 / 2 = 2.8809.

    >>> features = {"tea": ["drink", "hot"], "rum": ["drink"], "rye": ["bread"]}
    >>> lists, truth = {"ann": ["tea", "rum", "rye"]}, {"ann": ["tea", "rum", "rye"]}
    >>> round(atkay.evaluate(lists, truth, "alpha_ndcg@3", features=features)["alpha_ndcg@3"], 6)
    0.977276
    """

    name = "alpha_ndcg"
    aliases = ("andcg", "α_ndcg")
    needs = ("features",)
    bounded = False
    partial = True
    by_item = True

    alpha: float = number(0.5, lambda alpha: 0 <= alpha <= 1, "a number from 0 to 1")

    def values(self, judged: Judged) -> Floats:
        categories = categories_of(judged, self)
        numerator = judged.total(self._gains(judged, categories) / np.log2(judged.rank + 1), self.cutoffs)
        relevant = judged.relevant
        text_order, fading = judged.features.text_order, 1 - self.alpha

        # A few queries at a time: what the loop goes through again and again then stays in the cache.
        def greedy(first: int, last: int) -> Floats:
            return _greedy(relevant.part(first, last), categories, text_order, fading, self.cutoffs)

        best = in_blocks(4 * relevant.length, greedy, len(self.cutoffs))
        with np.errstate(invalid="ignore"):
            return np.where(best > 0, numerator / best, np.nan)

    def _gains(self, judged: Judged, categories: Lists) -> Floats:
        """The gain of each hit."""
        hit, category = spread(categories, judged.item)
        key = judged.query.take(hit) * categories.n_items + category
        order = np.argsort(key, kind="stable")  # hits of a query with the same category together, by rank
        hit, key = hit.take(order), key.take(order)
        before = within(key) - 1
        # Multiplied up as in the ideal, and a hit's topics are added up in the order of categories there and here.
        left: Floats = np.cumprod(np.append(1.0, np.full(int(before.max(initial=0)), 1 - self.alpha)))
        return added(hit, left.take(before), len(judged.item))

    def define(self) -> Definition:
        cut = "" if self.k is None else f", cut at {self.k}"
        fading = f"{1 - self.alpha:g}^(relevant items above with the same category)"
        term = f"{fading} / log2(rank + 1)"
        return Definition(
            f"sum of {term} over the categories of the relevant items in {self.top}, divided by the same sum for all "
            f"relevant items in greedy order{cut}",
            f"α-DCG / ideal α-DCG, α-DCG = Σ Σ_c {1 - self.alpha:g}^r_c / log2(rank + 1)",
        )


def _greedy(relevant: Lists, categories: Lists, text_order: Ints, fading: float, cutoffs: Sequence[int]) -> Floats:
    """The alpha-DCG of the greedy list of each query's relevant items, up to each cutoff.

    Items with the same categories are one kind, of which there are some ``left``; the next one is the last as text. A
    step of the loop is a place of all lists.
    """
    query, item, left, following, as_text = _kinds(relevant, categories, text_order)
    kind, category = spread(categories, item)
    key = np.sort(kind * categories.n_items + category)  # an item's categories come in any order
    kind, category = np.divmod(key, max(categories.n_items, 1))
    cell, owner = cells(query.take(kind), category, relevant.n_queries, categories.n_items)
    worth, running = np.ones(len(owner)), np.zeros(relevant.n_queries)
    out = np.zeros((relevant.n_queries, len(cutoffs)))
    length = categories.length.take(item)
    place, changed = 0, True
    while len(query) and place < max(cutoffs):
        if changed:
            start = np.append(0, np.cumsum(length))
            first = np.flatnonzero(np.diff(query, prepend=-1))
            kinds = np.diff(first, append=len(query))
        place += 1
        gain = added(kind, worth.take(cell), len(query))
        gain[left == 0] = 0
        best = np.repeat(np.maximum.reduceat(gain, first), kinds)
        equal = np.flatnonzero((gain >= best * (1 - GAIN_ROUNDING)) & (gain > 0))
        text = as_text.take(following.take(equal))
        owners = np.flatnonzero(np.diff(query.take(equal), prepend=-1))
        last = np.maximum.reduceat(text, owners) if len(owners) else text
        chosen = equal[text == np.repeat(last, np.diff(owners, append=len(equal)))]
        running[query.take(chosen)] += gain.take(chosen) / np.log2(place + 1)
        left[chosen] -= 1
        following[chosen] += 1
        worth[cell.take(rows_of(start, chosen))] *= fading
        for column in np.flatnonzero(np.equal(cutoffs, place)):
            out[:, column] = running
        stays = (left > 0) & (best > 0)
        changed = bool(4 * np.count_nonzero(stays) < 3 * len(stays))  # many kinds are used up
        if changed:
            keep = stays.take(kind)
            kind, cell = (np.cumsum(stays) - 1).take(kind[keep]), cell[keep]
            query, left, following, length = query[stays], left[stays], following[stays], length[stays]
    for column in np.flatnonzero(np.greater(cutoffs, place)):
        out[:, column] = running
    return out


def _kinds(relevant: Lists, categories: Lists, text_order: Ints) -> tuple[Ints, Ints, Ints, Ints, Ints]:
    """The different sets of categories among each query's relevant items: the query, an item, how many there are, and
    where their places in the order of text begin, the last first, in what is returned besides.
    """
    known = categories.length.take(relevant.item) > 0
    query, item = relevant.owner()[known], relevant.item[known]
    row, category = spread(categories, item)
    sets = masks(query.take(row), row, category, len(item), categories.n_items)
    order = np.lexsort((-text_order.take(item), *sets.T, query))
    query, item, sets = query.take(order), item.take(order), sets.take(order, axis=0)
    new = np.ones(len(item), bool)
    new[1:] = (query[1:] != query[:-1]) | (sets[1:] != sets[:-1]).any(axis=1)
    first = np.flatnonzero(new)
    return query[first], item[first], np.diff(first, append=len(item)), first, text_order.take(item)
