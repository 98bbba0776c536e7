"""Mean average precision: precision at each hit, averaged."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from atkay.judged import ties as expected
from atkay.judged.judged import kept
from atkay.metrics.metric import Definition, Floats, Ints, Judged, Metric, divide, word
from atkay.metrics.worked import added, bracketed, lesser, quotient

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True)
class MAP(Metric):
    """Average precision: the precision at the rank of each relevant item, averaged; early hits count more.

    The sum of the precisions at the hits of the top k, ``1/l1 + 2/l2 + ... + h/lh`` for hits at ranks l1 < l2 < ...,
    divided by what ``per`` says. A user's value is AP, its mean MAP.

    Conventions
    -----------
    per
        ``relevant`` divides by all R relevant items (trec_eval, ranx, ir-measures, RecTools, rs_metrics,
        TF-Ranking); ``capped`` by min(k, R) (RePlay, RecBole, Recommenders' ``map_at_k``, LightGBM), so that a
        perfect top k reaches 1; ``hits`` by the hits themselves (torchmetrics, session-based papers), so that a user
        with one hit at rank 1 scores 1 whatever was missed, and a further hit far down lowers the value; ``k``
        (RecTools with ``divide_by_k=True``); ``listed`` by min(R, L) (LensKit). ``places`` is another number: the mean
        of the precisions at all k places, hit or not (Elliot).

    Without a cutoff k is the list's own length where it is divided by, and caps nothing. No hit scores 0.

    References
    ----------
    Buckley and Voorhees, Evaluating evaluation measure stability, 2000.

    Examples
    --------
    Hits at ranks 1 and 3, four relevant items, k = 3: the sum is 1/1 + 2/3 = 5/3.

    >>> result = atkay.evaluate({"ann": ["a", "x", "b"]}, {"ann": ["a", "b", "c", "d"]},
    ...                         ["map@3", "map(per=capped)@3", "map(per=hits)@3"])
    >>> [round(result[each], 6) for each in ("map@3", "map(per=capped)@3", "map(per=hits)@3")]
    [0.416667, 0.555556, 0.833333]
    """

    name = "map"
    aliases = ("ap", "average_precision", "mean_average_precision")
    monotone = True
    averages = True
    repeats = True
    by_score = True

    per: Literal["relevant", "capped", "hits", "k", "listed", "places"] = word(
        relevant="the relevant items",
        capped="the relevant items, or k where that is smaller",
        hits="the hits in the top k",
        k="k, however short the list is",
        listed="the relevant items, or the items listed where those are fewer",
        places="all k places, the precision being taken at each of them, hit or not",
    )

    def values(self, judged: Judged) -> Floats:
        if self.per == "places":
            return self._at_all_places(judged)
        sides = self.sides(judged)
        return expected.precisions_per_hit(judged, self.cutoffs) if sides is None else divide(*sides)

    def sides(self, judged: Judged) -> tuple[Floats, Floats | Ints] | None:
        """The precisions at the hits, and what their sum is divided by."""
        if self.per == "places" or (judged.averaged and self.per == "hits"):
            return None

        def work(cutoffs: Sequence[int]) -> Floats:
            if judged.averaged:
                return expected.precisions(judged, cutoffs)
            return judged.total(judged.upto / judged.rank, cutoffs)

        return kept(judged.of_hits, "precisions", self.cutoffs, work), self._per(judged)

    def _at_all_places(self, judged: Judged) -> Floats:
        """The mean of the precisions at all k places: a hit at rank l adds 1/l + 1/(l+1) + ... + 1/k to their sum.

        With H(k) = 1 + 1/2 + ... + 1/k that is H(k) - H(l-1); among equal scores, its mean over the places.
        """
        t, n = judged.ties if judged.averaged else (judged.rank - 1, np.ones(len(judged.rank), np.int64))
        depth = judged.depth(self.cutoffs)
        last = max(depth.max(initial=0), (t + n).max(initial=0))
        harmonic = np.concatenate(([0.0], np.cumsum(1 / np.arange(1, last + 1))))
        running = np.concatenate(([0.0], np.cumsum(harmonic)))
        columns = []
        for at in range(len(self.cutoffs)):
            deepest = depth[:, at].take(judged.query)
            inside = np.clip(deepest - t, 0, n)
            added = (inside * harmonic.take(deepest) - (running.take(t + inside) - running.take(t))) / n
            columns.append(np.bincount(judged.query, added, judged.n_queries))
        return np.minimum(divide(np.array(columns, dtype=float).T, depth), 1.0)  # rounding must not pass the bound

    def _per(self, judged: Judged) -> Floats | Ints:
        relevant = judged.n_relevant[:, None]
        if self.per == "relevant":
            return relevant
        if self.per == "listed":
            return np.minimum(relevant, judged.listed(self.cutoffs))
        if self.per == "hits":
            return judged.total(1, self.cutoffs)
        return (judged.capped if self.per == "capped" else judged.depth)(self.cutoffs)

    def expression(self, judged: Judged) -> str:
        k, relevant, listed = self.cutoffs[0], judged.n_relevant[0], judged.listed(self.cutoffs)[0, 0]
        ranks = judged.rank[judged.rank <= k].tolist()
        if self.per == "places":
            depth = int(judged.depth(self.cutoffs)[0, 0])
            places = range(ranks[0], depth + 1) if ranks else range(0)
            shares = (f"{np.searchsorted(ranks, place, side='right')}/{place}" for place in places)
            return quotient(bracketed(added(shares, len(places))), str(depth))
        precisions = bracketed(added((f"{nth}/{rank}" for nth, rank in enumerate(ranks, 1)), len(ranks)))
        per = {
            "relevant": str(relevant),
            "capped": lesser(k, relevant),
            "hits": str(len(ranks)),
            "k": str(judged.depth(self.cutoffs)[0, 0]),
            "listed": lesser(relevant, listed),
        }[self.per]
        return quotient(precisions, per)

    def define(self) -> Definition:
        k, most = ("L", "") if self.k is None else (str(self.k), f", at most {self.k}")
        if self.per == "places":
            return Definition(f"mean of the precision at every place of {self.top}", f"(P@1 + P@2 + ... + P@{k}) / {k}")
        per, divisor = {
            "relevant": ("the number of relevant items", "R"),
            "capped": (f"the number of relevant items{most}", f"min({k}, R)" if most else "R"),
            "hits": ("the number of hits", "h"),
            "k": (k if most else "the length of the list", k),
            "listed": ("the number of relevant items, at most the number of items listed", "min(R, L)"),
        }[self.per]
        return Definition(
            f"sum of the precision at the rank of each relevant item in {self.top}, divided by {per}",
            f"(1/l1 + 2/l2 + ... + h/lh) / {divisor}",
        )
