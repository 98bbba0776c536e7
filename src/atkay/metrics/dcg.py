"""Discounted cumulative gain, plain and normalised: graded relevance that counts less further down."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from atkay.core.types import WHOLE, Floats, Ints
from atkay.errors import RelevanceError
from atkay.judged import ties as expected
from atkay.judged.judged import Judged, sums, within
from atkay.metrics.metric import Definition, Metric, divide
from atkay.metrics.worked import added, bracketed, printed, quotient
from atkay.words import word

if TYPE_CHECKING:
    from collections.abc import Callable


def _exp2(grade: Floats) -> Floats:
    # Far below 1 the difference to 1 would lose its digits; whole grades stay exact.
    return np.where(grade < 0.5, np.expm1(grade * math.log(2)), np.exp2(grade) - 1)


GAINS: dict[str, Callable[[Floats], Floats]] = {
    "exp2": _exp2,
    "exp2_above": _exp2,
    "linear": lambda grade: grade,
    "binary": np.ones_like,
}
STEEPEST = 500
"""The highest grade that can be an exponent: squares and sums of such gains are still numbers."""
SMALLEST, LARGEST = 2.0**-STEEPEST, 2.0**STEEPEST
"""The grades that can be added up, for the same reason; below, quotients lose their digits."""

DISCOUNTS: dict[str, Callable[[Ints], Floats]] = {
    "log2": lambda rank: np.log2(rank + 1),
    "ln": lambda rank: np.log(rank + 1),
    "jk": lambda rank: np.maximum(1, np.log2(rank)),
}


def gains(name: str, grade: Floats, threshold: float = 0.0) -> Floats:
    """What the grades are worth; ``threshold`` is the lowest grade that is relevant."""
    power = grade - threshold + 1 if name == "exp2_above" else grade
    if name.startswith("exp2") and power.max(initial=0) > STEEPEST:
        raise RelevanceError(
            f"truth: a grade of {grade.max():g} is too large for gain={name}, which takes 2 to its power. "
            "Choose gain=linear or gain=binary."
        )
    if name != "binary":
        check_weights(grade)
    return GAINS[name](power)


def check_weights(grade: Floats) -> None:
    """Refuse grades whose sums or quotients no float holds."""
    low, high = grade.min(initial=1, where=grade > 0), grade.max(initial=1)
    if low < SMALLEST or high > LARGEST:
        raise RelevanceError(
            f"truth: a grade of {low if low < SMALLEST else high:g} is too {'small' if low < SMALLEST else 'large'} to "
            "add up: sums of such grades are not exact, or infinite. Rescale the grades, for instance to 0 to 5."
        )


def best_sums(
    judged: Judged, gain: Callable[[Floats], Floats], discount: Callable[[Ints], Floats], cutoffs: tuple[int, ...]
) -> Floats:
    """The discounted gain of each query's relevant items in the best order, up to each cutoff."""
    grades = judged.grades
    worth = gain(grades[:1] if (grades == grades[:1]).all() else grades)
    if (worth == worth[:1]).all():
        # Summed in rank order as `total` does it, so that a perfect list scores 1 to the last bit.
        places = np.arange(1, judged.n_relevant.max(initial=0) + 1)
        running = np.concatenate(([0.0], np.cumsum(worth[:1] / discount(places))))
        return running[judged.capped(cutoffs)]
    query = np.repeat(np.arange(judged.n_queries), judged.n_relevant)
    place = within(query, judged.n_queries)
    return sums(query, place, worth / discount(place), cutoffs, judged.n_queries)


