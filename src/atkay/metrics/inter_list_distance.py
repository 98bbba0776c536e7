"""Inter-list distance: how different the lists of two users are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from atkay.metrics.coverage import times_listed
from atkay.metrics.metric import WHOLE, Definition, Floats, Ints, Judged, RunMetric, divide, word


@dataclass(frozen=True)
class InterListDistance(RunMetric):
    """How different the lists of two users are on average: 0 if all users are shown the same.

    The mean over all pairs of users of ``1 - overlap / k``, the overlap being the number of items that both lists show
    in the top k. With c_i the number of lists that show item i, this is ``1 - sum c_i (c_i - 1) / (U (U - 1) k)``: no
    pairs are made. U counts the users who have a list; others form no pair.

    Conventions
    -----------
    per
        ``k`` divides each overlap by the cutoff, or by the length of the longest list where nothing is cut: a place
        that a short list leaves empty counts as different (Zhou et al. 2010). ``listed`` divides by the mean length of
        the lists after the cut, ``1 - sum c_i (c_i - 1) / ((U - 1) sum c_i)``: the chance that an item that one user
        is shown is not shown to another. Where all lists are full the two agree.

    Below two lists there is no value.

    References
    ----------
    Zhou et al., Solving the apparent diversity-accuracy dilemma of recommender systems, 2010.

    Examples
    --------
    Ann and cat share two of two items, bob one with each of them: the distances are 1/2, 1/2 and 0.

    >>> recs = {"ann": ["tea", "jam"], "bob": ["tea", "rye"], "cat": ["tea", "jam"]}
    >>> result = atkay.evaluate(recs, {"ann": ["tea"], "bob": ["tea"], "cat": ["tea"]}, "inter_list_distance@2")
    >>> round(result["inter_list_distance@2"], 6)
    0.333333
    """

    name = "inter_list_distance"
    aliases = ("inter_list_diversity", "inter_user_diversity", "personalization")

    per: Literal["k", "listed"] = word(
        k="the cutoff, or the longest list where nothing is cut",
        listed="the mean length of the lists after the cut",
    )

    def state(self, judged: Judged) -> Ints:
        """In how many lists each item stands; then how many lists have each length, from 0 on."""
        n_items = judged.lists.n_items
        lengths = [np.bincount(length, minlength=n_items + 1) for length in judged.listed(self.cutoffs).T]
        return np.concatenate((times_listed(judged, self.cutoffs), lengths), axis=1)

    def finish(self, state: Ints, judged: Judged) -> Floats:
        """One less the mean overlap of two lists."""
        n_items = judged.lists.n_items
        counts, lengths = state[:, :n_items], state[:, n_items:]
        shared, users = (counts * (counts - 1)).sum(axis=1), lengths[:, 1:].sum(axis=1)
        if self.per == "listed":
            return 1 - divide(shared, (users - 1) * counts.sum(axis=1), np.nan)
        longest = [int(np.flatnonzero(of).max(initial=0)) for of in lengths]
        places = [most if k == WHOLE else k for k, most in zip(self.cutoffs, longest, strict=True)]
        return 1 - divide(shared, users * (users - 1) * np.array(places, dtype=float), np.nan)

    def define(self) -> Definition:
        by, formula = "the mean length of the lists", "1 - Σ c (c - 1) / ((U - 1) Σ c)"
        if self.per == "k":
            by = "the length of the longest list" if self.k is None else str(self.k)
            formula = f"1 - Σ c (c - 1) / (U (U - 1) {'k' if self.k is None else self.k})"
        return Definition(
            f"1 less the number of items that {self.top} of two users have in common, divided by {by}; averaged over "
            "all pairs of users",
            formula,
        )
