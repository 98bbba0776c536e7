"""Precision: how much of what is listed is relevant."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from atkay.metrics.metric import Definition, Floats, Ints, Judged, Ratio, word
from atkay.metrics.worked import share_of_possible


@dataclass(frozen=True)
class Precision(Ratio):
    """The share of the shown items that are relevant.

    ``h / k``, with h the hits in the top k.

    Conventions
    -----------
    per
        ``k`` counts the places that a short list leaves empty as misses (trec_eval, ranx, RecTools, RePlay,
        Recommenders, RecBole, RecPack); ``listed`` divides by what was listed (LensKit, rs_metrics, the textbook's
        "relevant retrieved / retrieved"); ``capped`` by min(k, R), so that a user with few relevant items can
        reach 1 (RecTools with ``r_precision=True``); ``possible`` by min(L, R) with L the items listed, so that a
        short list can reach 1 as well (trec_eval's ``set_relative_P``).

    average
        ``users`` is the mean of the users' shares; ``pooled`` counts every shown item equally.

    Without a cutoff k is the list's own length. An empty list scores 0.

    References
    ----------
    Manning, Raghavan and Schütze, Introduction to Information Retrieval, 2008, chapter 8.

    Examples
    --------
    Two of the three items of the list are relevant, and k is 5:

    >>> result = atkay.evaluate({"ann": ["a", "x", "b"]}, {"ann": ["a", "b"]},
    ...                         ["precision@5", "precision(per=listed)@5", "precision(per=capped)@5"])
    >>> result["precision@5"], round(result["precision(per=listed)@5"], 4), result["precision(per=capped)@5"]
    (0.4, 0.6667, 1.0)
    """

    name = "precision"
    aliases = ("p", "prec")
    monotone = True
    averages = True
    repeats = True
    by_score = True

    per: Literal["k", "listed", "capped", "possible"] = word(
        k="k, however short the list is",
        listed="the items that were listed",
        capped="k, or the number of relevant items where that is smaller",
        possible="the items that were listed, or the number of relevant items where that is smaller",
    )

    def ratio(self, judged: Judged) -> tuple[Floats, Floats | Ints]:
        """The hits, and what they are divided by."""
        if self.per == "possible":
            per = np.minimum(judged.listed(self.cutoffs), judged.n_relevant[:, None])
        else:
            per = {"k": judged.depth, "listed": judged.listed, "capped": judged.capped}[self.per](self.cutoffs)
        return judged.total(1, self.cutoffs), per

    def expression(self, judged: Judged) -> str:
        return share_of_possible(judged, self.cutoffs[0]) if self.per == "capped" else super().expression(judged)

    def define(self) -> Definition:
        k, most = ("L", "") if self.k is None else (str(self.k), f", at most {self.k}")
        per, divisor = {
            "k": (k if most else "the length of the list", k),
            "listed": ("the number of items listed there", "L"),
            "capped": (f"the number of relevant items{most}", f"min({k}, R)" if most else "R"),
            "possible": ("the number of items listed there, at most the number of relevant items", "min(L, R)"),
        }[self.per]
        return Definition(f"relevant items in {self.top}, divided by {per}", f"h / {divisor}")
