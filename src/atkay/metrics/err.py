"""Expected reciprocal rank: a user who stops when satisfied."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from atkay.core.kernels import sums
from atkay.metrics.gains import GAINS, highest_grade
from atkay.metrics.metric import Definition, Floats, Judged, Metric
from atkay.metrics.user_models import before, expected_stop
from atkay.metrics.worked import added, printed


@dataclass(frozen=True)
class ERR(Metric):
    """How soon a user who scans the list from the top finds a satisfying item.

    ``Σ (1 / r) R_r Π_{i<r} (1 - R_i)`` over the ranks r of the top k, with ``R = (2^grade - 1) / 2^highest`` the
    chance that an item of that grade satisfies: a good item makes those below it count less.

    Conventions
    -----------
    highest
        The highest grade there is in the scale, 4 by default (TREC's web track, gdeval); it is a property of the scale
        and not of the data at hand, so that runs and parts of users stay comparable. A higher grade counts as this one.
        Write ``err(highest=1)`` for truth without grades (then R is 1/2), ``err(highest=5)`` for five stars.

    No hit scores 0. Even the best list scores below 1, as no item satisfies for certain.

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
    aliases = ("expected_reciprocal_rank",)
    monotone = True
    averages = True
    by_grade = True

    highest: float = highest_grade(4.0)

    def values(self, judged: Judged) -> Floats:
        if judged.averaged:
            satisfied = GAINS["exp2"](np.minimum(judged.grade, self.highest)) / 2**self.highest
            return expected_stop(judged, satisfied, lambda rank: rank.astype(float), self.cutoffs)
        seen = np.flatnonzero(judged.rank <= max(self.cutoffs))
        query, rank, nth = (each.take(seen) for each in (judged.query, judged.rank, judged.nth))
        satisfied = GAINS["exp2"](np.minimum(judged.grade.take(seen), self.highest)) / 2**self.highest
        reached = before(np.multiply, 1 - satisfied, nth)  # the chance that the user is still reading
        return sums(query, rank, satisfied * reached / rank, self.cutoffs, judged.n_queries)

    def expression(self, judged: Judged) -> str:
        top = judged.rank <= self.cutoffs[0]
        grades = np.minimum(judged.grade[top], self.highest)
        chances = [f"{printed(gain)}/{printed(2**self.highest)}" for gain in GAINS["exp2"](grades).tolist()]
        terms = (
            f"1/{rank} * {chance}" + "".join(f" * (1 - {before})" for before in chances[:nth])
            for nth, (rank, chance) in enumerate(zip(judged.rank[top], chances, strict=True))
        )
        return added(terms, len(chances))

    def define(self) -> Definition:
        highest = printed(self.highest)
        chance = f"(2^min(grade, {highest}) - 1) / 2^{highest}"
        return Definition(
            f"expected 1 / rank at which a user who reads {self.top} from above is satisfied, an item satisfying with "
            f"chance {chance}",
            f"Σ R_r / r · Π (1 - R_i), R = {chance}",
        )
