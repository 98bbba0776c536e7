"""Residual of rank-biased precision: what a finite list leaves open."""

from __future__ import annotations

from dataclasses import dataclass

from atkay.metrics.metric import Definition, Floats, Judged, ListMetric
from atkay.metrics.rbp import persistence
from atkay.metrics.worked import printed


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
    aliases = ("rank_biased_precision_residual",)
    by_length = True

    p: float = persistence()

    def values(self, judged: Judged) -> Floats:
        residual: Floats = self.p ** judged.listed(self.cutoffs).astype(float)
        return residual

    def define(self) -> Definition:
        p = printed(self.p)
        return Definition(f"{p} to the power of the number of items listed in {self.top}", f"{p}^L")
