"""Recall: how much of what is relevant is listed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from atkay.metrics.metric import Definition, Floats, Ints, Judged, Ratio, word
from atkay.metrics.worked import share_of_possible


@dataclass(frozen=True)
class Recall(Ratio):
    """The share of the user's relevant items that are shown.

    ``h / R``, with h the hits in the top k and R the relevant items.

    Conventions
    -----------
    per
        ``relevant`` is what nearly everyone computes; ``capped`` divides by min(k, R), so that a user with more
        than k relevant items can reach 1 (LensKit; RecPack's calibrated recall).
    average
        ``pooled`` over all users is TP / (TP + FN) of everything.

    Users without a relevant item have no recall: the protocol's ``no_truth`` says what they score, if they count.

    References
    ----------
    Manning, Raghavan and Schütze, Introduction to Information Retrieval, 2008, chapter 8.

    Examples
    --------
    One of three relevant items is in the top 2:

    >>> result = atkay.evaluate({"ann": ["a", "x"]}, {"ann": ["a", "b", "c"]}, ["recall@2", "recall(per=capped)@2"])
    >>> round(result["recall@2"], 4), result["recall(per=capped)@2"]
    (0.3333, 0.5)
    """

    name = "recall"
    aliases = ("r", "rec", "sensitivity")
    monotone = True
    averages = True
    repeats = True
    by_score = True

    per: Literal["relevant", "capped"] = word(
        relevant="the relevant items",
        capped="the relevant items, or k where that is smaller",
    )

    def ratio(self, judged: Judged) -> tuple[Floats, Floats | Ints]:
        """The hits, and what they are divided by."""
        hits = judged.total(1, self.cutoffs)
        per = judged.n_relevant[:, None] if self.per == "relevant" else judged.capped(self.cutoffs)
        return hits, np.broadcast_to(per, hits.shape)

    def expression(self, judged: Judged) -> str:
        return share_of_possible(judged, self.cutoffs[0]) if self.per == "capped" else super().expression(judged)

    def define(self) -> Definition:
        cap = self.per == "capped" and self.k is not None
        per = f"the number of relevant items{f', at most {self.k}' if cap else ''}"
        return Definition(
            f"relevant items in {self.top}, divided by {per}", f"h / {f'min({self.k}, R)' if cap else 'R'}"
        )
