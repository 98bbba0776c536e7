"""nDCG at the relevant items, averaged: no cutoff has to be chosen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from atkay.core.kernels import sums, within
from atkay.core.types import WHOLE, Ints
from atkay.metrics.gains import DISCOUNTS, Given, gains, ideal_gains, settled_gain
from atkay.metrics.metric import AllOrders, Definition, Floats, Judged, Metric, divide
from atkay.metrics.user_models import running
from atkay.words import Scale, word_or_table


def gain_field() -> Any:
    """The field that says what a grade is worth."""
    return word_or_table(linear="the grade", exp2="2^grade - 1", binary="1")


class Curves(NamedTuple):
    """The DCG of lists as it grows from hit to hit, and that of ideal lists from place to place."""

    worth: Floats
    """The gain of each hit."""
    dcg: Floats
    ideal: Floats
    """The gain of each relevant item, best first."""
    ideal_dcg: Floats
    owner: Ints
    """The query of each relevant item."""
    place: Ints
    n_gaining: Ints
    """The relevant items of each query that are worth something."""

    @classmethod
    def of(cls, judged: Judged, gain: Given) -> Curves:
        """Both, with this gain."""
        worth, ideal = gains(gain, judged.grade), ideal_gains(gain, judged)
        owner = np.repeat(np.arange(judged.n_queries), judged.n_relevant)
        place, discount = within(owner), DISCOUNTS["log2"]
        dcg = running(np.add, worth / discount(judged.rank), judged.nth)
        ideal_dcg = running(np.add, ideal / discount(place), place)
        return cls(
            worth, dcg, ideal, ideal_dcg, owner, place, np.bincount(owner[ideal > 0], minlength=judged.n_queries)
        )

    def ends(self, judged: Judged) -> tuple[Floats, Floats]:
        """DCG and ideal DCG of each query's whole list."""
        last = np.searchsorted(judged.query, np.arange(1, judged.n_queries + 1)) - 1
        some = np.bincount(judged.query, minlength=judged.n_queries) > 0
        reached, best = np.zeros(judged.n_queries), np.zeros(judged.n_queries)
        reached[some] = self.dcg[last[some]]
        has_ideal = judged.n_relevant > 0
        best[has_ideal] = self.ideal_dcg[judged.edges[1:][has_ideal] - 1]
        return reached, best


def discounts_upto(length: Ints) -> Floats:
    """The sum of 1 / discount of the ranks up to each, down to the longest list's last."""
    ranks = np.arange(1, int(length.max(initial=0)) + 1)
    return np.concatenate(([0.0], np.cumsum(1 / DISCOUNTS["log2"](ranks))))


@dataclass(frozen=True)
class NDCGRel(Metric):
    """nDCG at the rank of each relevant item, averaged over them, so that no cutoff has to be chosen.

    ``(1/R) Σ DCG@l / IDCG@l`` over the R relevant items, l being the rank of each; for those that are not listed, it is
    the nDCG of the whole list. With DCG as in :class:`DCG`. Items that gain nothing do not count.

    Conventions
    -----------
    gain
        ``linear`` is the grade (trec_eval), ``exp2`` 2^grade - 1, ``binary`` 1 for every relevant item; or a table, as
        in :class:`DCG`.

    No hit scores 0.

    References
    ----------
    The help of trec_eval's measure ndcg_rel, 2008.

    Examples
    --------
    Of three relevant items of grade 1 two are listed, at ranks 1 and 3. nDCG is 1 at rank 1, and at rank 3, and so for
    the missed item, (1 + 1/2) / (1 + 1/log2(3) + 1/2) = 0.7039: (1 + 0.7039 + 0.7039) / 3.

    >>> result = atkay.evaluate({"ann": ["a", "x", "b"]}, {"ann": ["a", "b", "c"]}, "ndcg_rel")
    >>> round(result["ndcg_rel"], 4)
    0.8026
    """

    name = "ndcg_rel"
    cuts = False
    by_grade = True
    monotone = True

    gain: Literal["linear", "exp2", "binary"] | Scale = gain_field()

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "gain", settled_gain(self.name, self.gain))

    @property
    def of_one_gain(self) -> bool:  # type: ignore[override]  # a word decides
        """Grades count, but for binary gains."""
        return self.gain != "binary"

    def values(self, judged: Judged) -> Floats:
        curves = Curves.of(judged, self.gain)
        deepest = np.minimum(judged.rank, judged.n_relevant[judged.query])
        at_hits = divide(curves.dcg, curves.ideal_dcg[judged.edges[judged.query] + deepest - 1])
        gaining = curves.worth > 0
        listed = sums(judged.query, judged.rank, at_hits * gaining, (WHOLE,), judged.n_queries)[:, 0]
        missed = curves.n_gaining - np.bincount(judged.query[gaining], minlength=judged.n_queries)
        return divide(listed + missed * divide(*curves.ends(judged)), curves.n_gaining)[:, None]

    def all_orders(self, judged: Judged) -> AllOrders:
        """A hit stands at each rank with the same chance, each other one above it with the same, too."""
        curves, length, n = Curves.of(judged, self.gain), judged.n_listed, judged.n_queries
        hits = np.bincount(judged.query[curves.worth > 0], minlength=n)
        gained, upto = np.bincount(judged.query, curves.worth, n), discounts_upto(length)
        query = np.repeat(np.arange(n), np.where(judged.n_relevant > 0, length, 0))
        rank = within(query)
        above = (hits[query] - 1) * divide(upto[rank - 1], length[query] - 1.0)
        dcg = gained[query] / length[query] * (upto[rank] - upto[rank - 1] + above)
        deepest = judged.edges[query] + np.minimum(rank, judged.n_relevant[query]) - 1
        listed = np.bincount(query, divide(dcg, curves.ideal_dcg[deepest]), n)
        whole = divide(gained * upto[length], length * curves.ends(judged)[1])
        return AllOrders(divide(listed + (curves.n_gaining - hits) * whole, curves.n_gaining)[:, None])

    def define(self) -> Definition:
        return Definition(
            "nDCG at the rank of each relevant item, and that of the whole list for each one not listed, averaged",
            "(1/R) Σ DCG@l / IDCG@l",
        )
