"""P-IA: the mean of precision over subtopics."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from atkay.metrics.categories import added
from atkay.metrics.metric import Definition, Floats, Ints, Judged, word
from atkay.metrics.subtopics import SubtopicMetric


@dataclass(frozen=True)
class PIA(SubtopicMetric):
    """How many of the listed items are relevant to a subtopic, in the mean over subtopics: precision over intents.

    ``1 / S Σ_c hits_c / k``: the hits in the top k that have subtopic c, divided by k. All S subtopics of the user's
    relevant items count alike.

    Conventions
    -----------
    subtopics
        ``given`` reads the subtopics that the truth names, in its column ``subtopic``, and where it names none the
        categories of items in ``features``; ``features`` reads these in any case.
    per
        ``k`` divides by the cutoff (ndeval); ``listed`` by the length of the list, where that is shorter (TF-Ranking).

    Without a cutoff k is the list's own length.

    All relevant items count equally, whatever their grade. Where the truth grades an item for each subtopic, it has
    those for which it is relevant. A user whose relevant items have no subtopic has no value.

    References
    ----------
    Agrawal et al., Diversifying search results, 2009.

    Examples
    --------
    Two drinks, one item that is hot and one bread, in a list of three: (2/3 + 1/3 + 1/3) / 3.

    >>> features = {"tea": ["drink", "hot"], "rum": ["drink"], "rye": ["bread"]}
    >>> lists, truth = {"ann": ["tea", "rum", "rye"]}, {"ann": ["tea", "rum", "rye"]}
    >>> round(atkay.evaluate(lists, truth, "p_ia@3", features=features)["p_ia@3"], 6)
    0.444444
    """

    name = "p_ia"
    aliases = ("precision_ia",)

    per: Literal["k", "listed"] = word(k="the cutoff", listed="min(k, L), the number of listed items")

    def values(self, judged: Judged) -> Floats:
        topics = self.topics(judged)
        hit = topics.shown[0]
        covered = judged.total(added(hit, np.ones(len(hit)), len(topics.item)), self.cutoffs)
        return topics.over(covered, topics.count * self._places(judged))

    def _places(self, judged: Judged) -> Ints:
        return (judged.depth if self.per == "k" else judged.listed)(self.cutoffs)

    def define(self) -> Definition:
        k = "the list's length" if self.k is None else str(self.k) if self.per == "k" else f"min({self.k}, L)"
        return Definition(
            f"number of subtopics of the relevant items in {self.top}, each as often as it occurs, divided by {k} and "
            "by the number of subtopics",
            f"1 / S Σ_c hits_c / {'k' if self.per == 'k' else 'min(k, L)'}",
        )
