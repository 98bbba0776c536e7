"""IPS nDCG: nDCG that corrects for how likely each relevant item was to be observed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from atkay.core.kernels import along_lists
from atkay.metrics.gains import DISCOUNTS
from atkay.metrics.metric import Definition, Floats, Judged
from atkay.metrics.propensities import InversePropensity


@dataclass(frozen=True)
class IPSNDCG(InversePropensity):
    """How close the list comes to the ideal order, as if all items were equally likely to be observed.

    ``Σ w / log2(rank + 1)`` over the hits in the top k, with w = 1/p the inverse of the item's propensity, divided by
    an ideal sum. It needs ``train`` or ``propensity``.

    Conventions
    -----------
    estimator
        ``ips`` divides by the ideal of plain nDCG, ``Σ 1 / log2(rank + 1)`` over min(k, R) places, so that values may
        pass 1; ``snips`` by the highest sum that the user's relevant items reach with their weights, those of the
        highest w first: between 0 and 1, and the scale of p does not matter.
    propensity, power, clip
        As in :class:`IPSRecall`.
    average
        ``users`` is the mean of the users' values; ``pooled`` divides sums over all users.

    Relevant items without a propensity do not count, as in :class:`IPSRecall`.

    References
    ----------
    Yang et al., Unbiased offline recommender evaluation for missing-not-at-random implicit feedback, 2018.

    Examples
    --------
    Of four users all had tea, one had jam: w is 1 and 4. Both are listed, tea first: 1 + 4 / log2(3), over
    1 + 1 / log2(3), and over 4 + 1 / log2(3).

    >>> train = {"ann": ["tea"], "bob": ["tea", "jam"], "cat": ["tea"], "dan": ["tea"]}
    >>> result = atkay.evaluate({"ann": ["tea", "jam"]}, {"ann": ["tea", "jam"]},
    ...                         ["ips_ndcg@2", "ips_ndcg(estimator=snips)@2"], train=train)
    >>> round(result["ips_ndcg@2"], 4), round(result["ips_ndcg(estimator=snips)@2"], 4)
    (2.1606, 0.7609)
    """

    name = "ips_ndcg"

    def ratio(self, judged: Judged) -> tuple[Floats, Floats]:
        """The hits' discounted weights, and those of the ideal list."""
        weights, discount = self.best(judged), DISCOUNTS["log2"]
        worth = weights if self.estimator == "snips" else (weights > 0).astype(float)
        relevant = judged.relevant
        deepest = min(max(self.cutoffs), int(relevant.length.max(initial=0)))
        places = discount(np.arange(1, deepest + 1))
        ideal = along_lists(relevant.start, worth, places, self.cutoffs)
        return self.hits(judged, discount(judged.rank)), ideal

    def define(self) -> Definition:
        ideal = "" if self.estimator == "ips" else ", which count their weights, too, the highest first"
        cut = "" if self.k is None else f", cut at {self.k}"
        return Definition(
            f"sum of {self.weight}, over log2(rank + 1), over the relevant items in {self.top}, divided by the sum of "
            f"1 / log2(rank + 1) for all relevant items in the best order{cut}{ideal}",
            "Σ w / log2(rank + 1) / ideal, w = 1/p",
        )
