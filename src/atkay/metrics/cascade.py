"""Metrics that follow a user down the list: one who stops when satisfied, and one who goes on by chance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from atkay.core.types import Floats, Ints
from atkay.judged.judged import sums
from atkay.metrics.dcg import GAINS, STEEPEST, gains
from atkay.metrics.metric import Definition, ListMetric, Metric, number
from atkay.metrics.worked import added, bracketed, printed
from atkay.words import word

if TYPE_CHECKING:
    from atkay.judged.judged import Judged


def running_product(factors: Floats, nth: Ints) -> Floats:
    """The product of each factor and those before it in its list; ``nth`` is a factor's place there, from 1.

    Each round takes in twice as many factors, so the rounds are as many as the longest list's bits. The order of
    the multiplications follows from ``nth`` alone.
    """
    out, step = factors.copy(), 1
    while step < nth.max(initial=0):
        far = np.flatnonzero(nth > step)
        out[far] *= out[far - step]
        step *= 2
    return out


def _highest(default: float) -> Any:
    """The field that says which grade is the highest there can be."""
    meaning = f"the highest grade, a number above 0 and up to {STEEPEST}"
    return number(default, lambda value: 0 < value <= STEEPEST, meaning)


def _patience() -> Any:
    """The field that says how likely the user is to go on."""
    return number(0.8, lambda value: 0 < value < 1, "a number between 0 and 1")


@dataclass(frozen=True)
class ERR(Metric):
    """How soon a user who reads from the top and stops when satisfied is satisfied.

    ``Σ (1 / r) R_r Π_{i<r} (1 - R_i)`` over the ranks r of the top k, with ``R = (2^grade - 1) / 2^highest`` the
    chance that an item of that grade satisfies: a good item makes what stands below it count less.

    Conventions
    -----------
    highest
        The highest grade there is in the scale, 4 by default (TREC's web track, gdeval); it is a property of the scale
        and not of the data at hand, so that runs and parts of users stay comparable. A higher grade counts as this one.
        Write ``err(highest=1)`` for truth without grades (then R is 1/2), ``err(highest=5)`` for five stars.

    No hit scores 0. Even the best list stays below 1, as no item satisfies for certain.

    References
    ----------
    Chapelle, Metzler, Zhang and Grinspan, Expected reciprocal rank for graded relevance, 2009.

    Examples
    --------
    Grades 2 and 1 at ranks 1 and 3, the highest grade is 2, so R is 3/4 and 1/4: 3/4 + 1/3 * 1/4 * (1 - 3/4).

    >>> result = atkay.evaluate({"ann": ["a", "x", "b"]}, {"ann": {"a": 2, "b": 1}}, "err(highest=2)@3")
    >>> round(result["err(highest=2)@3"], 6)
    0.770833
    """

    name = "err"
    aliases: ClassVar[tuple[str, ...]] = ("expected_reciprocal_rank",)
    by_grade = True

    highest: float = _highest(4.0)

    def values(self, judged: Judged) -> Floats:
        """ERR per query and cutoff."""
        seen = np.flatnonzero(judged.rank <= max(self.cutoffs))
        query, rank, nth = (each.take(seen) for each in (judged.query, judged.rank, judged.nth))
        satisfied = GAINS["exp2"](np.minimum(judged.grade.take(seen), self.highest)) / 2**self.highest
        reached = np.ones(len(seen))  # the chance that the user is still reading
        later = np.flatnonzero(nth > 1)
        reached[later] = running_product(1 - satisfied, nth)[later - 1]
        return sums(query, rank, satisfied * reached / rank, self.cutoffs, judged.n_queries)

    def expression(self, judged: Judged) -> str:
        """The chance to be satisfied at each hit and not before, over its rank."""
        top = judged.rank <= self.cutoffs[0]
        grades = np.minimum(judged.grade[top], self.highest)
        chances = [f"{printed(gain)}/{printed(2**self.highest)}" for gain in GAINS["exp2"](grades).tolist()]
        terms = (
            f"1/{rank} * {chance}" + "".join(f" * (1 - {before})" for before in chances[:nth])
            for nth, (rank, chance) in enumerate(zip(judged.rank[top], chances, strict=True))
        )
        return added(terms, len(chances))

    def define(self) -> Definition:
        """The expectation in words."""
        highest = printed(self.highest)
        chance = f"(2^min(grade, {highest}) - 1) / 2^{highest}"
        return Definition(
            f"expected 1 / rank at which a user who reads {self.top} from above is satisfied, an item satisfying with "
            f"chance {chance}",
            f"Σ R_r / r · Π (1 - R_i), R = {chance}",
        )


@dataclass(frozen=True)
class RBP(Metric):
    """How much relevance a user sees per item looked at, who goes on to the next item with chance p.

    ``(1 - p) Σ g_j p^(j-1)`` over the ranks j of the top k.

    Conventions
    -----------
    p
        How patient the user is: such a user looks at 1 / (1 - p) items on average. 0.8 by default, five items; Moffat
        and Zobel look at 0.5, 0.8 and 0.95.
    gain
        ``binary`` counts 1 for every relevant item (Moffat and Zobel); ``linear`` grade / ``highest``; ``grade`` the
        grade itself, however high, so that grades above 1 can pass 1 (ranx).
    highest
        The highest grade of the scale, 1 by default; for ``gain=linear`` alone. A higher grade counts as this one.

    No hit scores 0. Only an endless list of relevant items would score 1: what a finite list leaves open is
    :class:`RBPResidual`.

    References
    ----------
    Moffat and Zobel, Rank-biased precision for measurement of retrieval effectiveness, 2008.

    Examples
    --------
    Hits at ranks 1 and 3, p = 0.8: 0.2 * (1 + 0.8²).

    >>> result = atkay.evaluate({"ann": ["a", "x", "b"]}, {"ann": ["a", "b"]}, "rbp@3")
    >>> round(result["rbp@3"], 6)
    0.328
    """

    name = "rbp"
    aliases: ClassVar[tuple[str, ...]] = ("rank_biased_precision",)

    p: float = _patience()
    gain: str = word(binary="1", linear="the grade, divided by the highest", grade="the grade")
    highest: float = _highest(1.0)

    @property
    def bounded(self) -> bool:
        """A grade has no bound."""
        return self.gain != "grade"

    def values(self, judged: Judged) -> Floats:
        """RBP per query and cutoff."""
        weights: Floats = (1 - self.p) * np.power(self.p, judged.rank - 1.0)
        if self.gain == "grade":
            return judged.total(weights * gains("linear", judged.grade), self.cutoffs)
        if self.gain == "linear":
            weights = weights * np.minimum(judged.grade / self.highest, 1)
        return np.minimum(judged.total(weights, self.cutoffs), 1.0)  # rounding may go past 1 in the last digit

    def expression(self, judged: Judged) -> str:
        """The sum over the hits, times 1 - p."""
        top, p, highest = judged.rank <= self.cutoffs[0], printed(self.p), printed(self.highest)
        pairs = zip(judged.grade[top].tolist(), judged.rank[top].tolist(), strict=True)
        worth = {"binary": "", "linear": "min({grade} / {highest}, 1) * ", "grade": "{grade} * "}[self.gain]
        terms = (worth.format(grade=printed(grade), highest=highest) + f"{p}^{rank - 1}" for grade, rank in pairs)
        return f"(1 - {p}) * {bracketed(added(terms, int(top.sum())))}"

    def define(self) -> Definition:
        """The sum in words."""
        p, highest = printed(self.p), printed(self.highest)
        gain = {"binary": "", "linear": f"min(grade / {highest}, 1) · ", "grade": "grade · "}[self.gain]
        return Definition(
            f"sum of {gain}{p}^(rank - 1) over the relevant items in {self.top}, times 1 - {p}",
            f"(1 - {p}) Σ {gain}{p}^(rank - 1)",
        )


@dataclass(frozen=True)
class RBPResidual(ListMetric):
    """How much rank-biased precision could still rise, were the list to go on.

    ``p^L``, with L the items listed in the top k: the weight of all places below the list's end. The true value lies
    between :class:`RBP` and RBP + residual. An item that the truth does not grade counts as not relevant, and so adds
    nothing to the residual.

    Conventions
    -----------
    p
        As in :class:`RBP`.

    An empty list leaves everything open: 1.

    References
    ----------
    Moffat and Zobel, Rank-biased precision for measurement of retrieval effectiveness, 2008.

    Examples
    --------
    Three items are listed: 0.8³.

    >>> result = atkay.evaluate({"ann": ["a", "x", "b"]}, {"ann": ["a", "b"]}, "rbp_residual@10")
    >>> round(result["rbp_residual@10"], 6)
    0.512
    """

    name = "rbp_residual"
    aliases: ClassVar[tuple[str, ...]] = ("rank_biased_precision_residual",)
    by_length: ClassVar[bool] = True

    p: float = _patience()

    def values(self, judged: Judged) -> Floats:
        """The residual per query and cutoff."""
        residual: Floats = self.p ** judged.listed(self.cutoffs).astype(float)
        return residual

    def define(self) -> Definition:
        """The power in words."""
        p = printed(self.p)
        return Definition(f"{p} to the power of the number of items listed in {self.top}", f"{p}^L")
