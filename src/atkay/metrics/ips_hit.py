"""IPS hits: hits that correct for how likely each relevant item was to be observed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from atkay.metrics.metric import Definition, Floats, Judged
from atkay.metrics.propensities import InversePropensity


@dataclass(frozen=True)
class IPSHit(InversePropensity):
    """How many relevant items are shown, as if all items were equally likely to be observed.

    ``Σ w`` over the hits in the top k, with w = 1/p the inverse of the item's propensity: the weighted hit rate where
    each user has one relevant item. It needs ``train`` or ``propensity``.

    Conventions
    -----------
    estimator
        ``ips`` takes w as it is (RecPack's IPSHitRateK); ``snips`` divides by the mean of w over the user's relevant
        items, so that the scale of p does not matter.
    propensity, power, clip
        As in :class:`IPSRecall`. RecPack's are ``propensity=interactions,clip=0.0001``, with the test
        interactions for ``train``.
    average
        ``users`` is the mean of the users' values; ``pooled`` divides sums over all users: where each has one relevant
        item, ``snips`` does nothing user by user, and pooled it is the hit rate weighted by w.

    Relevant items without a propensity do not count, as in :class:`IPSRecall`.

    References
    ----------
    Michiels, Verachtert and Goethals, RecPack: an(other) experimentation toolkit for top-N recommendation using
    implicit feedback data, 2022.
    Schnabel et al., Recommendations as treatments: debiasing learning and evaluation, 2016.

    Examples
    --------
    Of four users all had tea, one had jam: w is 1 and 4. Ann's jam is shown and bob's tea is not.

    >>> train = {"ann": ["tea"], "bob": ["tea", "jam"], "cat": ["tea"], "dan": ["tea"]}
    >>> specs = ["ips_hit@1", "ips_hit(estimator=snips,average=pooled)@1"]
    >>> result = atkay.evaluate({"ann": ["jam"], "bob": ["rye"]}, {"ann": ["jam"], "bob": ["tea"]}, specs, train=train)
    >>> [result[spec] for spec in specs]
    [2.0, 0.8]
    """

    name = "ips_hit"
    aliases = ("ips_hit_rate", "ipshitrate")

    def ratio(self, judged: Judged) -> tuple[Floats, Floats]:
        """The hits' weights, and 1 for each user."""
        hits = self.hits(judged)
        return hits, np.broadcast_to(self.per(judged, np.ones((judged.n_queries, 1))), hits.shape)

    def define(self) -> Definition:
        return Definition(self.in_words(), f"Σ w{self.mean}")
