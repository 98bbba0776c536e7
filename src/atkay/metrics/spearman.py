"""Spearman's rank correlation of a list with the grades of its items."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from atkay.core.kernels import within
from atkay.metrics.metric import Definition, Floats, Ints, Judged, Metric, divide


@dataclass(frozen=True)
class Spearman(Metric):
    """The correlation of places in the list with places by grade, from -1 to 1.

    Pearson's correlation of two orders of the items in the top k that the truth grades: the list's, and that of their
    grades, where equal grades share the mean of their places. Items that the truth does not name do not count.

    A user without two grades that differ in the top k has no value.

    References
    ----------
    Spearman, The proof and measurement of association between two things, 1904.

    Examples
    --------
    The places are 1, 2, 3 in the list and 1, 3, 2 by grade: 1 - 6 (0 + 1 + 1) / (3 (3² - 1)).

    >>> result = atkay.evaluate({"ann": ["a", "b", "c"]}, {"ann": {"a": 3, "b": 1, "c": 2}}, "spearman")
    >>> result["spearman"]
    0.5
    """

    name = "spearman"
    aliases = ("spearman_rho", "spearmanr")
    partial = True
    least = -1.0

    def values(self, judged: Judged) -> Floats:
        listed, out = judged.judgements.listed, np.empty((judged.n_queries, len(self.cutoffs)))
        for column, k in enumerate(self.cutoffs):
            top = listed.rank <= k
            out[:, column] = _correlation(listed.query[top], listed.grade[top], judged.n_queries)
        return np.clip(out, -1, 1)

    def define(self) -> Definition:
        return Definition(
            f"correlation of the places of the judged items in {self.top} with their places by grade, equal grades "
            "sharing the mean of theirs",
            "cov(place, place by grade) / (sd(place) · sd(place by grade))",
        )


def _correlation(query: Ints, grade: Floats, n_queries: int) -> Floats:
    """Per query, of rows by query and rank; places count from the middle and are doubled, so that all are integers."""
    n = np.bincount(query, minlength=n_queries)
    place = 2 * within(query) - 1 - n[query]
    order = np.lexsort((-grade, query))
    sorted_by = np.stack((query[order], grade[order]))
    new = np.append(True, (np.diff(sorted_by) != 0).any(axis=0))[: len(order)]
    start = np.flatnonzero(new)
    size = np.diff(start, append=len(order))
    by_grade = np.empty(len(order), np.int64)
    by_grade[order] = 2 * (within(query)[start] - 1).repeat(size) + size.repeat(size) - n[query[order]]
    both, own, other = (
        np.bincount(query, product, n_queries) for product in (place * by_grade, place * place, by_grade * by_grade)
    )
    return divide(both, np.sqrt(own * other), np.nan)
