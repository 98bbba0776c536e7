"""nERR-IA: how soon users of all subtopics are satisfied, compared with what the relevant items allow."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from atkay.metrics.metric import Definition, Floats, Judged
from atkay.metrics.subtopics import SubtopicMetric, by_rank, equal_gains, redundancy, term


@dataclass(frozen=True)
class NERRIA(SubtopicMetric):
    """How soon the list satisfies users of whom each meant one of the subtopics, over the best that can be done.

    ``ERR-IA / ideal ERR-IA``, with ERR-IA the sum of ``gain / rank`` over the hits in the top k. A hit's gain is the
    sum of ``(1 - alpha)^r`` over its subtopics, r being the number of hits above it that have the subtopic, too.

    Conventions
    -----------
    subtopics
        ``given`` reads the subtopics that the truth names, in its column ``subtopic``, and where it names none the
        categories of items in ``features``; ``features`` reads these in any case.
    alpha
        The chance that a relevant item satisfies, which is what a repeated subtopic loses. 0.5 at TREC.
    equal
        Which gains are equal: ``rounded`` those that differ by rounding alone, ``exact`` those whose sums are the same
        to the last digit, added up in the order of the subtopics (ndeval). With an alpha of 0.5 it makes no difference.

    The ideal list is made of all relevant items, listed or not: each place takes the one with the highest gain, of
    equal gains the one with the last id, compared as text ("9" before "10"), as in ndeval. Computing the best list is
    NP-hard, so this greedy one stands for it. Now and then a list beats it and scores above 1.

    All relevant items count equally, whatever their grade. Where the truth grades an item for each subtopic, it has
    those for which it is relevant. A user whose relevant items have no subtopic has no value.

    References
    ----------
    Chapelle et al., Expected reciprocal rank for graded relevance, 2009.
    Clarke, Craswell and Voorhees, Overview of the TREC 2012 web track, 2012 (what ndeval computes).

    Examples
    --------
    The gains in list order are 2 (two new subtopics), 1/2 (drink again) and 1: 2 + 0.5 / 2 + 1 / 3 = 2.5833. Ideal is
    rye before rum: 2 + 1 / 2 + 0.5 / 3 = 2.6667.

    >>> features = {"tea": ["drink", "hot"], "rum": ["drink"], "rye": ["bread"]}
    >>> lists, truth = {"ann": ["tea", "rum", "rye"]}, {"ann": ["tea", "rum", "rye"]}
    >>> round(atkay.evaluate(lists, truth, "nerr_ia@3", features=features)["nerr_ia@3"], 6)
    0.96875
    """

    name = "nerr_ia"
    aliases = ("nerria",)
    bounded = False

    alpha: float = redundancy()
    equal: Literal["rounded", "exact"] = equal_gains()

    def values(self, judged: Judged) -> Floats:
        return self.topics(judged).over_greedy(self.alpha, by_rank, self.cutoffs, self.equal)

    def define(self) -> Definition:
        cut = "" if self.k is None else f", cut at {self.k}"
        return Definition(
            f"sum of {term(self.alpha)} / rank over the subtopics of the relevant items in {self.top}, divided by the "
            f"same sum for all relevant items in greedy order{cut}",
            f"ERR-IA / ideal ERR-IA, ERR-IA = Σ Σ_c {1 - self.alpha:g}^r_c / rank",
        )
