"""Count: how many items a user's list and truth have."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from atkay.core.kernels import sums
from atkay.metrics.metric import Definition, Floats, Judged, ListMetric, word


def items_field(**more: str) -> Any:
    """The field that says which items are counted, or ``more`` than items."""
    return word(
        listed="items that are listed",
        relevant="relevant items, listed or not",
        hits="relevant items that are listed",
        nonrelevant="listed items that are judged not relevant",
        unjudged="listed items that nobody judged",
        **more,
    )


def counts(of: str, judged: Judged, cutoffs: tuple[int, ...]) -> Floats:
    """How many items of this kind each query has, at each cutoff."""
    if of == "relevant":
        return np.repeat(judged.n_relevant[:, None].astype(float), len(cutoffs), axis=1)
    if of == "listed":
        return judged.listed(cutoffs).astype(float)
    if of == "hits":
        return judged.total(1, cutoffs)
    known = judged.judgements.listed
    if of == "unjudged":
        return judged.listed(cutoffs) - sums(known.query, known.rank, None, cutoffs, judged.n_queries)
    wrong = ~known.relevant
    return sums(known.query[wrong], known.rank[wrong], None, cutoffs, judged.n_queries)


@dataclass(frozen=True)
class Count(ListMetric):
    """How many items there are per user: listed, relevant, hit, judged or not.

    The mean over users; :class:`Total` is the sum. An empty list counts as 0.

    Conventions
    -----------
    of
        ``listed`` counts the items in the top k (trec_eval's ``num_ret`` per query); ``relevant`` the user's relevant
        items, listed or not (``num_rel``); ``hits`` the relevant ones in the top k (``num_rel_ret``); ``nonrelevant``
        those in the top k that the truth grades as not relevant (``num_nonrel_judged_ret``); ``unjudged`` those in the
        top k that it does not grade.

    Examples
    --------
    Of three listed items a is relevant, n is not, and nobody judged x.

    >>> result = atkay.evaluate({"ann": ["a", "x", "n"]}, {"ann": {"a": 1, "b": 1, "n": 0}},
    ...                         ["count", "count(of=relevant)", "count(of=hits)", "count(of=unjudged)"])
    >>> list(result.values())
    [3.0, 2.0, 1.0, 1.0]
    """

    name = "count"
    bounded = False

    of: Literal["listed", "relevant", "hits", "nonrelevant", "unjudged"] = items_field()

    @property
    def by_length(self) -> bool:  # type: ignore[override]  # a word decides
        """Whether it does not matter which items are listed."""
        return self.of in ("listed", "relevant")

    def values(self, judged: Judged) -> Floats:
        return counts(self.of, judged, self.cutoffs)

    def define(self) -> Definition:
        words = {
            "listed": f"number of items in {self.top}",
            "relevant": "number of relevant items",
            "hits": f"number of relevant items in {self.top}",
            "nonrelevant": f"number of items in {self.top} that are judged not relevant",
            "unjudged": f"number of items in {self.top} that nobody judged",
        }[self.of]
        formula = {"listed": "L", "relevant": "R", "hits": "h"}.get(self.of, f"| top, {self.of} |")
        return Definition(words, formula)