@dataclass(frozen=True)
class DCG(Metric):
    """How much relevance is shown, early places counting more.

    The sum of ``gain(grade) / discount(rank)`` over the hits in the top k.

    Conventions
    -----------
    gain
        ``exp2`` is 2^grade - 1 (Burges et al. 2005; web search, learning to rank); ``linear`` the grade itself
        (Järvelin and Kekäläinen 2002; trec_eval, ranx, scikit-learn, torchmetrics); ``binary`` 1 for every relevant
        item; ``exp2_above`` 2^(grade - min_relevance + 1) - 1, which is 1 for a grade of min_relevance, 0 where none
        is set (Elliot). On truth without grades nDCG is the same under all four.
    discount
        ``log2`` is log2(rank + 1); ``ln`` the natural logarithm of rank + 1 (Recommenders, Spark); ``jk`` max(1, log2
        rank), the original form, in which ranks 1 and 2 weigh the same (LensKit).

    No hit scores 0. It has no upper bound, so users with much relevance weigh more in its mean.

    References
    ----------
    Järvelin and Kekäläinen, Cumulated gain-based evaluation of IR techniques, 2002.

    Examples
    --------
    Grades 3 and 1 at ranks 1 and 3: 7 / log2(2) + 1 / log2(4).

    >>> result = atkay.evaluate({"ann": ["a", "x", "b"]}, {"ann": {"a": 3, "b": 1}}, "dcg@3")
    >>> result["dcg@3"]
    7.5
    """

    name = "dcg"
    averages = True
    by_grade = True
    aliases: ClassVar[tuple[str, ...]] = ("discounted_cumulative_gain",)

    gain: str = word(exp2="2^grade - 1", linear="the grade", binary="1", exp2_above="2^(grade - min_relevance + 1) - 1")
    discount: str = word(log2="log2(rank + 1)", ln="the natural logarithm of rank + 1", jk="max(1, log2 rank)")

    @property
    def bounded(self) -> bool:
        """A gain has no bound."""
        return False

    def values(self, judged: Judged) -> Floats:
        """DCG per query and cutoff."""
        worth, discount = gains(self.gain, judged.grade, judged.threshold), DISCOUNTS[self.discount]
        if judged.averaged:
            return expected.discounted(judged, worth, discount, self.cutoffs)
        return judged.total(worth / discount(judged.rank), self.cutoffs)

    def expression(self, judged: Judged) -> str:
        """The sum over the hits."""
        top = judged.rank <= self.cutoffs[0]
        return self._sum(judged.grade[top], judged.rank[top], judged.threshold)

    def _sum(self, grades: Floats, ranks: Ints, threshold: float) -> str:
        """The discounted gains of some grades at some ranks, written out."""
        discount = {"log2": "log2({1})", "ln": "ln({1})", "jk": "max(1, log2({0}))"}[self.discount]
        above = f"(2^({{}} - {printed(threshold)} + 1) - 1)"
        gain = {"exp2": "(2^{} - 1)", "linear": "{}", "binary": "1", "exp2_above": above}[self.gain]
        worth = gains(self.gain, grades, threshold)
        terms = (
            f"{'1' if one == 1 else gain.format(printed(float(grade)))} / {discount.format(rank, rank + 1)}"
            for grade, one, rank in zip(grades, worth, ranks, strict=True)
        )
        return added(terms, len(ranks))

    def define(self) -> Definition:
        """The sum in words."""
        gain = {
            "exp2": "(2^grade - 1)",
            "linear": "grade",
            "binary": "1",
            "exp2_above": "(2^(grade - min_relevance + 1) - 1)",
        }[self.gain]
        discount = {"log2": "log2(rank + 1)", "ln": "ln(rank + 1)", "jk": "max(1, log2 rank)"}[self.discount]
        term = f"{gain} / {discount}"
        return Definition(f"sum of {term} over the relevant items in {self.top}", f"Σ {term}")


