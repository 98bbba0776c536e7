"""Ranking-based statistical parity: whether groups of items are listed alike."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from atkay.core.kernels import match, sums
from atkay.core.lists import Lists
from atkay.judged.side import Train
from atkay.metrics.coverage import times_listed
from atkay.metrics.item_groups import Parity, per_group
from atkay.metrics.metric import Definition, Ints, Judged, word


@dataclass(frozen=True)
class PopRSP(Parity):
    """Whether popular and rare items are equally likely to be listed: 0 if they are.

    ``std(P) / mean(P)`` over the groups of items (the standard deviation of all groups, not of a sample), with P the
    chance that an item of the group stands in the top k of a user: listed places of the group, divided by users x items
    of the group. An item of several groups counts in each. The paper calls it ranking-based statistical parity.

    Conventions
    -----------
    groups
        ``popularity`` makes two groups of the items in ``train``: the head, the most popular items that together hold
        the first share ``head`` of the interactions (0.8; items as popular as the last of them are in it, too), and the
        tail (Elliot's PopRSP). ``categories`` are those of ``features``, as in the paper. Items that are in no group do
        not count.
    items
        ``unseen`` leaves out, for each user, the items of the user in ``train``, listed or not, as the paper does: they
        are not up for recommendation. ``all`` leaves out nothing.

    A group without an item that could be listed does not count. Undefined with fewer than two groups, or if nothing is
    listed. It lies between 0 and, for G groups, the root of G - 1.

    References
    ----------
    Zhu, Wang and Caverlee, Measuring and mitigating item under-recommendation bias in personalized ranking systems,
    2020.

    Examples
    --------
    Tea is the head, with 4 of 5 interactions; jam is the tail. Dan, who had nothing, is shown tea, and eve jam and tea:
    P is 2/2 and 1/2, their mean 3/4 and standard deviation 1/4.

    >>> train = {"ann": ["tea"], "bob": ["tea"], "cat": ["tea", "jam"], "fay": ["tea"]}
    >>> recs, truth = {"dan": ["tea"], "eve": ["jam", "tea"]}, {"dan": ["tea"], "eve": ["tea"]}
    >>> round(atkay.evaluate(recs, truth, "pop_rsp@2", train=train)["pop_rsp@2"], 6)
    0.333333
    """

    name = "pop_rsp"
    aliases = ("ranking_based_statistical_parity", "popularity_rsp")

    items: Literal["unseen", "all"] = word(unseen="the items that the user did not have in training", all="all items")

    @property
    def needs(self) -> tuple[str, ...]:  # type: ignore[override]  # a word decides
        """Where the groups come from, and what the users had."""
        return tuple(dict.fromkeys((*super().needs, *(("train",) if self.items == "unseen" else ()))))

    @property
    def looks_back(self) -> bool:  # type: ignore[override]  # a word decides
        """At what the users had not had."""
        return self.items == "unseen"

    def state(self, judged: Judged) -> Ints:
        """Per group: places that show it, and pairs of a user and an item that could stand there."""
        groups, listed = self.groups_of(judged), times_listed(judged, self.cutoffs)
        could = np.full(listed.shape, judged.n_queries)
        if self.items == "unseen":
            listed = listed - _had(judged, self.cutoffs)
            could -= _owners(judged.train)
        return per_group(groups, np.stack((listed, could), axis=1))

    def define(self) -> Definition:
        new = {"unseen": " that the user did not have in training", "all": ""}[self.items]
        return Definition(
            f"standard deviation over mean, between {self.kinds}, of the chance that an item of the group{new} "
            f"is in {self.top} of a user",
            "std P / mean P, P = Σ listed / Σ items",
        )


def _had(judged: Judged, cutoffs: tuple[int, ...]) -> Ints:
    """How many users are shown an item that they had in training: cutoffs x items."""
    places, n_items = judged.top(max(cutoffs)), judged.lists.n_items
    listed = Lists.of(np.bincount(places.query, minlength=judged.n_queries), places.item, n_items)
    row = match(judged.train.history, listed).at
    return sums(places.item[row], places.rank[row], np.ones(len(row)), cutoffs, n_items).T.astype(np.int64)


def _owners(train: Train) -> Ints:
    """How many of the queries belong to a user who had the item in training, per item."""
    often = np.bincount(train.user, minlength=train.items.n_queries)
    if (often[train.items.length > 0] == 1).all():
        return train.popularity
    out = np.zeros(train.items.n_items, np.int64)
    for first, last in train.items.blocks():
        item = train.items.item[train.items.start[first] : train.items.start[last]]
        weights = np.repeat(often[first:last], train.items.length[first:last])
        out += np.bincount(item, weights=weights, minlength=len(out)).astype(np.int64)
    return out
