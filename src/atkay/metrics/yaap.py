"""Yet another average precision: average precision on a scale without ends."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from atkay.metrics.metric import Definition, Floats, Judged, Metric
from atkay.metrics.worked import added


@dataclass(frozen=True)
class YAAP(Metric):
    """Average precision as the logarithm of odds, whose mean over users moves as much near 1 as near 0.

    ``ln((1 + S) / (1 + R - S))``, with S the sum of the precisions at the hits of the top k, as in :class:`MAP`, and R
    the user's relevant items. It is 0 where average precision is about 1/2, and the more relevant items there are, the
    further it can go: up to ``ln(1 + R)``, down to ``-ln(1 + R)``.

    References
    ----------
    Robertson, On smoothing average precision, 2012.

    Examples
    --------
    Hits at ranks 1 and 3 of three relevant items: S is 1/1 + 2/3 = 5/3, and the value ln((8/3) / (7/3)).

    >>> round(atkay.evaluate({"ann": ["a", "x", "b"]}, {"ann": ["a", "b", "c"]}, "yaap")["yaap"], 4)
    0.1335
    """

    name = "yaap"
    least = -math.inf
    bounded = False
    of_empty = True
    monotone = True

    def values(self, judged: Judged) -> Floats:
        precisions = judged.total(judged.upto / judged.rank, self.cutoffs)
        # Rounding must not take a perfect list past R.
        missing = np.maximum(judged.n_relevant[:, None] - precisions, 0.0)
        odds: Floats = np.log((1 + precisions) / (1 + missing))
        return odds

    def expression(self, judged: Judged) -> str:
        ranks = judged.rank[judged.rank <= self.cutoffs[0]].tolist()
        precisions = added((f"{nth}/{rank}" for nth, rank in enumerate(ranks, 1)), len(ranks))
        minus = f"({precisions})" if len(ranks) > 1 else precisions
        return f"ln((1 + {precisions}) / (1 + {judged.n_relevant[0]} - {minus}))"

    def define(self) -> Definition:
        return Definition(
            f"logarithm of (1 + S) / (1 + R - S), S the sum of the precisions at the relevant items in {self.top}, R "
            "the number of relevant items",
            "ln((1 + S) / (1 + R - S)), S = 1/l1 + 2/l2 + ... + h/lh",
        )
