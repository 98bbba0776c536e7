"""Mean average recall: recall at every cutoff down to k, averaged."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from atkay.judged import ties as expected
from atkay.metrics.metric import Definition, Floats, Judged, Metric, divide
from atkay.metrics.worked import added, bracketed, quotient


@dataclass(frozen=True)
class MAR(Metric):
    """How soon the list has the relevant items: the mean of recall at 1, 2, ..., k.

    ``Σ (k - rank + 1) / (k R)`` over the hits in the top k, as a hit counts at its rank and at all ranks below.

    Without a cutoff k is the list's own length. An empty list scores 0. What some programs call MAR is average
    precision: see :class:`MAP`.

    References
    ----------
    Anelli et al., Elliot: a comprehensive and rigorous framework for reproducible recommender systems evaluation, 2021.

    Examples
    --------
    Hits at ranks 1 and 3, two relevant items: recall is 1/2, 1/2 and 1.

    >>> result = atkay.evaluate({"ann": ["a", "x", "b"]}, {"ann": ["a", "b"]}, "mar@3")
    >>> round(result["mar@3"], 6)
    0.666667
    """

    name = "mar"
    aliases = ("mean_average_recall",)
    monotone = True
    averages = True
    repeats = True

    def values(self, judged: Judged) -> Floats:
        depth, hits = judged.depth(self.cutoffs), judged.total(1, self.cutoffs)
        if judged.averaged:
            ranks = expected.weighted(judged, np.ones(len(judged.rank)), lambda rank: rank.astype(float), self.cutoffs)
        else:
            ranks = judged.total(judged.rank.astype(float), self.cutoffs)
        counted = (depth + 1) * hits - ranks
        relevant = judged.n_relevant[:, None]
        # Recall at k is the highest of them, and rounding must not go past it.
        return np.minimum(divide(counted, depth * relevant), divide(hits, np.broadcast_to(relevant, hits.shape)))

    def expression(self, judged: Judged) -> str:
        depth = int(judged.depth(self.cutoffs)[0, 0])
        ranks = judged.rank[judged.rank <= self.cutoffs[0]].tolist()
        terms = added((f"({depth} - {rank} + 1)" for rank in ranks), len(ranks))
        return quotient(bracketed(terms), f"({depth} * {judged.n_relevant[0]})" if depth else "0")

    def define(self) -> Definition:
        k = "L" if self.k is None else str(self.k)
        return Definition(f"mean of recall over the cutoffs from 1 to {k}", f"Σ ({k} - rank + 1) / ({k} R)")
