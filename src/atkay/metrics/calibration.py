"""Calibration: whether the list shows categories in the proportions in which the user chose them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from atkay.arrays import Floats, Ints
from atkay.judged import sums
from atkay.metrics.base import Definition, ListMetric, number
from atkay.metrics.categories import added, categories_of, portions, shares, spread
from atkay.words import word

if TYPE_CHECKING:
    from atkay.judged import Judged

WEIGHTS: dict[str, Callable[[Ints], Floats]] = {
    "uniform": lambda rank: np.ones(len(rank)),
    "log2": lambda rank: 1 / np.log2(rank + 1),
    "reciprocal": lambda rank: 1 / rank,
}


@dataclass(frozen=True)
class Calibration(ListMetric):
    """How far the categories of the list are from those of the user's history; 0 is the same proportions.

    p_c is the share of category c in the user's training items, q_c its share in the top k; an item of several
    categories counts 1, in equal parts. It needs ``train`` and categories in ``features``.

    Conventions
    -----------
    distance
        ``kl``: ``Σ p_c ln(p_c / q̃_c)`` with ``q̃ = (1 - alpha) q + alpha p``, the Kullback-Leibler divergence in nats
        (Steck 2018); at most -ln alpha. ``js``: the Jensen-Shannon divergence in nats, ``½ Σ p_c ln(p_c / m_c) +
        ½ Σ q_c ln(q_c / m_c)`` with ``m = (p + q) / 2``; at most ln 2. ``hellinger``: ``√(½ Σ (√p_c - √q_c)²)``; at
        most 1.
    alpha
        How much of p is mixed into q under ``kl``, which would be infinite where the list lacks a category; 0.01 in the
        paper. The other two need none and do not use it.
    weight
        What a listed item counts. ``uniform``: all the same. ``log2``: 1 / log2(rank + 1). ``reciprocal``: 1 / rank.
        Steck leaves this open and names the weights of nDCG and MRR as choices. Training items all weigh the same.

    Items without a category are left out. Where no listed item has a category, or no training item of the user, there
    is no value.

    References
    ----------
    Steck, Calibrated recommendations, 2018. Lin, Divergence measures based on the Shannon entropy, 1991 (js).

    Examples
    --------
    One of two training items is a drink, and all of the list: p = (1/2, 1/2), q = (1, 0). Hellinger: the sum is
    (0.7071 - 1)² + 0.7071² = 0.5858.

    >>> features = {"tea": "drink", "rum": "drink", "rye": "bread"}
    >>> known = {"train": {"ann": ["tea", "rye"]}, "features": features}
    >>> result = atkay.evaluate({"ann": ["rum"]}, {"ann": ["rum"]}, "calibration(distance=hellinger)@1", **known)
    >>> round(result["calibration(distance=hellinger)@1"], 4)
    0.5412
    """

    name = "calibration"
    aliases: ClassVar[tuple[str, ...]] = ("miscalibration", "calibration_error")
    better: ClassVar[str] = "lower"

    distance: str = word(
        kl="Kullback-Leibler divergence in nats, smoothed by alpha",
        js="Jensen-Shannon divergence in nats",
        hellinger="Hellinger distance",
    )
    weight: str = word(
        uniform="every listed item counts 1",
        log2="a listed item counts 1 / log2(rank + 1)",
        reciprocal="a listed item counts 1 / rank",
    )
    alpha: float = number(0.01, lambda alpha: 0 < alpha < 1, "a number between 0 and 1")

    @property
    def needs(self) -> tuple[str, ...]:
        """What the user chose, and the categories of that."""
        return ("train", "features")

    @property
    def bounded(self) -> bool:
        """The less is mixed in, the farther an absent category takes."""
        return self.distance != "kl"

    def values(self, judged: Judged) -> Floats:
        """The divergence per query and cutoff, for so many queries at a time that what lies in between stays small."""
        rows = judged.train.items.length.take(judged.train.user) + judged.listed((max(self.cutoffs),))[:, 0]
        parts = [self._of_few(judged.part(*few)) for few in portions(rows)]
        return np.concatenate([np.empty((0, len(self.cutoffs))), *parts])

    def _of_few(self, judged: Judged) -> Floats:
        categories, history = categories_of(judged, self), judged.train.history
        places, n_queries, n_kinds = judged.top(max(self.cutoffs)), judged.n_queries, categories.n_items
        row, category = spread(categories, places.item)
        rank = places.rank.take(row)
        weight = shares(categories, places.item).take(row) * WEIGHTS[self.weight](rank)
        shown, cell = np.unique(places.query.take(row) * n_kinds + category, return_inverse=True)
        owner = shown // n_kinds
        row, category = spread(categories, history.item)
        query, of_row = history.owner().take(row), shares(categories, history.item).take(row)
        liked = _masses(query * n_kinds + category, of_row, shown, n_queries * n_kinds)
        p, has_history = _proportions(liked, owner, _masses(query, of_row, np.arange(n_queries), n_queries))
        out = np.empty((n_queries, len(self.cutoffs)))
        for column, mass in enumerate(sums(cell, rank, weight, self.cutoffs, len(shown)).T):
            q, has_list = _proportions(mass, owner, added(owner, mass, n_queries))
            some = q > 0
            apart = added(owner[some], self._terms(p[some], q[some]), n_queries)
            # Of what the list does not show, the sum of all p says enough.
            elsewhere = has_history - added(owner[some], liked[some], n_queries)
            apart = apart + elsewhere / np.where(has_history > 0, has_history, 1) * self._absent
            apart = np.maximum(apart, 0)  # the same proportions may come out below 0 by a rounding
            apart = np.sqrt(apart) if self.distance == "hellinger" else apart
            out[:, column] = np.where((has_history > 0) & (has_list > 0), apart, np.nan)
        return out

    def _terms(self, p: Floats, q: Floats) -> Floats:
        """What each category of the list adds to the divergence."""
        if self.distance == "kl":
            return _relative(p, (1 - self.alpha) * q + self.alpha * p)
        if self.distance == "js":
            return (_relative(p, (p + q) / 2) + _relative(q, (p + q) / 2)) / 2
        return (np.sqrt(p) - np.sqrt(q)) ** 2 / 2

    @property
    def _absent(self) -> float:
        """What a category that the list lacks adds, divided by p: the term for q = 0."""
        return {"kl": -math.log(self.alpha), "js": math.log(2) / 2, "hellinger": 0.5}[self.distance]

    def define(self) -> Definition:
        """The divergence in words."""
        distance, formula = {
            "kl": (
                f"Kullback-Leibler divergence in nats, {self.alpha:g} of the history mixed into the list",
                f"Σ p_c ln(p_c / ({1 - self.alpha:g} q_c + {self.alpha:g} p_c))",
            ),
            "js": (
                "Jensen-Shannon divergence in nats",
                "½ Σ p_c ln(p_c / m_c) + ½ Σ q_c ln(q_c / m_c), m = (p + q) / 2",
            ),
            "hellinger": ("Hellinger distance", "√(½ Σ (√p_c - √q_c)²)"),
        }[self.distance]
        weight = {"uniform": "", "log2": " weighted by 1 / log2(rank + 1)", "reciprocal": " weighted by 1 / rank"}
        return Definition(
            f"{distance}, of the categories in {self.top}{weight[self.weight]} from those of the user's training items",
            formula,
        )


def _masses(key: Ints, weight: Floats, wanted: Ints, n_keys: int) -> Floats:
    """The sum of weights of each wanted key; the wanted ones are in ascending order, each once."""
    if n_keys <= 16 * len(key) + 1024:
        return added(key, weight, n_keys).take(wanted)
    place = np.searchsorted(wanted, key)
    there = wanted.take(place, mode="clip") == key if len(wanted) else np.zeros(len(key), bool)
    return added(place[there], weight[there], len(wanted))


def _proportions(mass: Floats, owner: Ints, total: Floats) -> tuple[Floats, Floats]:
    """The share of each cell in its query, 0 where the query has nothing, and what each query has in all."""
    return mass / np.where(total > 0, total, 1).take(owner), total


def _relative(p: Floats, q: Floats) -> Floats:
    """``p ln(p / q)``, 0 where p is 0; q is above 0 wherever p is."""
    some = p > 0
    return p * np.log(np.where(some, p, 1) / np.where(some, q, 1))
