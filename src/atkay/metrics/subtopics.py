"""What the metrics over subtopics share: which subtopics an item has, what a repeated one counts, the ideal lists."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from atkay.core.kernels import within
from atkay.core.lists import Lists, rows_of
from atkay.errors import SideError
from atkay.judged.judged import Judged
from atkay.metrics.categories import added, categories_of, cells, in_blocks, masks, spread
from atkay.metrics.metric import Floats, Ints, Metric, number, word
from atkay.text.phrases import argument

GAIN_ROUNDING = 1e-12
"""Gains that differ by less than this share are the same sum, added up in another order."""

Weigh = Callable[[Any, Any], Any]
"""What a gain is worth at a rank."""


@dataclass(frozen=True)
class SubtopicMetric(Metric):
    """A metric of relevant items and their subtopics. A user whose relevant items have none has no value."""

    _internal = f"{Metric._internal} topics"

    needs = ("features",)
    partial = True
    by_item = True

    _: KW_ONLY
    subtopics: Literal["given", "features"] = word(
        given="the subtopics that the truth names, or the categories in features where it names none",
        features="the categories in features",
    )

    @property
    def by_subtopic(self) -> bool:  # type: ignore[override]  # a word decides
        """The truth comes first, unless the word says otherwise."""
        return self.subtopics == "given"

    def topics(self, judged: Judged) -> Topics:
        """The subtopics of the hits and of the relevant items."""
        if self.by_subtopic and judged.subtopics is not None:
            named, relevant = judged.subtopics, judged.relevant
            rows = Lists(relevant.start, named.rows(relevant.owner(), relevant.item), len(named.items))
            hits = named.rows(judged.query, judged.item)
            return Topics(judged, hits, rows, named.of_row, lambda: named.text_order.take(named.items.item))
        if self.by_subtopic and (judged.side is None or judged.side.features is None):
            raise SideError(
                f"{self} needs subtopics: add a column 'subtopic' to truth, or pass {argument('features')} with the "
                "categories of items."
            )
        features = judged.features
        return Topics(judged, judged.item, judged.relevant, categories_of(judged, self), lambda: features.text_order)


def redundancy() -> Any:
    """The field that says what a repeated subtopic loses."""
    return number(0.5, lambda alpha: 0 <= alpha <= 1, "a number from 0 to 1")


def equal_gains() -> Any:
    """The field that says which gains are equal when the ideal list is put together."""
    return word(
        rounded="gains that differ by rounding alone are equal",
        exact="gains are equal if their sums are, added up in the order of the subtopics",
    )


def by_log_rank(gain: Any, rank: Any) -> Any:
    """What a gain is worth in alpha-DCG."""
    return gain / np.log2(rank + 1)


def by_rank(gain: Any, rank: Any) -> Any:
    """What a gain is worth in ERR-IA."""
    return gain / rank


def by_patience(beta: float) -> Weigh:
    """What a gain is worth in NRBP."""
    return lambda gain, rank: gain * np.power(beta, rank - 1.0)


def term(alpha: float) -> str:
    """The gain of a hit for one of its subtopics, in words."""
    return f"{1 - alpha:g}^(relevant items above with the same subtopic)"


@dataclass(frozen=True, eq=False)
class Topics:
    """What is known of subtopics: ``of`` has those of each item, ``item`` the items of the hits.

    An item is a code of ``of``: that of an item, or of a pair of query and item where subtopics depend on the query.
    """

    judged: Judged
    item: Ints
    relevant: Lists
    of: Lists
    text_order: Callable[[], Ints]
    """The place of each item's id as text."""

    @cached_property
    def shown(self) -> tuple[Ints, Ints, Ints]:
        """A row for each subtopic of each hit: the hit, the pair of query and subtopic, and which hit of the pair it
        is, from 1.
        """
        hit, topic = spread(self.of, self.item)
        pair = self.judged.query.take(hit) * self.of.n_items + topic
        order = np.argsort(pair, kind="stable")  # hits of a query with the same subtopic together, by rank
        hit, pair = hit.take(order), pair.take(order)
        return hit, pair, within(pair)

    @cached_property
    def pairs(self) -> tuple[Ints, Ints]:
        """Each pair of a query and a subtopic of its relevant items, and how many of these it has."""
        row, topic = spread(self.of, self.relevant.item)
        return np.unique(self.relevant.owner().take(row) * self.of.n_items + topic, return_counts=True)

    @cached_property
    def count(self) -> Ints:
        """How many subtopics the relevant items of each query have, in a column."""
        query = self.pairs[0] // max(self.of.n_items, 1)
        return np.bincount(query, minlength=self.relevant.n_queries)[:, None]

    def over(self, numerator: Floats, denominator: Floats | Ints | float) -> Floats:
        """The quotient, 0 where there is nothing to divide by; NaN for a query without subtopics."""
        with np.errstate(invalid="ignore", divide="ignore"):
            quotient = np.where(np.equal(denominator, 0), 0, numerator / denominator)
        return np.where(self.count > 0, quotient, np.nan)

    def novelty(self, alpha: float, weigh: Weigh, cutoffs: Sequence[int]) -> Floats:
        """The sum of what the gains of the hits are worth, up to each cutoff."""
        hit, _, nth = self.shown
        # Multiplied up as in the ideal, and a hit's subtopics are added up in their order there and here.
        left = _fading(alpha, int(nth.max(initial=1)))
        gain = added(hit, left.take(nth - 1), len(self.item))
        return self.judged.total(weigh(gain, self.judged.rank), cutoffs)

    def over_every(self, alpha: float, weigh: Weigh, cutoffs: Sequence[int]) -> Floats:
        """The same sum over that of a list in which every item has all subtopics."""
        depth = self.judged.depth(cutoffs)
        deepest = int(depth.max(initial=0))
        worth = np.cumsum(np.append(0.0, weigh(_fading(alpha, deepest)[:deepest], np.arange(1, deepest + 1))))
        quotient = self.over(self.novelty(alpha, weigh, cutoffs), self.count * worth.take(depth))
        return np.minimum(quotient, 1.0)  # rounding may go past 1 in the last digit

    def over_greedy(self, alpha: float, weigh: Weigh, cutoffs: Sequence[int], equal: str) -> Floats:
        """The same sum over what the relevant items are worth in greedy order."""
        text_order, share = self.text_order(), 1 - GAIN_ROUNDING if equal == "rounded" else 1.0

        # A few queries at a time: what the loop goes through again and again then stays in the cache.
        def of_block(first: int, last: int) -> Floats:
            return _greedy(self.relevant.part(first, last), self.of, text_order, 1 - alpha, weigh, cutoffs, share)

        ideal = in_blocks(4 * self.relevant.length, of_block, len(cutoffs))
        return self.over(self.novelty(alpha, weigh, cutoffs), ideal)


def _fading(alpha: float, size: int) -> Floats:
    """What a subtopic counts when it is shown for the first time, the second time, ..."""
    return np.cumprod(np.append(1.0, np.full(max(size - 1, 0), 1 - alpha)))


def _greedy(
    relevant: Lists,
    categories: Lists,
    text_order: Ints,
    fading: float,
    weigh: Weigh,
    cutoffs: Sequence[int],
    share: float,
) -> Floats:
    """What the greedy list of each query's relevant items is worth, up to each cutoff.

    Items with the same categories are one kind, of which there are some ``left``; the next one is the last as text. A
    step of the loop is a place of all lists. Gains are equal from the ``share`` of the highest on.
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
        equal = np.flatnonzero((gain >= best * share) & (gain > 0))
        text = as_text.take(following.take(equal))
        owners = np.flatnonzero(np.diff(query.take(equal), prepend=-1))
        last = np.maximum.reduceat(text, owners) if len(owners) else text
        chosen = equal[text == np.repeat(last, np.diff(owners, append=len(equal)))]
        running[query.take(chosen)] += weigh(gain.take(chosen), place)
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
