"""Ranking-based equal opportunity: whether relevant items of all groups are listed alike."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from atkay.core.kernels import sums
from atkay.metrics.item_groups import Parity, per_group
from atkay.metrics.metric import Definition, Ints, Judged


@dataclass(frozen=True)
class PopREO(Parity):
    """Whether popular and rare items are equally likely to be listed when relevant: 0 if they are.

    ``std(P) / mean(P)`` over the groups of items (the standard deviation of all groups, not of a sample), with P the
    share of the group's relevant items that the lists show in the top k, of all users together: its pooled recall. An
    item of several groups counts in each. The paper calls it ranking-based equal opportunity.

    Conventions
    -----------
    groups
        ``popularity`` makes two groups of the items in ``train``: the head, the most popular items that together hold
        the first share ``head`` of the interactions (0.8; items as popular as the last of them are in it, too), and the
        tail (Elliot's PopREO). ``categories`` are those of ``features``, as in the paper. Items that are in no group do
        not count.

    All relevant items count; in the paper none of them is in the user's training data. A group without a relevant item
    does not count. Undefined with fewer than two groups, or without a hit in them. It lies between 0 and, for G groups,
    the root of G - 1.

    References
    ----------
    Zhu, Wang and Caverlee, Measuring and mitigating item under-recommendation bias in personalized ranking systems,
    2020.

    Examples
    --------
    Two of five relevant popular items are listed and one of ten rare ones: P is 0.4 and 0.1, their mean 0.25 and
    standard deviation 0.15.

    >>> popular, rare = ["p1", "p2", "p3", "p4", "p5"], [f"r{n}" for n in range(10)]
    >>> features = {item: "popular" for item in popular} | {item: "rare" for item in rare}
    >>> recs, truth = {"ann": ["p1", "r0", "p2"]}, {"ann": [*popular, *rare]}
    >>> result = atkay.evaluate(recs, truth, "pop_reo(groups=categories)@3", features=features)
    >>> round(result["pop_reo(groups=categories)@3"], 6)
    0.6
    """

    name = "pop_reo"
    aliases = ("ranking_based_equal_opportunity", "popularity_reo")

    def state(self, judged: Judged) -> Ints:
        """Per group: hits, and relevant items."""
        groups = self.groups_of(judged)
        n_items = groups.n_queries
        hits = sums(judged.item, judged.rank, np.ones(len(judged.item)), self.cutoffs, n_items).T.astype(np.int64)
        relevant = np.broadcast_to(np.bincount(judged.relevant.item, minlength=n_items), hits.shape)
        return per_group(groups, np.stack((hits, relevant), axis=1))

    def define(self) -> Definition:
        return Definition(
            f"standard deviation over mean, between {self.kinds}, of the share of the group's relevant items that "
            f"stand in {self.top}",
            "std P / mean P, P = Σ h / Σ R",
        )
