"""Inferred average precision: average precision where only a sample of the pool was judged."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from atkay.metrics.metric import Definition, Floats, Judged, Metric, divide
from atkay.metrics.worked import added, bracketed

EPSILON = 1e-5
"""What trec_eval adds to the counts, so that nothing is divided by 0."""


@dataclass(frozen=True)
class InfAP(Metric):
    """What average precision would be if the whole pool had been judged, estimated from a sample of it.

    ``(1/R) Σ (1/l + (r + n + u)/l · (r + ε) / (r + n + 2ε))`` over the hits of the top k, with l the rank of the hit
    and, above it, r relevant items, n judged non-relevant ones and u items of the pool that nobody judged; ε is
    0.00001. Items of the pool count in the proportion in which those judged are relevant; items outside the pool count
    as not relevant.

    An item of the pool that nobody judged has a grade below 0, as TREC's qrels say it: pass ``negative="unjudged"``, or
    ``dialect="trec_eval"``. Without such items u is 0, and where every listed item is judged the value is that of
    :class:`MAP` (up to ε). R counts the relevant items of the sample.

    No hit scores 0.

    References
    ----------
    Yilmaz and Aslam, Estimating average precision with incomplete and imperfect judgments, 2006.

    Examples
    --------
    The hits stand at ranks 1 and 4, below one judged non-relevant item and x, which is outside the pool:
    (1/1 + 1/4 + 2/4 · 1/2) / 2, as r = n = 1. Had x been in the pool, u is 1: (1/1 + 1/4 + 3/4 · 1/2) / 2.

    >>> lists, truth = {"ann": ["a", "n", "x", "b"]}, {"ann": {"a": 1, "b": 1, "n": 0}}
    >>> round(atkay.evaluate(lists, truth, "infap")["infap"], 4)
    0.75
    >>> sampled = {"ann": {"a": 1, "b": 1, "n": 0, "x": -1}}
    >>> round(atkay.evaluate(lists, sampled, "infap", negative="unjudged")["infap"], 4)
    0.8125
    """

    name = "infap"
    aliases = ("inf_ap", "inferred_ap", "inferred_average_precision")
    monotone = True

    def values(self, judged: Judged) -> Floats:
        relevant, other = judged.nth - 1, judged.nonrelevant[1]
        pooled = relevant + other + judged.unjudged_above
        share = (relevant + EPSILON) / (relevant + other + 2 * EPSILON)
        precision = np.where(judged.rank == 1, 1.0, (1 + pooled * share) / judged.rank)
        return divide(judged.total(precision, self.cutoffs), judged.n_relevant[:, None])

    def expression(self, judged: Judged) -> str:
        rows = zip(judged.rank.tolist(), judged.nonrelevant[1].tolist(), judged.unjudged_above.tolist(), strict=True)
        terms = [
            f"1/{rank}" + (f" + {nth + n + u}/{rank} * ({nth} + 0.00001)/({nth + n} + 0.00002)" if rank > 1 else "")
            for nth, (rank, n, u) in enumerate(rows)
            if rank <= self.cutoffs[0]
        ]
        return f"{bracketed(added(terms, len(terms)))} / {judged.n_relevant[0]}"

    def define(self) -> Definition:
        return Definition(
            f"precision at the rank of each relevant item in {self.top}, estimated from the judged part of the pool, "
            "summed and divided by the number of relevant items",
            "(1/R) Σ (1/l + (r + n + u)/l · (r + ε) / (r + n + 2ε))",
        )
