"""IPS recall: recall that corrects for how likely each relevant item was to be observed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from atkay.metrics.metric import Definition, Floats, Judged
from atkay.metrics.propensities import InversePropensity


@dataclass(frozen=True)
class IPSRecall(InversePropensity):
    """The share of the user's relevant items that are shown, as if all items were equally likely to be observed.

    ``Σ w / R`` over the hits in the top k, with w = 1/p the inverse of the item's propensity: the likes of popular
    items are observed more often than those of rare ones, so a hit of a rare item counts more. It needs ``train`` or
    ``propensity``.

    Conventions
    -----------
    estimator
        ``ips`` divides by R, the relevant items: unbiased if the propensities are right, but a user's value may pass
        1. ``snips`` is self-normalised, ``Σ w / Σ w of all relevant items``: between 0 and 1, slightly biased, of much
        less variance, and the scale of p does not matter (the paper's choice).
    propensity, power, clip
        ``users`` takes p = (n_i / |U|)^power, with n_i the training users of the item and |U| all training users;
        ``interactions`` (n_i / Σ n)^power, and ``given`` the number in ``propensity`` to that power. With the power law
        of Yang et al. ``power`` is (γ + 1) / 2. p is at least ``clip``: a weight is at most 1 / clip.
    average
        ``users`` is the mean of the users' values (Yang et al.). ``pooled`` divides sums over all users (Schnabel et
        al.): where users have one relevant item each, ``snips`` does nothing user by user, and needs it.

    A relevant item without a propensity, because nobody had it in training or the table does not name it, counts
    neither as a hit nor as relevant; a user with nothing else has no value. The result prints the
    :class:`EffectiveSampleSize` of the weights.

    References
    ----------
    Yang et al., Unbiased offline recommender evaluation for missing-not-at-random implicit feedback, 2018.
    Schnabel et al., Recommendations as treatments: debiasing learning and evaluation, 2016.

    Examples
    --------
    Of four users all had tea, one had jam: w is 1 and 4. Jam is listed: 4 / 2, and 4 / (1 + 4).

    >>> train = {"ann": ["tea"], "bob": ["tea", "jam"], "cat": ["tea"], "dan": ["tea"]}
    >>> result = atkay.evaluate({"ann": ["jam"]}, {"ann": ["tea", "jam"]},
    ...                         ["ips_recall@1", "ips_recall(estimator=snips)@1"], train=train)
    >>> result["ips_recall@1"], result["ips_recall(estimator=snips)@1"]
    (2.0, 0.8)
    """

    name = "ips_recall"

    def ratio(self, judged: Judged) -> tuple[Floats, Floats]:
        """The hits' weights, and the relevant items."""
        known, _ = self.relevant(judged)
        hits = self.hits(judged)
        return hits, np.broadcast_to(self.per(judged, known[:, None]), hits.shape)

    def define(self) -> Definition:
        return Definition(self.in_words("the number of relevant items"), f"Σ w / {self.counted}")
