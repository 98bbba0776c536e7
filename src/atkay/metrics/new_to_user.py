"""New to the user: how much of the list the user had not met."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from atkay.core.match import place_in
from atkay.metrics.metric import Definition, Floats, Judged, ListMetric, divide


@dataclass(frozen=True)
class NewToUser(ListMetric):
    r"""The share of the list that the user had not yet met in training.

    ``|top k \ H| / L``, with H the items that the user had in training and L the items listed. It needs ``train``.

    A user without history has met nothing: 1. An empty list has no value (RePlay: 1).

    References
    ----------
    The RePlay library, which calls it Novelty.

    Examples
    --------
    Ann had tea, one of the two listed items:

    >>> train = {"ann": ["tea", "rye"], "bob": ["jam"]}
    >>> atkay.evaluate({"ann": ["tea", "jam"]}, {"ann": ["jam"]}, "new_to_user@2", train=train)["new_to_user@2"]
    0.5
    """

    name = "new_to_user"
    needs = ("train",)
    looks_back = True

    def values(self, judged: Judged) -> Floats:
        places = judged.top(max(self.cutoffs))
        new = place_in(judged.train.history, places.query, places.item) == 0
        return divide(judged.over_list(new.astype(float), self.cutoffs), judged.listed(self.cutoffs), np.nan)

    def define(self) -> Definition:
        return Definition(f"share of the items in {self.top} that the user did not have in training", "|top \\ H| / L")
