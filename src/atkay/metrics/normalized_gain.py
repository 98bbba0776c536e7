"""Normalised gain: each relevant item discounted by the gain missed above it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from atkay.core.kernels import sums, within
from atkay.metrics.gains import gains, ideal_gains, settled_gain
from atkay.metrics.metric import WHOLE, AllOrders, Definition, Floats, Judged, Metric, divide
from atkay.metrics.shuffled import over_misses_above
from atkay.metrics.user_models import running
from atkay.words import Scale, word_or_table


@dataclass(frozen=True)
class NormalizedGain(Metric):
    """How little is missed above each relevant item: average precision and nDCG in one (trec_eval's G and binG).

    ``Σ g / log2(2 + C - S)`` over the hits of the top k, divided by the gains of all relevant items. S is the gain of
    the list up to the hit, C what an ideal list has there, each place counting at least 1. An item that follows good
    ones is worth its whole gain, however far down it stands.

    Conventions
    -----------
    gain
        ``linear`` is the grade (trec_eval's G); ``binary`` 1 for every relevant item, so that C - S is the number of
        items above that are not relevant (binG); ``exp2`` 2^grade - 1; or a table, as in :class:`DCG`.

    No hit scores 0.

    References
    ----------
    The help of trec_eval's measures G and binG, 2008.

    Examples
    --------
    Grades 1 and 2 at ranks 1 and 3. At rank 1, S is 1 and C is 2; at rank 3, S is 3 and C = 2 + 1 + 1:
    (1 / log2(3) + 2 / log2(3)) / 3. With binary gains: (1 / log2(2) + 1 / log2(3)) / 2.

    >>> result = atkay.evaluate({"ann": ["b", "x", "a"]}, {"ann": {"a": 2, "b": 1}},
    ...                         ["normalized_gain", "normalized_gain(gain=binary)"])
    >>> [round(value, 4) for value in result.values()]
    [0.6309, 0.8155]
    """

    name = "normalized_gain"
    aliases = ("normalised_gain",)
    monotone = True

    gain: Literal["linear", "binary", "exp2"] | Scale = word_or_table(
        linear="the grade", binary="1", exp2="2^grade - 1"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "gain", settled_gain(self.name, self.gain))

    @property
    def by_grade(self) -> bool:  # type: ignore[override]  # a word decides
        """Binary gains see what is relevant, the others every grade, as trec_eval has it."""
        return self.gain != "binary"

    @property
    def of_one_gain(self) -> bool:  # type: ignore[override]  # a word decides
        """A higher grade is more that may be missed."""
        return self.by_grade

    def values(self, judged: Judged) -> Floats:
        worth = gains(self.gain, judged.grade)
        ideal = ideal_gains(self.gain, judged)
        owner = np.repeat(np.arange(judged.n_queries), judged.n_relevant)
        place = within(owner)
        above_one = running(np.add, np.maximum(ideal - 1, 0), place)
        last = judged.edges[judged.query] + np.minimum(judged.rank, judged.n_relevant[judged.query]) - 1
        # Rounding must not put the gain of an ideal list above C.
        missed = np.maximum(judged.rank + above_one[last] - running(np.add, worth, judged.nth), 0)
        best = sums(owner, place, ideal, (WHOLE,), judged.n_queries)
        return divide(judged.total(worth / np.log2(2 + missed), self.cutoffs), best)

    def all_orders(self, judged: Judged) -> AllOrders | None:
        """With binary gains, each hit has the irrelevant items above it in any number."""
        if self.gain != "binary":
            return None
        hits = judged.total(1, (WHOLE,))
        misses = judged.n_listed - hits[:, 0].astype(np.int64)
        each = over_misses_above(misses, judged.n_listed, lambda _, above: 1 / np.log2(2 + above), self.cutoffs)
        return AllOrders(divide(hits * each, judged.n_relevant[:, None]))

    def define(self) -> Definition:
        gain = {"linear": "grade", "binary": "1", "exp2": "(2^grade - 1)"}.get(str(self.gain), f"{self.gain}[grade]")
        return Definition(
            f"sum of {gain} / log2(2 + the gain missed down to there) over the relevant items in {self.top}, divided "
            "by the gains of all relevant items",
            f"Σ {gain} / log2(2 + C - S) / Σ {gain}",
        )
