"""AP-IA: the mean of average precision over subtopics."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from atkay.metrics.categories import added
from atkay.metrics.metric import Definition, Floats, Judged
from atkay.metrics.subtopics import SubtopicMetric


@dataclass(frozen=True)
class APIA(SubtopicMetric):
    """How high the relevant items of each subtopic stand: average precision, in the mean over subtopics (MAP-IA).

    ``1 / S Σ_c AP_c``: average precision where the items with subtopic c alone are relevant, each divided by the number
    of these. All S subtopics of the user's relevant items count alike.

    Conventions
    -----------
    subtopics
        ``given`` reads the subtopics that the truth names, in its column ``subtopic``, and where it names none the
        categories of items in ``features``; ``features`` reads these in any case.

    With a cutoff the sum of each AP stops at rank k; it is still divided by the number of relevant items.

    All relevant items count equally, whatever their grade. Where the truth grades an item for each subtopic, it has
    those for which it is relevant. A user whose relevant items have no subtopic has no value.

    References
    ----------
    Agrawal et al., Diversifying search results, 2009.

    Examples
    --------
    Of the drinks, tea and rum are at ranks 1 and 2: 1. What is hot is at rank 1: 1. Bread is at rank 3: 1/3.

    >>> features = {"tea": ["drink", "hot"], "rum": ["drink"], "rye": ["bread"]}
    >>> lists, truth = {"ann": ["tea", "rum", "rye"]}, {"ann": ["tea", "rum", "rye"]}
    >>> round(atkay.evaluate(lists, truth, "ap_ia", features=features)["ap_ia"], 6)
    0.777778
    """

    name = "ap_ia"
    aliases = ("map_ia",)

    def values(self, judged: Judged) -> Floats:
        topics = self.topics(judged)
        hit, pair, nth = topics.shown
        every, relevant = topics.pairs
        weight = added(hit, nth / relevant.take(np.searchsorted(every, pair)), len(topics.item))
        return np.minimum(topics.over(judged.total(weight / judged.rank, self.cutoffs), topics.count), 1.0)

    def define(self) -> Definition:
        return Definition(
            f"mean over the subtopics of the average precision in {self.top}, where the items with the subtopic alone "
            "are relevant",
            "1 / S Σ_c AP_c",
        )
