"""Scaled discounted cumulative gain: nDCG whose ideal list never runs out of the best items."""

from __future__ import annotations

from dataclasses import dataclass

from atkay.metrics.gains import DISCOUNTS, highest_grade
from atkay.metrics.metric import Definition, Floats, Judged, Metric
from atkay.metrics.user_models import falling, share_of_highest
from atkay.metrics.worked import printed


@dataclass(frozen=True)
class SDCG(Metric):
    """The discounted gain, as a share of what a list of nothing but the best grade would have.

    ``Σ min(grade / highest, 1) / log2(r + 1)`` over the top k, divided by ``Σ 1 / log2(r + 1)`` over the same ranks.
    Where :class:`NDCG` asks how near the list comes to what this truth allows, this one asks for k items of the
    highest grade, there or not.

    Conventions
    -----------
    highest
        The highest grade of the scale, 1 by default; a grade counts as its share of it, a higher one as 1.

    Without a cutoff the ranks end with the list, so that a shorter list can score higher. No hit scores 0.

    References
    ----------
    Azzopardi, Thomas and Moffat, cwl_eval: an evaluation tool for information retrieval, 2019.

    Examples
    --------
    Hits at ranks 1 and 3: (1 + 1/2) / (1 + 1/log2(3) + 1/2).

    >>> result = atkay.evaluate({"ann": ["a", "x", "b"]}, {"ann": ["a", "b"]}, "sdcg@3")
    >>> round(result["sdcg@3"], 6)
    0.703918
    """

    name = "sdcg"
    aliases = ("scaled_dcg",)
    monotone = True
    averages = True
    by_grade = True

    highest: float = highest_grade(1.0)

    def values(self, judged: Judged) -> Floats:
        discounts = falling(lambda rank: 1 / DISCOUNTS["log2"](rank))
        return discounts.precision(judged, share_of_highest(judged.grade, self.highest), self.cutoffs)

    def define(self) -> Definition:
        gain = f"min(grade / {printed(self.highest)}, 1)"
        return Definition(
            f"sum of {gain} / log2(rank + 1) over the relevant items in {self.top}, over the sum of 1 / log2(rank + 1) "
            "over all its ranks",
            f"Σ {gain} / log2(rank + 1) / Σ 1 / log2(rank + 1)",
        )
