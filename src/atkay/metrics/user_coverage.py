"""User coverage: how many users get a list."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from atkay.metrics.metric import WHOLE, Definition, Floats, Judged, Metric, word


@dataclass(frozen=True)
class UserCoverage(Metric):
    """The share of users who are shown anything at all.

    1 for a user with at least one listed item, else 0; its mean is the share. Removed items (excluded, or not
    candidates) do not count. The protocol says which users count: with ``no_recs="skip"`` users without a list are left
    out, and the share is 1 unless a list was emptied.

    Conventions
    -----------
    count
        ``any`` asks for one item (Elliot's UserCoverage), so the cutoff does not matter; ``full`` for as many as the
        cutoff (its UserCoverageAtN). Without a cutoff there is nothing to fill, and the two agree.

    References
    ----------
    Ge, Delgado-Battenfeld and Jannach, Beyond accuracy: evaluating recommender systems by coverage and serendipity,
    2010. Herlocker et al., Evaluating collaborative filtering recommender systems, 2004.

    Examples
    --------
    Of three users two have a list, and one of these has two items:

    >>> recs, truth = {"ann": ["tea", "jam"], "bob": ["jam"]}, {"ann": ["tea"], "bob": ["tea"], "cat": ["tea"]}
    >>> result = atkay.evaluate(recs, truth, ["user_coverage@2", "user_coverage(count=full)@2"])
    >>> [round(value, 6) for value in result.values()]
    [0.666667, 0.333333]
    """

    name = "user_coverage"
    aliases = ("user_space_coverage",)
    needs_truth = False
    by_length = True

    count: Literal["any", "full"] = word(
        any="1 where at least one item is listed", full="1 where all places up to the cutoff are filled"
    )

    def values(self, judged: Judged) -> Floats:
        least = [1 if self.count == "any" or k == WHOLE else k for k in self.cutoffs]
        return (judged.n_listed[:, None] >= np.array(least)).astype(float)

    def define(self) -> Definition:
        if self.count == "any" or self.k is None:
            return Definition("1 where at least one item is listed, else 0", "[L > 0]")
        return Definition(f"1 where at least {self.k} items are listed, else 0", f"[L = {self.k}]")
