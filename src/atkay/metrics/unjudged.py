"""Unjudged: how much of what is listed nobody has judged."""

from __future__ import annotations

from dataclasses import dataclass

from atkay.metrics.judged import JudgedShare
from atkay.metrics.metric import Definition, Floats, Judged


@dataclass(frozen=True)
class UnjudgedShare(JudgedShare):
    """The share of the shown items that the truth does not judge: the holes in a list.

    ``u / L``, with u the items among the L listed in the top k that the truth does not name for this user: 1 -
    :class:`JudgedShare` where anything is listed. These items count as not relevant; ``result.bounds`` says what would
    follow if some of them were.

    Conventions
    -----------
    per
        ``listed`` divides by what was listed; ``k`` by k, so that the places which a short list leaves empty count
        neither as judged nor as unjudged (BEIR's Hole@k; there an item that is judged for any other query counts as
        judged, too).

    Without a cutoff k is the list's own length. An empty list scores 0.

    References
    ----------
    Thakur et al., BEIR: a heterogeneous benchmark for zero-shot evaluation of information retrieval models, 2021.

    Examples
    --------
    Nobody judged x; y was judged not relevant:

    >>> atkay.evaluate({"ann": ["a", "x", "y"]}, {"ann": {"a": 1, "y": 0}}, "hole@2")["unjudged@2"]
    0.5
    """

    name = "unjudged"
    aliases = ("hole",)

    def _count(self, judged: Judged) -> Floats:
        """How many items of the top k are not judged."""
        return judged.listed(self.cutoffs) - super()._count(judged)

    def define(self) -> Definition:
        return self._share("unjudged", "u")
