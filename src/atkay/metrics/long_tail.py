"""Long tail: how much of the list is not among the most popular items."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from atkay.metrics.item_groups import in_head
from atkay.metrics.metric import Definition, Floats, Judged, ListMetric, number, word
from atkay.metrics.popularity import mean_of_listed


@dataclass(frozen=True)
class LongTail(ListMetric):
    r"""The share of the list that is not among the most popular items.

    ``|top k \ head| / L``, with L the items listed. It needs ``train``. The head is the items that hold the first 80 %
    of the training interactions, the most popular first: an item is in it where all more popular items together have
    less than that share. So the item that reaches the 80 % is still in the head, and so are all items that are as
    popular as that one.

    Conventions
    -----------
    head
        The share that makes the head, 0.8 by default.
    head_of
        What it is a share of. ``interactions``: those in training, as above (Elliot; the paper). ``items``: the items
        in training, the most popular first; ``long_tail(head=0.2,head_of=items)`` has the top 20 % of the items as its
        head, and again all items that are as popular as the last of these.
    per
        ``listed`` is the share of the list. ``one`` is the number of its items that are in the tail (Elliot's ACLT).

    An item without training users is in the tail. An empty list has no value.

    References
    ----------
    Abdollahpouri, Burke and Mobasher, Controlling popularity bias in learning-to-rank recommendation, 2017 (its mean
    over users is their APLT). Abdollahpouri, Burke and Mobasher, Managing popularity bias in recommender systems with
    personalized re-ranking, 2019 (ACLT).

    Examples
    --------
    Ten interactions: 6 of tea, 2 of jam, 1 of rye, 1 of oat. More popular than jam: 6 < 8, so jam is in the head. More
    popular than rye: 8, so rye is in the tail. Of tea, jam and rye one is there.

    >>> train = {n: ["tea"] for n in range(6)} | {6: ["jam", "rye"], 7: ["jam", "oat"]}
    >>> result = atkay.evaluate({0: ["tea", "jam", "rye"]}, {0: ["jam"]}, "long_tail@3", train=train)
    >>> round(result["long_tail@3"], 4)
    0.3333
    """

    name = "long_tail"
    aliases = ("aplt", "long_tail_share")
    needs = ("train",)

    head: float = number(0.8, lambda share: 0 < share <= 1, "a share above 0 and at most 1")
    head_of: Literal["interactions", "items"] = word(
        interactions="the head holds this share of the training interactions",
        items="the head is this share of the items in training",
    )
    per: Literal["listed", "one"] = word(listed="the items listed", one="nothing: the number of items in the tail")

    @property
    def bounded(self) -> bool:  # type: ignore[override]  # a word decides
        """A share is at most 1."""
        return self.per == "listed"

    def values(self, judged: Judged) -> Floats:
        in_tail = (~in_head(judged.train.popularity, self.head, self.head_of)).astype(float)
        share = mean_of_listed(judged, in_tail, self.cutoffs)
        if self.per == "listed":
            return share
        return np.where(
            np.isnan(share), np.nan, judged.over_list(in_tail.take(judged.top(self.reach).item), self.cutoffs)
        )

    def define(self) -> Definition:
        head = {
            "interactions": f"that hold the first {100 * self.head:g} % of training interactions",
            "items": f"that are the first {100 * self.head:g} % of the items in training",
        }[self.head_of]
        what, formula = {"listed": ("share", " / L"), "one": ("number", "")}[self.per]
        return Definition(
            f"{what} of the items in {self.top} outside the head, which is the most popular items {head}",
            f"|top \\ head|{formula}",
        )
