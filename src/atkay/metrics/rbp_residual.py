"""Residual of rank-biased precision: what a finite list leaves open."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from atkay.core.kernels import sums
from atkay.metrics.metric import Definition, Floats, Judged, ListMetric, word
from atkay.metrics.rbp import persistence
from atkay.metrics.worked import printed


@dataclass(frozen=True)
class RBPResidual(ListMetric):
    """How much rank-biased precision could still rise, were the list to go on.

    ``p^L``, with L the items listed in the top k: the weight of all places below the list's end. The true value lies
    between :class:`RBP` and RBP + residual.

    Conventions
    -----------
    p
        As in :class:`RBP`.
    unjudged
        An item that the truth does not grade counts as ``irrelevant``, and so adds nothing; ``open`` adds the weight
        ``(1 - p) p^(rank - 1)`` of its place, as it could be relevant; ``open_if_any`` does so, too, but is 0 where
        every listed item is graded (trec_eval 10).

    An empty list leaves everything open: 1; 0 under ``open_if_any``.

    References
    ----------
    Moffat and Zobel, Rank-biased precision for measurement of retrieval effectiveness, 2008.

    Examples
    --------
    Three items are listed: 0.8³.

    >>> result = atkay.evaluate({"ann": ["a", "x", "b"]}, {"ann": ["a", "b"]}, "rbp_residual@10")
    >>> round(result["rbp_residual@10"], 6)
    0.512

    Nobody judged x, at rank 2: 0.8³ + 0.2 · 0.8.

    >>> result = atkay.evaluate({"ann": ["a", "x", "b"]}, {"ann": ["a", "b"]}, "rbp_residual(unjudged=open)")
    >>> round(result["rbp_residual(unjudged=open)"], 6)
    0.672
    """

    name = "rbp_residual"
    aliases = ("rank_biased_precision_residual",)

    p: float = persistence()
    unjudged: Literal["irrelevant", "open", "open_if_any"] = word(
        irrelevant="items that the truth does not grade are not relevant",
        open="items that the truth does not grade could be relevant",
        open_if_any="items that the truth does not grade could be relevant; 0 where there are none in the list",
    )

    @property
    def by_length(self) -> bool:  # type: ignore[override]  # a word decides
        """Whether it does not matter which items are listed."""
        return self.unjudged == "irrelevant"

    @property
    def by_item(self) -> bool:  # type: ignore[override]  # a word decides
        """Whether it matters which of two items stands first: one may be judged."""
        return self.unjudged != "irrelevant"

    def values(self, judged: Judged) -> Floats:
        listed = judged.listed(self.cutoffs)
        residual: Floats = self.p ** listed.astype(float)
        if self.unjudged == "irrelevant":
            return residual
        query, rank = judged.judgements.listed.query, judged.judgements.listed.rank
        weights: Floats = (1 - self.p) * np.power(self.p, rank - 1.0)
        known, settled = (sums(query, rank, each, self.cutoffs, judged.n_queries) for each in (None, weights))
        # All places together weigh 1; where every one is known, nothing but p^L is left, to the last digit.
        left = np.where(known == listed, residual, np.maximum(1 - settled, residual))
        return np.where(known == listed, 0.0, left) if self.unjudged == "open_if_any" else left

    def define(self) -> Definition:
        p = printed(self.p)
        if self.unjudged != "irrelevant":
            none = {"open": "", "open_if_any": ", 0 where there is none"}[self.unjudged]
            return Definition(
                f"{p} to the power of the number of items listed in {self.top}, and (1 - {p}) {p}^(rank - 1) for each "
                f"item there that nobody judged{none}",
                f"{p}^L + (1 - {p}) Σ {p}^(rank - 1)",
            )
        return Definition(f"{p} to the power of the number of items listed in {self.top}", f"{p}^L")
