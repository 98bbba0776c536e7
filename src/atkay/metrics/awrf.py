"""Attention-weighted rank fairness: whether groups of items get the attention that is due to them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from atkay.metrics.categories import added, categories_of, shares, spread
from atkay.metrics.metric import Definition, Floats, Ints, Judged, ListMetric, number, word
from atkay.metrics.proportions import RANK_WEIGHTS, by_parts, divergence, jensen_shannon, of_everybody, of_items
from atkay.metrics.worked import printed


@dataclass(frozen=True)
class AWRF(ListMetric):
    """How close the attention that a list gives to groups of items is to a target: attention-weighted rank fairness.

    ``1 - distance(q, p)``, with q_c the share of category c in the attention to the top k, where a place counts by its
    weight and an item of several categories in equal parts, and p_c the share that category c should have. It needs
    categories in ``features``. 1 is a list that hits the target.

    Conventions
    -----------
    target
        ``items``: the shares of the categories among all items in ``features``. ``even``: every category the same.
        ``train``: their shares in the training interactions, which needs ``train``. ``relevant``: their shares among
        the user's relevant items. :class:`~atkay.Calibration` compares with the user's own history.
    distance
        ``js``: the Jensen-Shannon divergence in nats, at most ln 2 (TREC Fair Ranking 2022, so that its AWRF is at
        least 0.307). ``variation``: ``½ Σ |p_c - q_c|``, at most 1; with two categories it is the difference of the
        shares of one.
    weight
        The attention to a place. ``jk``: 1 / log2(max(rank, 2)), the same at ranks 1 and 2 (TREC). ``log2``:
        1 / log2(rank + 1). ``geometric``: patience^(rank - 1). ``uniform``: all the same.
    patience
        Of the geometric weights, 0.5 by default.

    Items without a category are left out (in TREC they are a category of their own). Where no listed item has a
    category, or nothing has one that the target is made of, there is no value.

    References
    ----------
    Sapiezynski, Zeng, Robertson, Mislove and Wilson, Quantifying the impact of user attention on fair group
    representation in ranked lists, 2019. Raj and Ekstrand, Measuring fairness in ranked results: an analytical and
    empirical comparison, 2022. Ekstrand, McDonald, Raj and Johnson, Overview of the TREC 2022 Fair Ranking track, 2022.

    Examples
    --------
    Local items are half of all. The one at rank 3 gets 0.5 of 1 + 0.6309 + 0.5, which is 0.2346, and should get 0.5:

    >>> features = {"a": "global", "b": "global", "c": "local", "d": "local"}
    >>> spec = "awrf(distance=variation,weight=log2)@3"
    >>> result = atkay.evaluate({"ann": ["a", "b", "c"]}, {"ann": ["a"]}, spec, features=features)
    >>> round(result[spec], 4)
    0.7346
    """

    name = "awrf"
    aliases = ("attention_weighted_rank_fairness",)
    better = "higher"

    target: Literal["items", "even", "train", "relevant"] = word(
        items="the categories' shares among all items in features",
        even="every category the same",
        train="the categories' shares in the training interactions",
        relevant="the categories' shares among the user's relevant items",
    )
    distance: Literal["js", "variation"] = word(
        js="Jensen-Shannon divergence in nats", variation="half the absolute differences, summed"
    )
    weight: Literal["jk", "log2", "geometric", "uniform"] = word(
        jk="1 / log2(max(rank, 2))", log2="1 / log2(rank + 1)", geometric="patience^(rank - 1)", uniform="1"
    )
    patience: float = number(0.5, lambda value: 0 < value < 1, "a number between 0 and 1")

    @property
    def needs(self) -> tuple[str, ...]:  # type: ignore[override]  # a word decides
        return ("features", "train") if self.target == "train" else ("features",)

    @property
    def needs_truth(self) -> bool:  # type: ignore[override]  # a word decides
        """One of the targets is made of relevant items."""
        return self.target == "relevant"

    @property
    def partial(self) -> bool:  # type: ignore[override]  # a word decides
        """Relevant items may have no category."""
        return self.target == "relevant"

    @property
    def by_item(self) -> bool:  # type: ignore[override]  # a word decides
        """Items differ in their categories, and places in their weight."""
        return self.weight != "uniform"

    def values(self, judged: Judged) -> Floats:
        categories = categories_of(judged, self)
        read = np.zeros(judged.n_queries, np.int64)
        if self.target == "relevant":
            target, read = of_items(lambda part: part.relevant, categories), judged.n_relevant
        elif self.target == "even":
            target = of_everybody(np.ones(categories.n_items))
        else:
            item = judged.train.items.item if self.target == "train" else np.arange(categories.n_queries)
            row, category = spread(categories, item)
            target = of_everybody(added(category, shares(categories, item).take(row), categories.n_items))
        terms, absent = (jensen_shannon, math.log(2) / 2) if self.distance == "js" else (_half_apart, 0.5)

        def of_part(part: Judged) -> Floats:
            return divergence(part, categories, self.cutoffs, self._attention, target, terms, absent)

        apart = by_parts(judged, read, self.reach, of_part, len(self.cutoffs))
        closeness: Floats = np.maximum(1 - apart, 0)
        return closeness

    def _attention(self, rank: Ints) -> Floats:
        if self.weight == "geometric":
            weight: Floats = self.patience ** (rank.astype(float) - 1)
            return weight
        return RANK_WEIGHTS[self.weight](rank)

    def define(self) -> Definition:
        weight = {
            "jk": "1 / log2(max(rank, 2))",
            "log2": "1 / log2(rank + 1)",
            "geometric": f"{printed(self.patience)}^(rank - 1)",
            "uniform": "1",
        }[self.weight]
        target = {
            "items": "those of all items in features",
            "even": "equal shares",
            "train": "those of the training interactions",
            "relevant": "those of the user's relevant items",
        }[self.target]
        distance, formula = {
            "js": (
                "Jensen-Shannon divergence in nats",
                "½ Σ p_c ln(p_c / m_c) + ½ Σ q_c ln(q_c / m_c), m = (p + q) / 2",
            ),
            "variation": ("half the absolute differences", "½ Σ |p_c - q_c|"),
        }[self.distance]
        return Definition(
            f"1 less the {distance} of the shares of categories in {self.top}, where a place weighs {weight}, from "
            f"{target}",
            f"1 - ({formula})",
        )


def _half_apart(p: Floats, q: Floats) -> Floats:
    half: Floats = np.abs(p - q) / 2
    return half
