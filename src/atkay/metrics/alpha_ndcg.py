"""Alpha-nDCG: relevance that counts less for each time its subtopic was shown before."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from atkay.metrics.metric import Definition, Floats, Judged
from atkay.metrics.subtopics import SubtopicMetric, by_log_rank, equal_gains, redundancy, term


@dataclass(frozen=True)
class AlphaNDCG(SubtopicMetric):
    """How much the list shows that is relevant and not yet covered: nDCG in which a repeated subtopic counts less.

    ``α-DCG / ideal α-DCG``, with α-DCG the sum of ``gain / log2(rank + 1)`` over the hits in the top k. A hit's gain is
    the sum of ``(1 - alpha)^r`` over its subtopics, r being the number of hits above it that have the subtopic, too.

    Conventions
    -----------
    subtopics
        ``given`` reads the subtopics that the truth names, in its column ``subtopic``, and where it names none the
        categories of items in ``features``; ``features`` reads these in any case.
    alpha
        What a subtopic loses each time it is repeated: 0 counts every subtopic of every hit in full, 1 each
        subtopic once. 0.5 at TREC.
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
    Clarke et al., Novelty and diversity in information retrieval evaluation, 2008.

    Examples
    --------
    The gains in list order are 2 (two new subtopics), 1/2 (drink again) and 1: 2 + 0.5 / log2(3) + 1 / 2 = 2.8155.
    Ideal is rye before rum: 2 + 1 / log2(3) + 0.5 / 2 = 2.8809.

    >>> features = {"tea": ["drink", "hot"], "rum": ["drink"], "rye": ["bread"]}
    >>> lists, truth = {"ann": ["tea", "rum", "rye"]}, {"ann": ["tea", "rum", "rye"]}
    >>> round(atkay.evaluate(lists, truth, "alpha_ndcg@3", features=features)["alpha_ndcg@3"], 6)
    0.977276
    """

    name = "alpha_ndcg"
    aliases = ("andcg", "α_ndcg")
    bounded = False

    alpha: float = redundancy()
    equal: Literal["rounded", "exact"] = equal_gains()

    def values(self, judged: Judged) -> Floats:
        return self.topics(judged).over_greedy(self.alpha, by_log_rank, self.cutoffs, self.equal)

    def define(self) -> Definition:
        cut = "" if self.k is None else f", cut at {self.k}"
        return Definition(
            f"sum of {term(self.alpha)} / log2(rank + 1) over the subtopics of the relevant items in {self.top}, "
            f"divided by the same sum for all relevant items in greedy order{cut}",
            f"α-DCG / ideal α-DCG, α-DCG = Σ Σ_c {1 - self.alpha:g}^r_c / log2(rank + 1)",
        )
