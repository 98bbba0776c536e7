"""Interpolated precision: the best precision from a level of recall on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from atkay.core.kernels import within
from atkay.metrics.metric import Definition, Floats, Ints, Judged, Metric, number, word
from atkay.metrics.r_precision import ROUNDING
from atkay.metrics.user_models import running
from atkay.metrics.worked import printed


def rounding_field() -> Any:
    """The field that says how many relevant items make a level of recall."""
    return word(
        up="recall times R, rounded up",
        from_tenth="recall times R, rounded up where the rest is a tenth or more: floor(recall R + 0.9)",
        nearest="recall times R, rounded to the nearest whole number, a half up",
    )


def needed(recall: float, relevant: Ints, rounding: str) -> Ints:
    """How many relevant items make this level of recall."""
    share = recall * relevant
    if rounding == "up":
        whole = np.ceil(share - 1e-9)  # products such as 0.07 * 100 come out a little above a whole number
    else:
        whole = np.floor(share + {"from_tenth": ROUNDING, "nearest": 0.5}[rounding])
    least: Ints = whole.astype(np.int64)
    return least


def best_from(judged: Judged) -> Callable[[Ints], Floats]:
    """The best precision of each query from its hit of some number on, 0 where it has none."""
    hits = np.bincount(judged.query, minlength=judged.n_queries)
    first = np.cumsum(hits) - hits
    back = within(judged.query[::-1])
    best = running(np.maximum, (judged.upto / judged.rank)[::-1], back)[::-1]

    def of(least: Ints) -> Floats:
        nth = np.maximum(least, 1)
        out = np.zeros(judged.n_queries)
        there = nth <= hits
        out[there] = best[(first + nth - 1)[there]]
        return out

    return of


@dataclass(frozen=True)
class InterpolatedPrecision(Metric):
    """The best precision at which a level of recall is reached, or passed: a point of the precision-recall curve.

    ``max h@l / l`` over the ranks l with ``h@l >= n``, with n the number of relevant items that make the level of
    recall. 0 where the list does not have as many.

    Conventions
    -----------
    recall
        The level, from 0 to 1; 0 by default, where the value is the highest precision at any rank.
    rounding
        n follows from recall · R. ``up`` rounds up, the definition; ``from_tenth`` adds 0.9 and drops the digits, so
        that 2.05 relevant items are 2 (trec_eval up to version 9); ``nearest`` rounds to the nearest (trec_eval 10).

    References
    ----------
    Manning, Raghavan and Schütze, Introduction to Information Retrieval, 2008, chapter 8.

    Examples
    --------
    Hits at ranks 2, 3 and 6, of four relevant items: the precisions are 1/2, 2/3 and 3/6. Half of all are found at rank
    3; three quarters at rank 6.

    >>> result = atkay.evaluate({"ann": ["x", "a", "b", "y", "z", "c"]}, {"ann": ["a", "b", "c", "d"]},
    ...     ["interpolated_precision(recall=0.5)", "interpolated_precision(recall=0.75)"])
    >>> [round(value, 4) for value in result.values()]
    [0.6667, 0.5]
    """

    name = "interpolated_precision"
    aliases = ("iprec", "iprec_at_recall")
    cuts = False
    monotone = True

    recall: float = number(0.0, lambda recall: 0 <= recall <= 1, "a number from 0 to 1")
    rounding: Literal["up", "from_tenth", "nearest"] = rounding_field()

    def values(self, judged: Judged) -> Floats:
        least = needed(self.recall, judged.n_relevant, self.rounding)
        return best_from(judged)(least)[:, None]

    def expression(self, judged: Judged) -> str:
        least = max(int(needed(self.recall, judged.n_relevant, self.rounding)[0]), 1)
        shares = [f"{h}/{rank}" for h, rank in enumerate(judged.rank.tolist(), 1) if h >= least]
        return f"max({', '.join(shares)})" if len(shares) > 1 else shares[0] if shares else "0"

    def define(self) -> Definition:
        recall = printed(self.recall)
        return Definition(
            f"highest precision at a rank at which recall is {recall} or more, with {recall} R "
            f"{ {'up': 'rounded up', 'from_tenth': 'plus 0.9 rounded down', 'nearest': 'rounded'}[self.rounding] }",
            f"max h@l / l, recall@l >= {recall}",
        )
