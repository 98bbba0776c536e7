"""Proportions of categories: what the metrics share that compare those of a list with other ones."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from atkay.core.kernels import sums
from atkay.core.lists import Lists
from atkay.metrics.categories import added, in_blocks, shares, spread
from atkay.metrics.gains import DISCOUNTS
from atkay.metrics.metric import Floats, Ints, Judged

RANK_WEIGHTS: dict[str, Callable[[Ints], Floats]] = {
    "uniform": lambda rank: np.ones(len(rank)),
    "log2": lambda rank: 1 / DISCOUNTS["log2"](rank),
    "jk": lambda rank: 1 / DISCOUNTS["jk"](rank),
    "reciprocal": lambda rank: 1 / rank,
}
"""What an item counts at a rank."""

Target = Callable[[Judged, Ints], tuple[Floats, Floats]]
"""What a list is compared with: the mass of each of the cells query x category, ascending, and of each query."""


def divergence(
    judged: Judged,
    categories: Lists,
    cutoffs: tuple[int, ...],
    weigh: Callable[[Ints], Floats],
    target: Target,
    terms: Callable[[Floats, Floats], Floats],
    absent: float,
) -> Floats:
    """Σ of ``terms`` of target and list over the categories: queries x cutoffs; NaN where one of both has none.

    ``absent`` is the term of a category that the list lacks, divided by its share in the target.
    """
    n_queries, n_kinds = judged.n_queries, categories.n_items
    places = judged.top(max(cutoffs))
    row, category = spread(categories, places.item)
    rank = places.rank.take(row)
    weight = shares(categories, places.item).take(row) * weigh(rank)
    shown, cell = np.unique(places.query.take(row) * n_kinds + category, return_inverse=True)
    owner = shown // n_kinds
    wanted, target_mass = target(judged, shown)
    p = wanted / _above_zero(target_mass).take(owner)
    out = np.empty((n_queries, len(cutoffs)))
    for column, mass in enumerate(sums(cell, rank, weight, cutoffs, len(shown)).T):
        list_mass = added(owner, mass, n_queries)
        q = mass / _above_zero(list_mass).take(owner)
        here = q > 0
        total = added(owner[here], terms(p[here], q[here]), n_queries)
        # Of the categories that the list lacks, the sum of their p says enough; a rounding is no category.
        rest = 1 - added(owner[here], wanted[here], n_queries) / _above_zero(target_mass)
        total = np.maximum(total + np.where(rest > 1e-12, rest, 0) * absent, 0)
        out[:, column] = np.where((target_mass > 0) & (list_mass > 0), total, np.nan)
    return out


def of_items(items: Callable[[Judged], Lists], categories: Lists) -> Target:
    """The items of each query as what its list is compared with."""

    def target(judged: Judged, shown: Ints) -> tuple[Floats, Floats]:
        lists = items(judged)
        row, category = spread(categories, lists.item)
        query, of_row = lists.owner().take(row), shares(categories, lists.item).take(row)
        cell, n_cells = query * categories.n_items + category, judged.n_queries * categories.n_items
        return _masses(cell, of_row, shown, n_cells), added(query, of_row, judged.n_queries)

    return target


def of_everybody(mass: Floats) -> Target:
    """One mass of each category, the same for all queries."""

    def target(judged: Judged, shown: Ints) -> tuple[Floats, Floats]:
        return mass.take(shown % max(len(mass), 1)), np.full(judged.n_queries, mass.sum())

    return target


def by_parts(judged: Judged, rows: Ints, reach: int, of: Callable[[Judged], Floats], n_columns: int) -> Floats:
    """The values of parts of the queries, joined; ``rows`` are read of each query beside its list."""
    rows = rows + judged.listed((reach,))[:, 0]
    return in_blocks(rows, lambda first, last: of(judged.part(first, last)), n_columns)


def jensen_shannon(p: Floats, q: Floats) -> Floats:
    """The terms of the Jensen-Shannon divergence in nats."""
    return (relative(p, (p + q) / 2) + relative(q, (p + q) / 2)) / 2


def relative(p: Floats, q: Floats) -> Floats:
    """``p ln(p / q)``, 0 where p is 0; q is above 0 wherever p is."""
    some = p > 0
    return p * np.log(np.where(some, p, 1) / np.where(some, q, 1))


def _masses(key: Ints, weight: Floats, keys: Ints, n_keys: int) -> Floats:
    """The sum of weights of each of ``keys``, which are ascending, each once."""
    if n_keys <= 16 * len(key) + 1024:
        return added(key, weight, n_keys).take(keys)
    place = np.searchsorted(keys, key)
    there = keys.take(place, mode="clip") == key if len(keys) else np.zeros(len(key), bool)
    return added(place[there], weight[there], len(keys))


def _above_zero(total: Floats) -> Floats:
    """What can be divided by; where there is nothing, so is the numerator."""
    return np.where(total > 0, total, 1)
