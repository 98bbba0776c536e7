"""IPS DCG: discounted gain that corrects for how likely each relevant item was to be observed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from atkay.metrics.gains import DISCOUNTS
from atkay.metrics.metric import Definition, Floats, Judged
from atkay.metrics.propensities import InversePropensity


@dataclass(frozen=True)
class IPSDCG(InversePropensity):
    """How early the user's relevant items are shown, as if all items were equally likely to be observed.

    ``Σ w / log2(rank + 1) / R`` over the hits in the top k, with w = 1/p the inverse of the item's propensity. As in
    the paper it is a mean over the R relevant items; times R, and with w = 1, it is :class:`DCG` with ``gain=binary``.
    It needs ``train`` or ``propensity``.

    Conventions
    -----------
    estimator
        ``ips`` divides by R; ``snips`` by the sum of w over all relevant items, which bounds it by 1 (the paper's
        choice).
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
    Of four users all had tea, one had jam: w is 1 and 4. Ranks are 1 and 3: (1 / 1 + 4 / 2) / 2, and over 1 + 4.

    >>> train = {"ann": ["tea"], "bob": ["tea", "jam"], "cat": ["tea"], "dan": ["tea"]}
    >>> result = atkay.evaluate({"ann": ["tea", "rye", "jam"]}, {"ann": ["tea", "jam"]},
    ...                         ["ips_dcg@3", "ips_dcg(estimator=snips)@3"], train=train)
    >>> result["ips_dcg@3"], result["ips_dcg(estimator=snips)@3"]
    (1.5, 0.6)
    """

    name = "ips_dcg"

    def ratio(self, judged: Judged) -> tuple[Floats, Floats]:
        """The hits' discounted weights, and the relevant items."""
        known, _ = self.relevant(judged)
        hits = self.hits(judged, DISCOUNTS["log2"](judged.rank))
        return hits, np.broadcast_to(self.per(judged, known[:, None]), hits.shape)

    def define(self) -> Definition:
        return Definition(
            self.in_words("log2(rank + 1)", "the number of relevant items"), f"Σ w / log2(rank + 1) / {self.counted}"
        )
