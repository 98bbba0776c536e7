"""Compatibility: how like the list is to an ideal one, the top counting most."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from atkay.core.lists import is_constant
from atkay.judged import ties as expected
from atkay.metrics.metric import Definition, Floats, Ints, Judged, Metric, divide, word
from atkay.metrics.rbp import persistence
from atkay.metrics.worked import printed


@dataclass(frozen=True)
class Compatibility(Metric):
    """The rank-biased overlap of the list with the ideal list that is nearest to it.

    ``Σ p^(d-1) o_d / d`` over the depths d, with o_d the number of items that the top d of both lists have in common.
    The ideal list has the relevant items, best grade first, those of equal grade in the order of the list; the depths
    go to the end of the longer of the two, or to k.

    Conventions
    -----------
    p
        How far down the comparison reaches, 0.95 by default; the nearer to 1, the deeper.
    per
        ``ideal`` divides by the overlap of the ideal list with itself, so that the ideal list scores 1; ``weights``
        by ``Σ p^(d-1)``, as rank-biased overlap does.

    No hit scores 0.

    References
    ----------
    Clarke, Vtyurina and Smucker, Assessing top-k preferences, 2021.

    Examples
    --------
    The ideal list is b, a; the list a, x, b has 0, 1 and 2 items of it in its top 1, 2 and 3, the ideal list 1, 2 and
    2, and p is 1/2: (1/2 * 1/2 + 1/4 * 2/3) / (1 + 1/2 * 2/2 + 1/4 * 2/3).

    >>> result = atkay.evaluate({"ann": ["a", "x", "b"]}, {"ann": {"a": 1, "b": 2}}, "compatibility(p=0.5)")
    >>> round(result["compatibility(p=0.5)"], 6)
    0.25
    """

    name = "compatibility"
    aliases = ("compat",)
    by_grade = True
    monotone = True
    of_one_gain = True

    p: float = persistence(0.95)
    per: Literal["ideal", "weights"] = word(
        ideal="the overlap of the ideal list with itself", weights="the sum of the depths' weights"
    )

    def shuffles(self, judged: Judged) -> bool:
        """The place in the ideal list depends on the order among hits of other grades."""
        return is_constant(judged.grades)

    def values(self, judged: Judged) -> Floats:
        longer = np.maximum(judged.n_listed, judged.n_relevant)
        depth = np.minimum(longer[:, None], np.array(self.cutoffs))
        depths = np.arange(1, depth.max(initial=0) + 1)
        upto = np.concatenate(([0.0], np.cumsum(self.p ** (depths - 1.0) / depths)))  # the weights over their depths
        met = np.maximum(judged.rank, _ideal_place(judged))  # the depth from which both lists have the hit
        seen = np.minimum(met - 1, len(depths))
        overlap = np.empty(depth.shape)
        for column, k in enumerate(self.cutoffs):
            whole = upto[depth[judged.query, column]]
            if judged.averaged:  # of one grade, so that a hit is met at its rank
                share, one = expected.share(judged, k), np.ones(len(whole))
                missed = expected.weighted(judged, one, lambda rank: upto[np.minimum(rank, len(upto)) - 1], (k,))[:, 0]
                overlap[:, column] = np.bincount(judged.query, whole * share, judged.n_queries) - missed
                continue
            weight = np.where(met <= k, whole - upto[seen], 0.0)
            overlap[:, column] = np.bincount(judged.query, weight, judged.n_queries)
        alike = np.minimum(judged.n_relevant[:, None], depth) if self.per == "ideal" else depth
        best = (1 - self.p**alike) / (1 - self.p) + alike * (upto[depth] - upto[alike])
        return np.minimum(divide(overlap, best), 1.0)

    def define(self) -> Definition:
        p = printed(self.p)
        per = "Σ p^(d - 1)" if self.per == "weights" else "the same of the ideal list with itself"
        return Definition(
            f"rank-biased overlap (p = {p}) of {self.top} with the relevant items in the best order, over "
            + per.replace("p", p),
            f"Σ {p}^(d - 1) o_d / d / ({per.replace('p^', p + '^')})",
        )


def _ideal_place(judged: Judged) -> Ints:
    """The rank of each hit in the ideal list: those with a higher grade come first, then hits of its grade above it."""
    if is_constant(judged.grades):
        return judged.nth
    distinct, code = np.unique(-judged.grades, return_inverse=True)
    of_truth = np.repeat(np.arange(judged.n_queries), judged.n_relevant) * len(distinct) + code
    of_hit = judged.query * len(distinct) + np.searchsorted(distinct, -judged.grade)
    higher = np.searchsorted(of_truth, of_hit) - judged.edges[judged.query]
    order = np.argsort(of_hit, kind="stable")
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order)) - np.searchsorted(of_hit[order], of_hit[order])
    return higher + place + 1
