"""Subtopic recall: which share of the subtopics a list covers."""

from __future__ import annotations

from dataclasses import dataclass

from atkay.metrics.categories import added
from atkay.metrics.metric import Definition, Floats, Judged
from atkay.metrics.subtopics import SubtopicMetric


@dataclass(frozen=True)
class SubtopicRecall(SubtopicMetric):
    """Which share of the subtopics the list covers with a relevant item.

    ``|subtopics of the hits in the top k| / S``, S being the number of subtopics of the user's relevant items.

    Conventions
    -----------
    subtopics
        ``given`` reads the subtopics that the truth names, in its column ``subtopic``, and where it names none the
        categories of items in ``features``; ``features`` reads these in any case.

    A perfect list may need several items to reach 1; :class:`CategoryCount` counts what a list shows, relevant or not.

    All relevant items count equally, whatever their grade. Where the truth grades an item for each subtopic, it has
    those for which it is relevant. A user whose relevant items have no subtopic has no value.

    References
    ----------
    Zhai, Cohen and Lafferty, Beyond independent relevance: methods and evaluation metrics for subtopic retrieval, 2003.

    Examples
    --------
    The first item covers drink and hot, the second drink once more; bread is missing: 2/3.

    >>> features = {"tea": ["drink", "hot"], "rum": ["drink"], "rye": ["bread"]}
    >>> lists, truth = {"ann": ["tea", "rum", "rye"]}, {"ann": ["tea", "rum", "rye"]}
    >>> round(atkay.evaluate(lists, truth, "subtopic_recall@2", features=features)["subtopic_recall@2"], 6)
    0.666667
    """

    name = "subtopic_recall"
    aliases = ("strec", "strecall")

    def values(self, judged: Judged) -> Floats:
        topics = self.topics(judged)
        hit, _, nth = topics.shown
        new = added(hit, (nth == 1) * 1.0, len(topics.item))
        return topics.over(judged.total(new, self.cutoffs), topics.count)

    def define(self) -> Definition:
        return Definition(
            f"number of different subtopics of the relevant items in {self.top}, divided by that of all relevant items",
            "|subtopics of the hits| / S",
        )
