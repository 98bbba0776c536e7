"""Average recommendation popularity: how popular the listed items are."""

from __future__ import annotations

from dataclasses import dataclass

from atkay.metrics.metric import Definition, Floats, Judged, ListMetric
from atkay.metrics.popularity import mean_of_listed


@dataclass(frozen=True)
class ARP(ListMetric):
    """How popular the listed items are on average.

    The mean of ``n_i`` over the items in the top k, with n_i the number of training users of item i. It needs
    ``train``. An item without training users counts 0; an empty list has no value.

    References
    ----------
    Yin et al., Challenging the long tail recommendation, 2012.

    Examples
    --------
    Three users had tea in training, one had jam: (3 + 1) / 2.

    >>> train = {"ann": ["tea"], "bob": ["tea", "jam"], "cat": ["tea"]}
    >>> atkay.evaluate({"ann": ["tea", "jam"]}, {"ann": ["jam"]}, "arp@2", train=train)["arp@2"]
    2.0
    """

    name = "arp"
    aliases = ("average_recommendation_popularity", "avg_popularity")
    needs = ("train",)
    bounded = False

    def values(self, judged: Judged) -> Floats:
        return mean_of_listed(judged, judged.train.popularity.astype(float), self.cutoffs)

    def define(self) -> Definition:
        return Definition(f"number of training users of an item, averaged over the items of {self.top}", "mean n_i")
