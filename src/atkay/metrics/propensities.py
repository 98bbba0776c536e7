"""Propensities: how likely it is that a relevant item is observed, and hits that count 1/p of their item."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from atkay.core.kernels import falling, sums
from atkay.errors import SideError
from atkay.judged.side import Features
from atkay.metrics.metric import Floats, Ints, Judged, Metric, Ratio, RunMetric, divide, number, word
from atkay.metrics.worked import printed

LARGEST_WEIGHT = 2.0**500
"""Sums and squares of such weights are still numbers."""

WEIGHTS = {
    "users": "share of training users that have the item",
    "interactions": "item's share of the training interactions",
    "given": "item's given propensity",
}


@dataclass(frozen=True)
class WithPropensity(Metric):
    """What a propensity is: a power of a share or of what was given, clipped from below."""

    propensity: Literal["users", "interactions", "given"] = word(
        users="the share of the training users that have the item",
        interactions="the item's share of the training interactions",
        given="what the table propensity says",
    )
    power: float = number(1.0, lambda power: 0 <= power <= 10, "a number from 0 to 10")
    clip: float = number(0.0, lambda clip: 0 <= clip <= 1, "a number from 0 to 1")

    @property
    def needs(self) -> tuple[str, ...]:  # type: ignore[override]  # a word decides
        """Where propensities come from."""
        return ("propensity",) if self.propensity == "given" else ("train",)

    def weights(self, judged: Judged) -> Floats:
        """1/p of each item, 0 for one without a propensity."""
        if self.propensity == "given":
            share = _given(judged.propensity)
        else:
            train = judged.train
            share = train.popularity / max(train.users if self.propensity == "users" else len(train.items), 1)
        p = np.where(share > 0, np.maximum(share**self.power, self.clip), 1.0)
        if (tiny := p < 1 / LARGEST_WEIGHT).any():
            raise SideError(
                f"{self}: a propensity of {share[tiny].min():g}{self._to_the_power} is too small to weigh by 1/p. Clip "
                "the weights, for instance with clip=0.0001, or choose a lower power."
            )
        return np.where(share > 0, 1 / p, 0.0)

    @property
    def _to_the_power(self) -> str:
        """The power in words, where there is one."""
        return "" if self.power == 1 else f" to the power of {printed(self.power)}"

    @property
    def weight(self) -> str:
        """The weight of an item in words."""
        clip = f", p at least {printed(self.clip)}" if self.clip else ""
        return f"1/p with p the {WEIGHTS[self.propensity]}{self._to_the_power}{clip}"


def _given(table: Features) -> Floats:
    assert table.vectors is not None
    return np.nan_to_num(table.vectors[:, 0], nan=0.0)


@dataclass(frozen=True)
class InversePropensity(WithPropensity, Ratio):
    """A metric whose hits count 1/p of their item."""

    bounded = False
    partial = True
    by_item = True

    estimator: Literal["ips", "snips"] = word(
        ips="1/p as it is", snips="1/p over the mean 1/p of the user's relevant items"
    )

    @property
    def beside(self) -> tuple[RunMetric, ...]:  # type: ignore[override]  # it has the same words
        """How many relevant items the weights are worth."""
        from atkay.metrics.effective_sample_size import EffectiveSampleSize

        return (EffectiveSampleSize(propensity=self.propensity, power=self.power, clip=self.clip),)

    def values(self, judged: Judged) -> Floats:
        """The ratio, and none for a user whose relevant items all lack a propensity."""
        known, _ = self.relevant(judged)
        return np.where(known[:, None] > 0, divide(*self.ratio(judged)), np.nan)

    def hits(self, judged: Judged, discount: Floats | float = 1.0) -> Floats:
        """The sum of the hits' weights over their discounts."""
        weights = self.weights(judged).take(judged.item) / discount
        return sums(judged.query, judged.rank, weights, self.cutoffs, judged.n_queries)

    def best(self, judged: Judged) -> Floats:
        """The weights of each query's relevant items, the highest first, one query after the other."""
        return falling(judged.relevant, self.weights(judged).take(judged.relevant.item))

    def relevant(self, judged: Judged) -> tuple[Ints, Floats]:
        """How many relevant items of each query have a propensity, and the sum of their weights."""
        weights, owner = self.best(judged), judged.relevant.owner()
        known: Ints = np.bincount(owner[weights > 0], minlength=judged.n_queries)
        total: Floats = np.bincount(owner, weights, judged.n_queries).astype(float)
        return known, total

    def per(self, judged: Judged, counted: Floats | Ints) -> Floats:
        """What hits are divided by where each would otherwise count 1; nothing for a user without a propensity."""
        known, total = self.relevant(judged)
        mean = divide(total, known.astype(float)) if self.estimator == "snips" else (known > 0).astype(float)
        return counted * mean[:, None]

    @property
    def counted(self) -> str:
        """The relevant items in a formula."""
        return "Σ w of all" if self.estimator == "snips" else "R"

    @property
    def mean(self) -> str:
        """What weights are divided by in a formula, besides."""
        return " / mean w" if self.estimator == "snips" else ""

    def in_words(self, *divisors: str) -> str:
        """What the number is, with what it is divided by."""
        mean = ("the mean 1/p of the user's relevant items",) if self.estimator == "snips" else ()
        per = " and by ".join((*divisors, *mean))
        return f"sum over the relevant items in {self.top} of {self.weight}{per and f', divided by {per}'}"
