"""ERR-IA: how soon a user is satisfied who may have meant any of the subtopics."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from atkay.metrics.metric import Definition, Floats, Judged, word
from atkay.metrics.subtopics import SubtopicMetric, by_rank, redundancy, term
from atkay.metrics.worked import printed


@dataclass(frozen=True)
class ERRIA(SubtopicMetric):
    """How soon the list satisfies users of whom each meant one of the subtopics: expected reciprocal rank over intents.

    The sum of ``gain / rank`` over the hits in the top k, a hit's gain being the sum of ``(1 - alpha)^r`` over its
    subtopics, with r hits above it that have the subtopic, too; divided by the same sum for a list in which every item
    has all S subtopics: ``S Σ (1 - alpha)^(rank - 1) / rank`` over the ranks to k.

    Conventions
    -----------
    subtopics
        ``given`` reads the subtopics that the truth names, in its column ``subtopic``, and where it names none the
        categories of items in ``features``; ``features`` reads these in any case.
    alpha
        The chance that a relevant item satisfies, which is what a repeated subtopic loses. 0.5 at TREC, the chance that
        ERR gives a grade of 1 where that is the highest.
    per
        ``ideal`` divides by the list in which every item has all subtopics, which depends on their number alone
        (ndeval); without a cutoff it is as long as the list. ``subtopics`` is the mean of ERR over the subtopics,
        ``alpha / S`` times the sum (the paper, all intents being equally likely). ``nothing`` leaves the sum as it is
        (ndeval at a cutoff of 1, which it does not print).

    :class:`NERRIA` divides by what the relevant items allow.

    All relevant items count equally, whatever their grade. Where the truth grades an item for each subtopic, it has
    those for which it is relevant. A user whose relevant items have no subtopic has no value.

    References
    ----------
    Chapelle et al., Expected reciprocal rank for graded relevance, 2009.
    Clarke, Craswell and Voorhees, Overview of the TREC 2012 web track, 2012 (what ndeval computes).

    Examples
    --------
    Three subtopics. The gains in list order are 2 (two new subtopics), 1/2 (drink again) and 1: 2 + 0.5 / 2 + 1 / 3,
    divided by 3 (1 + 0.5 / 2 + 0.25 / 3) = 4.

    >>> features = {"tea": ["drink", "hot"], "rum": ["drink"], "rye": ["bread"]}
    >>> lists, truth = {"ann": ["tea", "rum", "rye"]}, {"ann": ["tea", "rum", "rye"]}
    >>> round(atkay.evaluate(lists, truth, "err_ia@3", features=features)["err_ia@3"], 6)
    0.645833
    """

    name = "err_ia"
    aliases = ("erria",)

    alpha: float = redundancy()
    per: Literal["ideal", "subtopics", "nothing"] = word(
        ideal="a list in which every item has all subtopics",
        subtopics="the number of subtopics: the mean of their ERR",
        nothing="nothing: the sum itself",
    )

    @property
    def bounded(self) -> bool:  # type: ignore[override]  # a word decides
        """A sum has no bound."""
        return self.per != "nothing"

    def values(self, judged: Judged) -> Floats:
        topics = self.topics(judged)
        if self.per == "ideal":
            return topics.over_every(self.alpha, by_rank, self.cutoffs)
        total = topics.novelty(self.alpha, by_rank, self.cutoffs)
        return topics.over(self.alpha * total, topics.count) if self.per == "subtopics" else topics.over(total, 1)

    def define(self) -> Definition:
        alpha = printed(self.alpha)
        per, symbol = {
            "ideal": (", divided by the same sum for a list in which every item has all subtopics", " / that of all S"),
            "subtopics": (f", times {alpha} and divided by the number of subtopics", f" · {alpha} / S"),
            "nothing": ("", ""),
        }[self.per]
        return Definition(
            f"sum of {term(self.alpha)} / rank over the subtopics of the relevant items in {self.top}{per}",
            f"Σ Σ_c {1 - self.alpha:g}^r_c / rank{symbol}",
        )
