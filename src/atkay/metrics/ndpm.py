"""NDPM: how far the list's order is from the order of the grades."""

from __future__ import annotations

from dataclasses import dataclass

from atkay.metrics.metric import Definition, Floats, Judged
from atkay.metrics.opa import OPA


@dataclass(frozen=True)
class NDPM(OPA):
    """How often the worse of two listed items stands first: a distance, 0 where the order is that of the grades.

    The pairs of items in the top k whose grades differ and of which the one with the lower grade stands first, divided
    by all pairs whose grades differ: 1 - :class:`OPA`. A list is an order without ties here, so that no pair counts as
    half, as equal scores do in Yao's measure.

    Conventions
    -----------
    average
        ``users`` is the mean of the users' shares; ``pooled`` counts every pair equally.

    A user without such a pair has no value. Lower is better.

    References
    ----------
    Yao, Measuring retrieval effectiveness based on user preference of documents, 1995.

    Examples
    --------
    The grades are 1, 0 and 2. Of the three pairs that differ, 1 before 2 and 0 before 2 are in the wrong order.

    >>> atkay.evaluate({"ann": ["a", "x", "b"]}, {"ann": {"a": 1, "b": 2}}, "ndpm")["ndpm"]
    0.6666666666666666
    """

    name = "ndpm"
    aliases = ("normalised_distance_based_performance_measure", "normalized_distance_based_performance_measure")
    better = "lower"

    def ratio(self, judged: Judged) -> tuple[Floats, Floats]:
        """The pairs in the wrong order, and all pairs whose grades differ."""
        right, pairs = super().ratio(judged)
        return pairs - right, pairs

    def define(self) -> Definition:
        return Definition(
            f"pairs of items in {self.top} of which the one with the lower grade stands first, divided by all pairs "
            "whose grades differ",
            "D / (C + D)",
        )
