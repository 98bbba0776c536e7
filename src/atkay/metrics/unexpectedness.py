"""Unexpectedness: what a reference recommender would not have listed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from atkay.core.kernels import sums
from atkay.core.match import place_in
from atkay.metrics.metric import Definition, Floats, Judged, ListMetric, divide, word


@dataclass(frozen=True)
class Unexpectedness(ListMetric):
    r"""The share of the list that a reference recommender would not have shown.

    ``|top k \ B| / L``, with B the reference list and L the items listed. It needs ``reference``. With the words
    first named it is ``serendipity(kind=unexpectedness)``.

    Conventions
    -----------
    expected
        ``whole`` takes all that the reference lists for the user as expected (Adamopoulos and Tuzhilin 2014);
        ``top`` the top k of it (RePlay), which without a cutoff is all of it.
    per
        ``listed`` divides by the items listed; ``k`` is 1 - |top k ∩ B| / k, in which an empty place counts as
        unexpected (RePlay).

    A user for whom the reference lists nothing expects nothing: 1 (RePlay: 0). An empty list has no value (RePlay: 0).

    References
    ----------
    Adamopoulos and Tuzhilin, On unexpectedness in recommender systems: or how to better expect the unexpected, 2014.

    Examples
    --------
    The list is a b c, the reference list d a. Of the top 1, a, the reference's whole list has all, its top 1 nothing.

    >>> result = atkay.evaluate({"ann": list("abc")}, {"ann": ["a"]}, ["unexpectedness", "unexpectedness@1",
    ...                         "unexpectedness(expected=top)@1"], reference={"ann": ["d", "a"]})
    >>> result.query_values.round(4)
    array([[0.6667, 0.    , 1.    ]])
    """

    name = "unexpectedness"
    needs = ("reference",)

    expected: Literal["whole", "top"] = word(
        whole="all that the reference lists", top="the top k of the reference list"
    )
    per: Literal["listed", "k"] = word(listed="the items listed", k="k, an empty place being unexpected")

    def values(self, judged: Judged) -> Floats:
        places = judged.top(max(self.cutoffs))
        place = place_in(judged.reference, places.query, places.item)
        both = np.flatnonzero(place)
        # Both lists have the item in their top k from the later of its two places on.
        rank = places.rank[both] if self.expected == "whole" else np.maximum(places.rank[both], place[both])
        common = sums(places.query[both], rank, np.ones(len(both)), self.cutoffs, judged.n_queries)
        per = judged.listed(self.cutoffs) if self.per == "listed" else judged.depth(self.cutoffs)
        return np.where(judged.n_listed[:, None] > 0, divide(per - common, per), np.nan)

    def define(self) -> Definition:
        cut = "" if self.expected == "whole" or self.k is None else f"the top {self.k} of "
        words = f"share of the items in {self.top} that are not in {cut}the reference list"
        if self.per == "k" and self.k is not None:
            return Definition(f"{words}, empty places counting as such", f"1 - |top ∩ reference| / {self.k}")
        return Definition(words, "1 - |top ∩ reference| / L")
