"""Utility: what hits, wrong items and missed items are worth together."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from atkay.metrics.metric import Definition, Floats, Judged, Metric, number
from atkay.metrics.worked import printed


def _worth(default: float) -> Any:
    return number(default, lambda value: abs(value) <= 1e6, "a number, at most a million")


@dataclass(frozen=True)
class Utility(Metric):
    """The worth of a list, where every hit gains something and every wrong item, or missed one, costs something.

    ``hit · h + wrong · (L - h) + missed · (R - h)``, with h hits among the L items listed in the top k, and R relevant
    items. Users without relevant items have a value, too: what they are shown costs.

    Conventions
    -----------
    hit
        What a relevant item is worth that is listed; 1 by default.
    wrong
        What any other listed item is worth; -1 by default.
    missed
        What a relevant item is worth that is not listed; 0 by default.

    trec_eval has a fourth weight d, for the N - L - R + h documents of the collection that are neither listed nor
    relevant. Its value is that of the three weights less d, plus d · N.

    References
    ----------
    Lewis, The TREC-5 filtering track, 1996.

    Examples
    --------
    Two hits and one other item are listed, one relevant item is missed: 2 - 1, and 2 · 2 - 1 - 0.5 · 1.

    >>> result = atkay.evaluate({"ann": ["a", "x", "b"]}, {"ann": ["a", "b", "c"]},
    ...                         ["utility", "utility(hit=2,missed=-0.5)"])
    >>> list(result.values())
    [1.0, 2.5]
    """

    name = "utility"
    needs_truth = False
    least = -math.inf
    bounded = False
    averages = True
    of_empty = True

    hit: float = _worth(1.0)
    wrong: float = _worth(-1.0)
    missed: float = _worth(0.0)

    def values(self, judged: Judged) -> Floats:
        hits, listed = judged.total(1, self.cutoffs), judged.listed(self.cutoffs)
        return self.hit * hits + self.wrong * (listed - hits) + self.missed * (judged.n_relevant[:, None] - hits)

    def expression(self, judged: Judged) -> str:
        hits = int(judged.total(1, self.cutoffs)[0, 0])
        counts = (hits, int(judged.listed(self.cutoffs)[0, 0]) - hits, int(judged.n_relevant[0]) - hits)
        weights = map(printed, (self.hit, self.wrong, self.missed))
        return " + ".join(f"{weight} * {count}" for weight, count in zip(weights, counts, strict=True))

    def define(self) -> Definition:
        hit, wrong, missed = map(printed, (self.hit, self.wrong, self.missed))
        return Definition(
            f"{hit} for each relevant item in {self.top}, {wrong} for each other item there, {missed} for each "
            "relevant item that is not there",
            f"{hit} h + {wrong} (L - h) + {missed} (R - h)",
        )
