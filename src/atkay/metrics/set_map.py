"""Set MAP: precision times recall of a list without order."""

from __future__ import annotations

from dataclasses import dataclass

from atkay.metrics.metric import Definition, Floats, Judged, Metric, divide
from atkay.metrics.worked import quotient


@dataclass(frozen=True)
class SetMAP(Metric):
    """Average precision of a list whose order says nothing: precision times recall.

    ``h² / (L R)``, with h hits among the L items listed, and R relevant items: every hit has the precision of the whole
    list. It takes no cutoff; the protocol's ``depth`` cuts lists. An empty list scores 0.

    Examples
    --------
    Two of three listed items are relevant, and four items are: 2/3 · 2/4.

    >>> result = atkay.evaluate({"ann": ["a", "x", "b"]}, {"ann": ["a", "b", "c", "d"]}, "set_map")
    >>> round(result["set_map"], 4)
    0.3333
    """

    name = "set_map"
    aliases = ("set_ap",)
    cuts = False
    monotone = True
    averages = True

    def values(self, judged: Judged) -> Floats:
        return divide(*self.sides(judged))

    def sides(self, judged: Judged) -> tuple[Floats, Floats]:
        """The hits times the hits, and the items listed times the relevant ones."""
        hits = judged.total(1, self.cutoffs)
        return hits * hits, judged.listed(self.cutoffs) * judged.n_relevant[:, None].astype(float)

    def expression(self, judged: Judged) -> str:
        hits, listed = len(judged.rank), judged.listed(self.cutoffs)[0, 0]
        return quotient(f"{hits}^2", f"({listed} * {judged.n_relevant[0]})" if listed else "0")

    def define(self) -> Definition:
        return Definition("precision of the whole list times its recall", "h² / (L R)")
