"""Long tail: how much of the list is not among the most popular items."""

from __future__ import annotations

from dataclasses import dataclass

from atkay.metrics.item_groups import in_head
from atkay.metrics.metric import Definition, Floats, Judged, ListMetric, number
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
        The share of interactions that makes the head, 0.8 by default; 0.2 keeps only the very top.

    An item without training users is in the tail. An empty list has no value.

    References
    ----------
    Abdollahpouri, Burke and Mobasher, Controlling popularity bias in learning-to-rank recommendation, 2017 (its mean
    over users is their APLT).

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

    def values(self, judged: Judged) -> Floats:
        return mean_of_listed(judged, (~in_head(judged.train.popularity, self.head)).astype(float), self.cutoffs)

    def define(self) -> Definition:
        return Definition(
            f"share of the items in {self.top} outside the head, which is the most popular items that hold the first "
            f"{100 * self.head:g} % of training interactions",
            "|top \\ head| / L",
        )
