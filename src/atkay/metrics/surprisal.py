"""Surprisal: how surprising the listed items are, as a share of the highest there could be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from atkay.metrics.metric import Definition, Floats, Judged, ListMetric, word
from atkay.metrics.popularity import information


@dataclass(frozen=True)
class Surprisal(ListMetric):
    """How surprising the listed items are by themselves, as a share of the most surprising there could be.

    The mean of ``-log2(n_i / |U|) / log2 |U|`` over the items in the top k, with n_i the number of training users of
    item i, at least 1, and |U| that of all training users. It is 1 for items that one user had or none, 0 for items
    that all users had. It needs ``train``.

    Conventions
    -----------
    per
        ``listed`` divides by the items listed; ``k`` by k, however short the list is (RePlay), which without a cutoff
        is the list's length.

    An empty list has no value (RePlay: 0), and nothing has where there is one training user alone.

    References
    ----------
    The RePlay library; self-information as in Zhou et al., Solving the apparent diversity-accuracy dilemma of
    recommender systems, 2010.

    Examples
    --------
    Of four users two had tea, none had jam: -log2(2/4) / log2(4) = 1/2, and 1 for jam; their mean.

    >>> train = {"ann": ["tea"], "bob": ["tea"], "cat": ["rye"], "dan": ["rye"]}
    >>> atkay.evaluate({"ann": ["tea", "jam"]}, {"ann": ["jam"]}, "surprisal@2", train=train)["surprisal@2"]
    0.75
    """

    name = "surprisal"
    needs = ("train",)

    per: Literal["listed", "k"] = word(listed="the items listed", k="k, however short the list is")

    def values(self, judged: Judged) -> Floats:
        bits, _ = information(judged, "users")
        with np.errstate(invalid="ignore"):
            share = bits / np.log2(judged.train.users)
            total = judged.over_list(share.take(judged.top(max(self.cutoffs)).item), self.cutoffs)
            per = judged.listed(self.cutoffs) if self.per == "listed" else judged.depth(self.cutoffs)
            return np.where(judged.n_listed[:, None] > 0, total / per, np.nan)

    def define(self) -> Definition:
        per = "the items" if self.per == "listed" or self.k is None else f"the {self.k} places"
        return Definition(
            f"-log2 of the share of training users that have an item, over its maximum log2 |U|, averaged over {per} "
            f"of {self.top}",
            "mean -log2(n_i / |U|) / log2 |U|",
        )
