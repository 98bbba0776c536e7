"""Average recommendation popularity: how popular the listed items are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from atkay.metrics.metric import Definition, Floats, Judged, ListMetric, word
from atkay.metrics.popularity import mean_of_listed


@dataclass(frozen=True)
class ARP(ListMetric):
    """How popular the listed items are on average.

    The mean of ``n_i`` over the items in the top k, with n_i the number of training users of item i, divided as ``per``
    says. It needs ``train``. An item without training users counts 0; an empty list has no value.

    Conventions
    -----------
    per
        ``one``: n_i itself, the number of users. The others make it comparable between data sets: ``interactions``
        divides by all training interactions (RecTools with normalize=True), ``users`` by the training users (the share
        of users that had the item), ``highest`` by the n_i of the most popular item, ``mean`` by the mean n_i of the
        items in training, so that 1 is an item of average popularity. :class:`~atkay.PopularityLift` compares with the
        user's own history.

    References
    ----------
    Yin et al., Challenging the long tail recommendation, 2012.

    Examples
    --------
    Three users had tea in training, one had jam: (3 + 1) / 2.

    >>> train = {"ann": ["tea"], "bob": ["tea", "jam"], "cat": ["tea"]}
    >>> atkay.evaluate({"ann": ["tea", "jam"]}, {"ann": ["jam"]}, "arp@2", train=train)["arp@2"]
    2.0

    There are four interactions:

    >>> spec = "arp(per=interactions)@2"
    >>> atkay.evaluate({"ann": ["tea", "jam"]}, {"ann": ["jam"]}, spec, train=train)[spec]
    0.5
    """

    name = "arp"
    aliases = ("average_recommendation_popularity", "avg_popularity")
    needs = ("train",)

    per: Literal["one", "interactions", "users", "highest", "mean"] = word(
        one="nothing: the number of training users",
        interactions="the training interactions",
        users="the training users",
        highest="the training users of the most popular item",
        mean="the mean number of training users of the items in training",
    )

    @property
    def bounded(self) -> bool:  # type: ignore[override]  # a word decides
        """A share is at most 1."""
        return self.per not in ("one", "mean")

    def values(self, judged: Judged) -> Floats:
        train = judged.train
        n = train.popularity
        divisor = {
            "one": 1,
            "interactions": n.sum(),
            "users": train.users,
            "highest": n.max(initial=0),
            "mean": n.sum() / max(np.count_nonzero(n), 1),
        }[self.per]
        values: Floats = mean_of_listed(judged, n.astype(float), self.cutoffs) / divisor
        return values

    def define(self) -> Definition:
        per, formula = {
            "one": ("", ""),
            "interactions": (", divided by all training interactions", " / Σ n_j"),
            "users": (", divided by the number of training users", " / |U|"),
            "highest": (", divided by that of the most popular item", " / max n_j"),
            "mean": (", divided by the mean of the items in training", " / mean n_j of train"),
        }[self.per]
        return Definition(
            f"number of training users of an item, averaged over the items of {self.top}{per}", f"mean n_i{formula}"
        )
