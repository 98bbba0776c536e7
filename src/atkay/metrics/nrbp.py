"""NRBP: rank-biased precision in which a repeated subtopic counts less."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from atkay.metrics.metric import Definition, Floats, Judged, number
from atkay.metrics.subtopics import SubtopicMetric, by_patience, redundancy, term
from atkay.metrics.worked import printed


def going_on() -> Any:
    """The field that says how likely the user is to look at the next item."""
    return number(0.5, lambda beta: 0 <= beta < 1, "a number from 0 to below 1")


@dataclass(frozen=True)
class NRBP(SubtopicMetric):
    """The new and relevant that a user sees who goes on to the next item with probability beta.

    ``(1 - (1 - alpha) beta) / S · Σ gain beta^(rank - 1)`` over the hits in the top k, a hit's gain being the sum of
    ``(1 - alpha)^r`` over its subtopics, with r hits above it that have the subtopic, too. An endless list in which
    every item has all S subtopics would score 1.

    Conventions
    -----------
    subtopics
        ``given`` reads the subtopics that the truth names, in its column ``subtopic``, and where it names none the
        categories of items in ``features``; ``features`` reads these in any case.
    alpha
        What a subtopic loses each time it is repeated: 0 counts every subtopic of every hit in full, 1 each
        subtopic once. 0.5 at TREC.
    beta
        How patient the user is: the chance to go on to the next item, from 0 to below 1. 0.5 at TREC.

    :class:`NNRBP` divides by what the relevant items allow.

    All relevant items count equally, whatever their grade. Where the truth grades an item for each subtopic, it has
    those for which it is relevant. A user whose relevant items have no subtopic has no value.

    References
    ----------
    Clarke, Kolla and Vechtomova, An effectiveness measure for ambiguous and underspecified queries, 2009.

    Examples
    --------
    Three subtopics. The gains in list order are 2 (two new subtopics), 1/2 (drink again) and 1:
    (1 - 0.25) / 3 * (2 + 0.5 / 2 + 1 / 4).

    >>> features = {"tea": ["drink", "hot"], "rum": ["drink"], "rye": ["bread"]}
    >>> lists, truth = {"ann": ["tea", "rum", "rye"]}, {"ann": ["tea", "rum", "rye"]}
    >>> atkay.evaluate(lists, truth, "nrbp", features=features)["nrbp"]
    0.625
    """

    name = "nrbp"

    alpha: float = redundancy()
    beta: float = going_on()

    def values(self, judged: Judged) -> Floats:
        topics = self.topics(judged)
        total = topics.novelty(self.alpha, by_patience(self.beta), self.cutoffs)
        return np.minimum(topics.over((1 - (1 - self.alpha) * self.beta) * total, topics.count), 1.0)

    def define(self) -> Definition:
        beta, factor = printed(self.beta), f"{1 - (1 - self.alpha) * self.beta:g}"
        return Definition(
            f"sum of {term(self.alpha)} * {beta}^(rank - 1) over the subtopics of the relevant items in {self.top}, "
            f"times {factor} and divided by the number of subtopics",
            f"{factor} / S · Σ Σ_c {1 - self.alpha:g}^r_c {beta}^(rank - 1)",
        )
