"""Group AUC: the users' AUC, weighted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from atkay.metrics.auc import AUC
from atkay.metrics.metric import Definition, Floats, Judged, word


@dataclass(frozen=True)
class GroupAUC(AUC):
    """The mean of the users' AUC, weighted by impressions.

    ``Σ w_u AUC_u / Σ w_u`` over the users that have an AUC (see :class:`AUC`), with the weight w_u that ``weight``
    names. In click prediction a user's list is what was shown, and the relevant items are the clicks.

    Conventions
    -----------
    weight
        ``listed`` weighs by impressions, the listed items (Zhu et al. 2017, Zhou et al. 2018: GAUC); ``relevant`` by
        clicks, the relevant items (named there, too); ``pairs`` by the pairs, which is ``auc(average=pooled)``.
    unlisted, no_pair
        As in :class:`AUC`; a user without a value has no weight.
    average
        ``pooled`` is the weighted mean; ``users`` drops the weights and is :class:`AUC` itself.

    References
    ----------
    Zhu et al., Optimized cost per click in Taobao display advertising, 2017.
    Zhou et al., Deep interest network for click-through rate prediction, 2018.

    Examples
    --------
    Ann's two impressions have AUC 1, Bob's three 1/2: (2 * 1 + 3 * 1/2) / 5.

    >>> recs, truth = {"ann": ["a", "x"], "bob": ["x", "a", "y"]}, {"ann": ["a"], "bob": ["a"]}
    >>> result = atkay.evaluate(recs, truth, ["group_auc", "auc"])
    >>> result["group_auc"], result["auc"]
    (0.7, 0.75)
    """

    name = "group_auc"
    aliases = ("gauc", "grouped_auc")

    weight: Literal["listed", "relevant", "pairs"] = word(
        listed="the listed items", relevant="the relevant items", pairs="the pairs"
    )
    average: Literal["pooled", "users"] = word(
        pooled="the sum of the users' weighted values over the sum of their weights",
        users="the mean of the users' values",
    )

    def ratio(self, judged: Judged) -> tuple[Floats, Floats]:
        """AUC times weight, and the weight; 0 where there is no pair."""
        right, pairs = super().ratio(judged)
        if self.weight == "pairs":
            return right, pairs
        counted = judged.n_listed if self.weight == "listed" else judged.n_relevant
        weight = np.where((pairs > 0) | (self.no_pair == "zero"), counted[:, None], 0.0)
        return right * weight / np.maximum(pairs, 1), weight

    def define(self) -> Definition:
        words, formula = super().define()
        if self.average == "users":
            return Definition(words, formula)
        weight = {"listed": "number of listed items", "relevant": "number of relevant items", "pairs": "pairs"}
        return Definition(f"{words}, users weighing by their {weight[self.weight]}", f"Σ w AUC / Σ w, AUC = {formula}")
