"""Alpha-DCG: relevance that counts less for each time its subtopic was shown before, over the most there could be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from atkay.metrics.metric import Definition, Floats, Judged, word
from atkay.metrics.subtopics import SubtopicMetric, by_log_rank, redundancy, term


@dataclass(frozen=True)
class AlphaDCG(SubtopicMetric):
    """How much the list shows that is relevant and not yet covered: DCG in which a repeated subtopic counts less.

    The sum of ``gain / log2(rank + 1)`` over the hits in the top k, a hit's gain being the sum of ``(1 - alpha)^r``
    over its subtopics, with r hits above it that have the subtopic, too; divided by the same sum for a list in which
    every item has all S subtopics: ``S Σ (1 - alpha)^(rank - 1) / log2(rank + 1)`` over the ranks to k.

    Conventions
    -----------
    subtopics
        ``given`` reads the subtopics that the truth names, in its column ``subtopic``, and where it names none the
        categories of items in ``features``; ``features`` reads these in any case.
    alpha
        What a subtopic loses each time it is repeated: 0 counts every subtopic of every hit in full, 1 each
        subtopic once. 0.5 at TREC.
    per
        ``ideal`` divides by the list in which every item has all subtopics, which depends on their number alone
        (ndeval); without a cutoff it is as long as the list. ``nothing`` leaves the sum as it is (the paper; and ndeval
        at a cutoff of 1, which it does not print).

    :class:`AlphaNDCG` divides by what the relevant items allow.

    All relevant items count equally, whatever their grade. Where the truth grades an item for each subtopic, it has
    those for which it is relevant. A user whose relevant items have no subtopic has no value.

    References
    ----------
    Clarke et al., Novelty and diversity in information retrieval evaluation, 2008.

    Examples
    --------
    Three subtopics. The gains in list order are 2 (two new subtopics), 1/2 (drink again) and 1:
    2 + 0.5 / log2(3) + 1 / 2 = 2.8155, divided by 3 (1 + 0.5 / log2(3) + 0.25 / 2) = 4.3214.

    >>> features = {"tea": ["drink", "hot"], "rum": ["drink"], "rye": ["bread"]}
    >>> lists, truth = {"ann": ["tea", "rum", "rye"]}, {"ann": ["tea", "rum", "rye"]}
    >>> round(atkay.evaluate(lists, truth, "alpha_dcg@3", features=features)["alpha_dcg@3"], 6)
    0.651518
    """

    name = "alpha_dcg"
    aliases = ("adcg", "α_dcg")

    alpha: float = redundancy()
    per: Literal["ideal", "nothing"] = word(
        ideal="a list in which every item has all subtopics", nothing="nothing: the sum itself"
    )

    @property
    def bounded(self) -> bool:  # type: ignore[override]  # a word decides
        """A sum has no bound."""
        return self.per == "ideal"

    def values(self, judged: Judged) -> Floats:
        topics = self.topics(judged)
        if self.per == "ideal":
            return topics.over_every(self.alpha, by_log_rank, self.cutoffs)
        total = topics.novelty(self.alpha, by_log_rank, self.cutoffs)
        return topics.over(total, 1)

    def define(self) -> Definition:
        per, symbol = {
            "ideal": (", divided by the same sum for a list in which every item has all subtopics", " / that of all S"),
            "nothing": ("", ""),
        }[self.per]
        return Definition(
            f"sum of {term(self.alpha)} / log2(rank + 1) over the subtopics of the relevant items in {self.top}{per}",
            f"Σ Σ_c {1 - self.alpha:g}^r_c / log2(rank + 1){symbol}",
        )
