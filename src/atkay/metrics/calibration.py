"""Calibration: whether the list shows categories in the proportions in which the user chose them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from atkay.metrics.categories import categories_of
from atkay.metrics.metric import Definition, Floats, Judged, ListMetric, number, word
from atkay.metrics.proportions import RANK_WEIGHTS, by_parts, divergence, jensen_shannon, of_items, relative


@dataclass(frozen=True)
class Calibration(ListMetric):
    """How far the categories of the list are from those of the user's history; 0 for the same proportions.

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
    aliases = ("miscalibration", "calibration_error")
    needs = ("train", "features")
    looks_back = True
    better = "lower"

    distance: Literal["kl", "js", "hellinger"] = word(
        kl="Kullback-Leibler divergence in nats, smoothed by alpha",
        js="Jensen-Shannon divergence in nats",
        hellinger="Hellinger distance",
    )
    weight: Literal["uniform", "log2", "reciprocal"] = word(
        uniform="every listed item counts 1",
        log2="a listed item counts 1 / log2(rank + 1)",
        reciprocal="a listed item counts 1 / rank",
    )
    alpha: float = number(0.01, lambda alpha: 0 < alpha < 1, "a number between 0 and 1")

    @property
    def by_item(self) -> bool:  # type: ignore[override]  # a word decides
        """Items differ in their categories, and places in their weight."""
        return self.weight != "uniform"

    @property
    def bounded(self) -> bool:  # type: ignore[override]  # a word decides
        """The less is mixed in, the farther an absent category takes."""
        return self.distance != "kl"

    def values(self, judged: Judged) -> Floats:
        categories = categories_of(judged, self)
        history = of_items(lambda each: each.train.history, categories)

        def of_part(part: Judged) -> Floats:
            weigh = RANK_WEIGHTS[self.weight]
            return divergence(part, categories, self.cutoffs, weigh, history, self._terms, self._absent)

        had = judged.train.items.length.take(judged.train.user)
        total = by_parts(judged, had, self.reach, of_part, len(self.cutoffs))
        return np.sqrt(np.minimum(total, 1)) if self.distance == "hellinger" else total

    def _terms(self, p: Floats, q: Floats) -> Floats:
        """What each category of the list adds to the divergence."""
        if self.distance == "kl":
            return relative(p, (1 - self.alpha) * q + self.alpha * p)
        if self.distance == "js":
            return jensen_shannon(p, q)
        return (np.sqrt(p) - np.sqrt(q)) ** 2 / 2

    @property
    def _absent(self) -> float:
        """What a category that the list lacks adds, divided by p: the term for q = 0."""
        return {"kl": -math.log(self.alpha), "js": math.log(2) / 2, "hellinger": 0.5}[self.distance]

    def define(self) -> Definition:
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
