"""Popularity: how popular the listed items are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from atkay.core.types import Floats
from atkay.metrics.item_groups import in_head
from atkay.metrics.metric import Definition, ListMetric, Ratio, number

if TYPE_CHECKING:
    from atkay.judged.judged import Judged


def mean_of_listed(judged: Judged, weights: Floats, cutoffs: tuple[int, ...]) -> Floats:
    """The mean of the weights of listed items, one weight per row of ``judged.top``; NaN for an empty list."""
    with np.errstate(invalid="ignore"):
        return judged.over_list(weights, cutoffs) / judged.listed(cutoffs)


@dataclass(frozen=True)
class ARP(ListMetric):
    """How popular the listed items are on average.

    The mean of ``n_i`` over the items in the top k, with n_i the number of training users of item i. It needs
    ``train``. An item that nobody had in training counts 0; an empty list has no value.

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
    aliases: ClassVar[tuple[str, ...]] = ("average_recommendation_popularity", "avg_popularity")

    @property
    def needs(self) -> tuple[str, ...]:
        """Popularity comes from training."""
        return ("train",)

    @property
    def bounded(self) -> bool:
        """A number of users has no bound."""
        return False

    def values(self, judged: Judged) -> Floats:
        """The mean popularity per query and cutoff."""
        popularity = judged.train.popularity.astype(float)
        return mean_of_listed(judged, popularity.take(judged.top(max(self.cutoffs)).item), self.cutoffs)

    def define(self) -> Definition:
        """The mean in words."""
        return Definition(f"number of training users of an item, averaged over the items of {self.top}", "mean n_i")


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
        The share of interactions that makes the head, 0.8 if not told; 0.2 keeps only the very top.

    An item that nobody had in training is in the tail. An empty list has no value.

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
    aliases: ClassVar[tuple[str, ...]] = ("aplt", "long_tail_share")

    head: float = number(0.8, lambda share: 0 < share <= 1, "a share above 0 and at most 1")

    @property
    def needs(self) -> tuple[str, ...]:
        """Popularity comes from training."""
        return ("train",)

    def values(self, judged: Judged) -> Floats:
        """The share per query and cutoff."""
        tail = ~in_head(judged.train.popularity, self.head)
        return mean_of_listed(judged, tail.astype(float).take(judged.top(max(self.cutoffs)).item), self.cutoffs)

    def define(self) -> Definition:
        """The share in words."""
        return Definition(
            f"share of the items in {self.top} outside the head, which is the most popular items that hold the first "
            f"{100 * self.head:g} % of training interactions",
            "|top \\ head| / L",
        )


@dataclass(frozen=True)
class PopularityLift(Ratio):
    """How much more popular the listed items are than what the user had before.

    ``(popularity of the list - popularity of the history) / popularity of the history``, each the mean of n_i over
    its items, with n_i the number of training users of item i. It needs ``train``. 0 keeps to the user's taste, 1 is
    twice as popular, -1 lists items that nobody had.

    Conventions
    -----------
    average
        ``users`` is the mean of the users' lifts. ``pooled`` divides the sums over users of numerator and denominator,
        which is the lift of a group of Abdollahpouri et al.: its means of popularity, averaged over users, compared.

    A user without history has no value, nor has an empty list; they are not in the sums either.

    References
    ----------
    Abdollahpouri, Mansoury, Burke and Mobasher, The connection between popularity bias, calibration, and fairness in
    recommendation, 2020.

    Examples
    --------
    Three users had tea, one had jam. Ann had both, (3 + 1) / 2 = 2 on average, and is shown tea: (3 - 2) / 2.

    >>> train = {"ann": ["tea", "jam"], "bob": ["tea"], "cat": ["tea"]}
    >>> atkay.evaluate({"ann": ["tea"]}, {"ann": ["tea"]}, "popularity_lift@1", train=train)["popularity_lift@1"]
    0.5
    """

    name = "popularity_lift"
    needs_truth: ClassVar[bool] = False
    least: ClassVar[float] = -1.0
    better: ClassVar[str] = "neither"

    @property
    def needs(self) -> tuple[str, ...]:
        """Popularity and history come from training."""
        return ("train",)

    @property
    def looks_back(self) -> bool:
        """At the popularity of what the user had."""
        return True

    @property
    def bounded(self) -> bool:
        """A list can be many times as popular."""
        return False

    def parts(self, judged: Judged) -> tuple[Floats, Floats]:
        """The difference and the history's popularity; both 0 where the user has no history or no list."""
        popularity, history = judged.train.popularity, judged.train.history
        of_listed = popularity.take(judged.top(max(self.cutoffs)).item).astype(float)
        listed = mean_of_listed(judged, of_listed, self.cutoffs)
        had = np.full((judged.n_queries, 1), np.nan)
        some = np.flatnonzero(history.length)
        if len(some):
            total = np.add.reduceat(popularity.take(history.item), history.start[some])
            had[some, 0] = total / history.length[some]
        before = np.broadcast_to(had, listed.shape)
        there = ~np.isnan(listed) & ~np.isnan(before)
        return np.where(there, listed - before, 0.0), np.where(there, before, 0.0)

    def values(self, judged: Judged) -> Floats:
        """The lift per query and cutoff."""
        above, below = self.parts(judged)
        with np.errstate(invalid="ignore"):
            return above / below

    def define(self) -> Definition:
        """The lift in words."""
        return Definition(
            f"mean number of training users of the items of {self.top}, less that of the user's own training items, "
            "divided by the latter",
            "(mean n_i of list - mean n_i of history) / mean n_i of history",
        )
