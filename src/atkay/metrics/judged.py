"""Judged: how much of what is listed anybody has judged."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from atkay.core.kernels import sums
from atkay.metrics.metric import Definition, Floats, Judged, ListMetric, divide, word


@dataclass(frozen=True)
class JudgedShare(ListMetric):
    """The share of the shown items that the truth judges, as relevant or as not relevant.

    ``j / L``, with j the judged items among the L listed in the top k. The others count as not relevant, though nobody
    looked at them: where this share is low, metrics of relevance say little, and may favour the system whose lists
    were judged. ``result.bounds`` says how much they could change.

    Conventions
    -----------
    per
        ``listed`` divides by what was listed (ir-measures); ``k`` by k, however short the list is.

    Judged are the items that the truth names for this user, with any grade (below 0, unless the protocol's ``negative``
    says otherwise). Without a cutoff k is the list's own length. An empty list scores 0.

    References
    ----------
    Buckley, Dimmick, Soboroff and Voorhees, Bias and the limits of pooling for large collections, 2007.

    Examples
    --------
    Nobody judged x; y was judged not relevant:

    >>> result = atkay.evaluate({"ann": ["a", "x", "y"]}, {"ann": {"a": 1, "y": 0}}, ["judged@2", "judged@3"])
    >>> result["judged@2"], round(result["judged@3"], 4)
    (0.5, 0.6667)
    """

    name = "judged"
    aliases: ClassVar[tuple[str, ...]] = ("judgment_rate", "judgement_rate")

    per: Literal["listed", "k"] = word(listed="the items that were listed", k="k, however short the list is")

    def values(self, judged: Judged) -> Floats:
        return divide(self._count(judged), (judged.listed if self.per == "listed" else judged.depth)(self.cutoffs))

    def _count(self, judged: Judged) -> Floats:
        """How many items of the top k are judged."""
        listed = judged.judgements.listed
        return sums(listed.query, listed.rank, None, self.cutoffs, judged.n_queries)

    def define(self) -> Definition:
        return self._share("judged", "j")

    def _share(self, what: str, letter: str) -> Definition:
        listed = self.per == "listed" or self.k is None
        per, divisor = ("the number of items listed there", "L") if listed else (str(self.k), str(self.k))
        return Definition(f"{what} items in {self.top}, divided by {per}", f"{letter} / {divisor}")