@dataclass(frozen=True)
class NDCG(DCG):
    """How close the list comes to the best possible order, graded relevance and early places counting more.

    ``DCG / IDCG``, with DCG as in :class:`DCG` and IDCG the same sum for an ideal list.

    Conventions
    -----------
    gain, discount
        As in :class:`DCG`. A logarithm's base cancels, so ``ln`` and ``log2`` give the same nDCG.
    ideal
        ``relevant`` puts the k best of all relevant items first (trec_eval, ranx, RePlay, RecBole, ...); ``full`` takes
        k items of grade 1 for every user (RecTools' default): where every gain is 1, a user with fewer than k relevant
        items cannot reach 1, and higher gains can exceed it; ``listed`` re-orders the list itself, so that what was
        missed does not count (scikit-learn, torchmetrics, LightGBM); ``uncut`` takes all relevant items, however many,
        so that a user with more than k of them cannot reach 1.

    No hit scores 0, under ``ideal=listed`` as well, where it would be 0 / 0.

    References
    ----------
    Järvelin and Kekäläinen, Cumulated gain-based evaluation of IR techniques, 2002.
    Burges et al., Learning to rank using gradient descent, 2005 (exp2).

    Examples
    --------
    The grades in list order are 1 and 3. DCG is 1 / log2(2) + 7 / log2(3) = 5.4165; ideal is 7 / log2(2) + 1 / log2(3)
    = 7.6309.

    >>> result = atkay.evaluate({"ann": ["b", "a"]}, {"ann": {"a": 3, "b": 1}}, ["ndcg@2", "ndcg(gain=linear)@2"])
    >>> round(result["ndcg@2"], 4), round(result["ndcg(gain=linear)@2"], 4)
    (0.7098, 0.7967)
    """

    name = "ndcg"
    aliases: ClassVar[tuple[str, ...]] = ("normalized_dcg", "normalised_dcg", "normalized_discounted_cumulative_gain")

    ideal: str = word(
        relevant="all relevant items, the best k",
        full="k items of grade 1",
        listed="the list itself, re-ordered",
        uncut="all relevant items, not cut at k",
    )

    @property
    def bounded(self) -> bool:
        """Grades above 1 can beat an ideal of grade 1."""
        return self.ideal != "full"

    @property
    def reach(self) -> int:
        """A list in its best order begins with what stands below the cutoff."""
        return WHOLE if self.ideal == "listed" else super().reach

    def values(self, judged: Judged) -> Floats:
        """NDCG per query and cutoff."""
        return divide(super().values(judged), self._ideal(judged))

    def _ideal(self, judged: Judged) -> Floats:
        gain = functools.partial(gains, self.gain, threshold=judged.threshold)
        discount, cutoffs = DISCOUNTS[self.discount], self.cutoffs
        if self.ideal == "full":
            depth = judged.depth(cutoffs)
            places = np.arange(1, depth.max(initial=0) + 1)
            return np.concatenate(([0.0], np.cumsum(gain(self._one(judged)) / discount(places))))[depth]
        if self.ideal == "listed":
            # The order is by query first, so place n of the re-ordered list belongs to the same query as hit n.
            best_first = judged.grade[np.lexsort((-judged.grade, judged.query))]
            worth = gain(best_first) / discount(judged.nth)
            return sums(judged.query, judged.nth, worth, cutoffs, judged.n_queries)
        return best_sums(judged, gain, discount, cutoffs if self.ideal == "relevant" else (WHOLE,) * len(cutoffs))

    def _one(self, judged: Judged) -> Floats:
        """The grade of ``ideal=full``: 1, or the lowest relevant grade where a gain counts from there."""
        return np.array([max(1.0, judged.threshold) if self.gain == "exp2_above" else 1.0])

    def expression(self, judged: Judged) -> str:
        """The sum over the hits, over the ideal's."""
        k = self.cutoffs[0]
        ideal = {
            "relevant": judged.grades[:k],
            "full": np.repeat(self._one(judged), judged.depth(self.cutoffs)[0, 0]),
            "listed": -np.sort(-judged.grade)[:k],
            "uncut": judged.grades,
        }[self.ideal]
        above = super().expression(judged)
        below = self._sum(ideal, np.arange(1, len(ideal) + 1), judged.threshold)
        return quotient(bracketed(above), bracketed(below))

    def define(self) -> Definition:
        """The quotient in words."""
        words, formula = super().define()
        cut = "" if self.k is None else f", cut at {self.k}"
        ideal = {
            "relevant": f"all relevant items in the best order{cut}",
            "full": "as many items of grade 1 as the list is long" if self.k is None else f"{self.k} items of grade 1",
            "listed": f"the same list in its best order{cut}",
            "uncut": "all relevant items in the best order, not cut",
        }[self.ideal]
        return Definition(f"{words}, divided by the same sum for {ideal}", f"DCG / IDCG, DCG = {formula}")
