"""Kendall's rank correlation of a list with the grades of its items."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from atkay.metrics.metric import Definition, Floats, Judged, Metric, divide, word
from atkay.metrics.pairs import pairs_of


@dataclass(frozen=True)
class Kendall(Metric):
    """How well the order of the judged items in the list agrees with the order of their grades, from -1 to 1.

    ``(C - D) / sqrt(n (n - 1) / 2 · (C + D))`` over the n items of the top k that the truth grades: C pairs have the
    higher grade first, D the lower. Items that the truth does not name do not count.

    Conventions
    -----------
    form
        What C - D is divided by: ``b`` corrects for equal grades (tau-b, as SciPy has it); ``a`` is all pairs, n (n -
        1) / 2, so that equal grades keep the value from 1; ``gamma`` is C + D, the pairs whose grades differ (Goodman
        and Kruskal).

    A user without two grades that differ in the top k has no value.

    References
    ----------
    Kendall, The treatment of ties in ranking problems, 1945.

    Examples
    --------
    The grades are 3, 1 and 2: two pairs are in the right order, one is not.

    >>> result = atkay.evaluate({"ann": ["a", "b", "c"]}, {"ann": {"a": 3, "b": 1, "c": 2}}, "kendall")
    >>> round(result["kendall"], 6)
    0.333333
    """

    name = "kendall"
    aliases = ("kendall_tau", "kendalltau")
    partial = True
    least = -1.0

    form: Literal["b", "a", "gamma"] = word(b="sqrt(n (n - 1) / 2 · (C + D))", a="n (n - 1) / 2", gamma="C + D")

    def values(self, judged: Judged) -> Floats:
        listed, out = judged.judgements.listed, np.empty((judged.n_queries, len(self.cutoffs)))
        for column, k in enumerate(self.cutoffs):
            top = listed.rank <= k
            right, wrong = pairs_of(listed.query[top], listed.grade[top], judged.n_queries)
            n = np.bincount(listed.query[top], minlength=judged.n_queries)
            every, differ = n * (n - 1) / 2, right + wrong
            below = {"b": np.sqrt(every) * np.sqrt(differ), "a": every, "gamma": differ}[self.form]
            out[:, column] = divide(right - wrong, np.where(differ, below, 0.0), np.nan)
        return np.clip(out, -1, 1)

    def define(self) -> Definition:
        below = {"b": "sqrt(n (n - 1) / 2 · (C + D))", "a": "(n (n - 1) / 2)", "gamma": "(C + D)"}[self.form]
        return Definition(
            f"pairs of judged items in {self.top} with the higher grade first, less those with the lower grade first, "
            f"over {below}",
            f"(C - D) / {below}",
        )
