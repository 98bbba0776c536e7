"""Mean normalised average precision: MAP divided by what k places can hold."""

from __future__ import annotations

from dataclasses import dataclass

from atkay.metrics.map import MAP
from atkay.metrics.metric import Definition, Floats, Judged, Metric


@dataclass(frozen=True)
class MNAP(Metric):
    """How early the relevant items come in the k places there are: ``map(per=capped)`` under its own name.

    ``(1/l1 + 2/l2 + ... + h/lh) / min(k, R)`` for hits at ranks l1 < l2 < ... of the top k. Course notes and some
    competitions call it so.

    No hit scores 0.

    References
    ----------
    As for :class:`MAP`, whose ``per`` lists who divides by what.

    Examples
    --------
    Hits at ranks 1 and 3, four relevant items: (1/1 + 2/3) / min(3, 4).

    >>> result = atkay.evaluate({"ann": ["a", "x", "b"]}, {"ann": ["a", "b", "c", "d"]}, "mnap@3")
    >>> round(result["mnap@3"], 6)
    0.555556
    """

    name = "mnap"
    aliases = ("mean_normalized_average_precision", "mean_normalised_average_precision")
    monotone = True
    averages = True
    by_score = True

    def values(self, judged: Judged) -> Floats:
        return MAP(per="capped", k=self.k).values(judged)

    def expression(self, judged: Judged) -> str:
        return MAP(per="capped", k=self.k).expression(judged)

    def define(self) -> Definition:
        return MAP(per="capped", k=self.k).define()
