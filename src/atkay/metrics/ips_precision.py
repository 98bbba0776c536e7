"""IPS precision: precision that corrects for how likely each relevant item was to be observed."""

from __future__ import annotations

from dataclasses import dataclass

from atkay.metrics.metric import Definition, Floats, Judged
from atkay.metrics.propensities import InversePropensity


@dataclass(frozen=True)
class IPSPrecision(InversePropensity):
    """The share of the shown items that are relevant, as if all items were equally likely to be observed.

    ``Σ w / k`` over the hits in the top k, with w = 1/p the inverse of the item's propensity. It needs ``train`` or
    ``propensity``. Without a cutoff k is the list's own length.

    Conventions
    -----------
    estimator
        ``ips`` takes w as it is, so that values may pass 1; ``snips`` divides by the mean of w over the user's
        relevant items as well, so that the scale of p does not matter: R / k times the ``ips_recall`` of that word.
    propensity, power, clip
        As in :class:`IPSRecall`.
    average
        ``users`` is the mean of the users' values; ``pooled`` divides sums over all users.

    Relevant items without a propensity do not count, as in :class:`IPSRecall`.

    References
    ----------
    Yang et al., Unbiased offline recommender evaluation for missing-not-at-random implicit feedback, 2018.
    Schnabel et al., Recommendations as treatments: debiasing learning and evaluation, 2016.

    Examples
    --------
    Of four users all had tea, one had jam: w is 1 and 4, their mean 2.5. Jam is one of two listed items: 4 / 2, and
    4 / 2.5 / 2.

    >>> train = {"ann": ["tea"], "bob": ["tea", "jam"], "cat": ["tea"], "dan": ["tea"]}
    >>> result = atkay.evaluate({"ann": ["jam", "rye"]}, {"ann": ["tea", "jam"]},
    ...                         ["ips_precision@2", "ips_precision(estimator=snips)@2"], train=train)
    >>> result["ips_precision@2"], result["ips_precision(estimator=snips)@2"]
    (2.0, 0.8)
    """

    name = "ips_precision"

    def ratio(self, judged: Judged) -> tuple[Floats, Floats]:
        """The hits' weights, and the places."""
        return self.hits(judged), self.per(judged, judged.depth(self.cutoffs))

    def define(self) -> Definition:
        k = "the length of the list" if self.k is None else str(self.k)
        return Definition(self.in_words(k), f"Σ w / {'L' if self.k is None else k}{self.mean}")
