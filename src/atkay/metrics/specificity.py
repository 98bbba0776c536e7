"""Specificity: how much of the irrelevant is not shown."""

from __future__ import annotations

from dataclasses import dataclass

from atkay.metrics.fall_out import FallOut
from atkay.metrics.metric import Definition, Floats, Judged


@dataclass(frozen=True)
class Specificity(FallOut):
    """The share of the irrelevant items that is not shown: 1 - :class:`FallOut`.

    In a large catalogue it is near 1 whatever is shown.

    Conventions
    -----------
    among
        Which items are candidates: ``catalog`` those of the catalogue, which it needs, and no others; ``listed`` those
        of the whole list, which then must hold all candidates.
    average
        ``users`` is the mean of the users' shares; ``pooled`` counts every irrelevant item equally.

    A user without an irrelevant candidate has no value.

    References
    ----------
    Manning, Raghavan and Schütze, Introduction to Information Retrieval, 2008, chapter 8.

    Examples
    --------
    One of the two items shown is irrelevant, as are four of the six in the catalogue.

    >>> result = atkay.evaluate({"ann": ["a", "x"]}, {"ann": ["a", "b"]}, "specificity@2", catalog=list("abxyzw"))
    >>> result["specificity@2"]
    0.75
    """

    name = "specificity"
    aliases = ("true_negative_rate", "tnr")
    better = "higher"

    def ratio(self, judged: Judged) -> tuple[Floats, Floats]:
        """The irrelevant items not shown, and all of them."""
        shown, every = super().ratio(judged)
        return every - shown, every

    def define(self) -> Definition:
        among = {"catalog": "of the catalogue", "listed": "of the whole list"}[self.among]
        return Definition(
            f"items {among} that are not relevant and not in {self.top}, divided by all that are not relevant",
            "(N - (L - h)) / N",
        )
