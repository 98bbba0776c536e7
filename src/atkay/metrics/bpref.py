"""Binary preference: judged items only, whatever else is listed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from atkay.metrics.metric import WHOLE, AllOrders, Definition, Floats, Ints, Judged, Metric, divide, word
from atkay.metrics.shuffled import over_misses_above
from atkay.metrics.worked import added, bracketed, lesser


@dataclass(frozen=True)
class BPref(Metric):
    """How rarely an item judged not relevant ranks above a relevant one.

    ``(1/R) Σ (1 - min(n, R) / min(N, R))`` over the hits of the top k, with n the judged non-relevant items above the
    hit, N all of the user's judged non-relevant items and R the relevant ones. Items outside the truth are ignored.
    Judged not relevant means grade 0, or below the protocol's ``min_relevance``: without such items every hit counts 1,
    and the value is recall, as in trec_eval.

    Conventions
    -----------
    per
        ``capped`` divides n by min(N, R) (trec_eval; Soboroff 2006), so that a user with few judged non-relevant items
        can reach 0; ``relevant`` by R (Buckley and Voorhees); ``plus10`` by R + 10, and counts n up to that (their
        bpref-10, for users with one or two relevant items).

    No hit scores 0.

    References
    ----------
    Buckley and Voorhees, Retrieval evaluation with incomplete information, 2004.
    Soboroff, Dynamic test collections: measuring search effectiveness on the live web, 2006.

    Examples
    --------
    Two relevant items, one of them listed below one of two judged non-relevant ones: (1 - 1/2) / 2. The unjudged z
    does not matter.

    >>> truth = {"ann": {"a": 1, "b": 1, "x": 0, "y": 0}}
    >>> atkay.evaluate({"ann": ["z", "x", "a"]}, truth, "bpref")["bpref"]
    0.25
    """

    name = "bpref"
    aliases = ("binary_preference",)
    monotone = True

    per: Literal["capped", "relevant", "plus10"] = word(
        capped="the relevant items, or the judged non-relevant ones where those are fewer",
        relevant="the relevant items",
        plus10="the relevant items and ten more",
    )

    @property
    def across(self) -> bool:  # type: ignore[override]  # the cutoff decides
        """One more relevant item below a cutoff raises R, and a miss above a hit may cost less."""
        return self.k is not None

    def values(self, judged: Judged) -> Floats:
        worth = self._worth(judged, judged.query, judged.nonrelevant[1])
        return divide(judged.total(worth, self.cutoffs), judged.n_relevant[:, None])

    def _worth(self, judged: Judged, query: Ints, above: Ints) -> Floats:
        """What hits count with judged non-relevant items above them."""
        most = judged.n_relevant + (10 if self.per == "plus10" else 0)
        per = np.minimum(judged.nonrelevant[0], most) if self.per == "capped" else most
        # Where nothing stands above there may be nothing to divide by; 0 then, as nothing is lost.
        return 1 - divide(np.minimum(above, most[query]).astype(float), per[query])

    def all_orders(self, judged: Judged) -> AllOrders:
        """Each hit has the listed items that are judged not relevant above it in any number."""
        listed, hits = judged.judgements.listed, judged.total(1, (WHOLE,))
        misses = np.bincount(listed.query, minlength=judged.n_queries) - hits[:, 0].astype(np.int64)
        each = over_misses_above(
            misses, judged.n_listed, lambda query, above: self._worth(judged, query, above), self.cutoffs
        )
        return AllOrders(divide(hits * each, judged.n_relevant[:, None]))

    def expression(self, judged: Judged) -> str:
        counted, relevant = judged.nonrelevant, int(judged.n_relevant[0])
        most = relevant + (10 if self.per == "plus10" else 0)
        per = lesser(int(counted[0][0]), relevant) if self.per == "capped" else str(most)
        above = counted[1][judged.rank <= self.cutoffs[0]].tolist()
        hits = (f"(1 - min({n}, {most}) / {per})" if n else "1" for n in above)
        return f"{bracketed(added(hits, len(above)))} / {relevant}"

    def define(self) -> Definition:
        most = "R + 10" if self.per == "plus10" else "R"
        per = {"capped": "min(N, R)", "relevant": "R", "plus10": "(R + 10)"}[self.per]
        term = f"1 - min(n, {most}) / {per}"
        return Definition(
            f"sum of {term} over the relevant items in {self.top}, n of N judged non-relevant items above it, "
            "divided by R, the number of relevant items",
            f"(1/R) Σ ({term})",
        )
