"""Item MAD: whether showing the items of all groups pays off alike."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from atkay.core.kernels import sums
from atkay.core.types import Floats, Ints
from atkay.metrics.coverage import times_listed
from atkay.metrics.item_groups import Grouped, compared
from atkay.metrics.metric import Definition, Judged, word


@dataclass(frozen=True)
class ItemMAD(Grouped):
    """How differently groups of items fare when they are listed: the mean absolute difference (MAD) of their hit rates.

    ``mean |P_G - P_H|`` over all pairs of groups, with P_G the mean over the group's items, each of which counts the
    share of hits among the lists whose top k shows it. Items that no list shows do not count; an item of several groups
    counts in each. 0 for groups that fare alike.

    Conventions
    -----------
    groups
        ``categories`` are those of ``features``. ``popularity`` makes two groups of the items in ``train``: the head,
        the most popular items that together hold the first share ``head`` of the interactions (0.8; items as popular
        as the last of them are in it, too), and the tail. Items that are in no group do not count.

    It is undefined with fewer than two groups that are shown. Elliot's ItemMADranking counts graded gains in place of
    hits. For the same of groups of users, evaluate with ``slices=`` and read ``mad`` in ``result.gaps``.

    References
    ----------
    Deldjoo, Anelli, Zamani, Bellogín and Di Noia, A flexible framework for evaluating user and item fairness in
    recommender systems, 2021.

    Examples
    --------
    Tea is a hit in one of two lists and rum in one of one: drinks have (1/2 + 1) / 2. Rye, a hit nowhere, is alone.

    >>> features = {"tea": "drink", "rum": "drink", "rye": "bread"}
    >>> recs, truth = {"ann": ["tea", "rum"], "bob": ["tea", "rye"]}, {"ann": ["tea", "rum"], "bob": ["jam"]}
    >>> atkay.evaluate(recs, truth, "item_mad@2", features=features)["item_mad@2"]
    0.75
    """

    name = "item_mad"
    aliases = ("item_mad_ranking",)
    better = "lower"
    bounded = True

    groups: Literal["categories", "popularity"] = word(
        categories="the items of each category in features",
        popularity="the most popular items of train, and the rest",
    )

    def state(self, judged: Judged) -> Ints:
        """Per item: its hits, and the lists that show it."""
        n_items = judged.lists.n_items
        hits = sums(judged.item, judged.rank, np.ones(len(judged.item)), self.cutoffs, n_items).T.astype(np.int64)
        return np.stack((hits, times_listed(judged, self.cutoffs)), axis=1)

    def finish(self, state: Ints, judged: Judged) -> Floats:
        """The mean absolute difference of the groups."""
        groups = self.groups_of(judged)
        item, group = groups.owner(), groups.item
        return np.array([_apart(hits[item], listed[item], group) for hits, listed in state])

    def define(self) -> Definition:
        return Definition(
            f"mean absolute difference, between {self.kinds}, of the share of hits among the lists that show an item "
            f"in {self.top}, averaged over the items of the group",
            "mean |P_G - P_H|, P = mean h_i / n_i",
        )


def _apart(hits: Ints, listed: Ints, group: Ints) -> float:
    """The mean absolute difference of all pairs of groups, NaN with fewer than two."""
    # Sorted within a group, so that what items are called moves no digit.
    shown = np.flatnonzero(listed)
    share = hits[shown] / listed[shown]
    order = np.lexsort((share, group[shown]))
    total = np.bincount(group[shown][order], weights=share[order])
    with np.errstate(invalid="ignore"):
        values = compared(total / np.bincount(group[shown]))
    n = len(values)
    if n < 2:
        return np.nan
    # Of n rising values the i-th is the higher one in i - 1 pairs and the lower one in n - i.
    return float((np.arange(1 - n, n, 2) * values).sum() / (n * (n - 1) / 2))
