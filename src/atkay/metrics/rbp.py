"""Rank-biased precision: a user who goes on to the next item by chance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from atkay.judged import ties as expected
from atkay.metrics.gains import gains, highest_grade
from atkay.metrics.metric import Definition, Floats, Ints, Judged, Metric, number, word
from atkay.metrics.user_models import share_of_highest
from atkay.metrics.worked import added, bracketed, printed


def persistence(default: float = 0.8) -> Any:
    """The field that says how likely the user is to go on."""
    return number(default, lambda value: 0 < value < 1, "a number between 0 and 1")


@dataclass(frozen=True)
class RBP(Metric):
    """The relevance seen per item by a user who continues to the next item with probability p.

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
    aliases = ("rank_biased_precision",)
    monotone = True
    averages = True
    repeats = True

    p: float = persistence()
    gain: Literal["binary", "linear", "grade"] = word(
        binary="1", linear="the grade, divided by the highest", grade="the grade"
    )
    highest: float = highest_grade(1.0)

    @property
    def bounded(self) -> bool:  # type: ignore[override]  # a word decides
        """A grade has no bound."""
        return self.gain != "grade"

    def values(self, judged: Judged) -> Floats:
        def weight(rank: Ints) -> Floats:
            of_rank: Floats = (1 - self.p) * np.power(self.p, rank - 1.0)
            return of_rank

        if self.gain == "grade":
            worth = gains("linear", judged.grade)
        else:
            worth = np.ones(len(judged.rank)) if self.gain == "binary" else share_of_highest(judged.grade, self.highest)
        if judged.averaged:
            total = expected.weighted(judged, worth, weight, self.cutoffs)
        else:
            total = judged.total(weight(judged.rank) * worth, self.cutoffs)
        return np.minimum(total, 1.0) if self.bounded else total  # rounding may go past 1 in the last digit

    def expression(self, judged: Judged) -> str:
        top, p, highest = judged.rank <= self.cutoffs[0], printed(self.p), printed(self.highest)
        pairs = zip(judged.grade[top].tolist(), judged.rank[top].tolist(), strict=True)
        worth = {"binary": "", "linear": "min({grade} / {highest}, 1) * ", "grade": "{grade} * "}[self.gain]
        terms = (worth.format(grade=printed(grade), highest=highest) + f"{p}^{rank - 1}" for grade, rank in pairs)
        return f"(1 - {p}) * {bracketed(added(terms, int(top.sum())))}"

    def define(self) -> Definition:
        p, highest = printed(self.p), printed(self.highest)
        gain = {"binary": "", "linear": f"min(grade / {highest}, 1) · ", "grade": "grade · "}[self.gain]
        return Definition(
            f"sum of {gain}{p}^(rank - 1) over the relevant items in {self.top}, times 1 - {p}",
            f"(1 - {p}) Σ {gain}{p}^(rank - 1)",
        )
