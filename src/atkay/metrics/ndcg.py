"""Normalised discounted cumulative gain: DCG as a share of the best that was possible."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from atkay.core.kernels import sums, within
from atkay.judged.judged import kept
from atkay.metrics.dcg import DCG
from atkay.metrics.gains import best_first, best_sums, discount_of, distinct_gain, gains, ideal_gains
from atkay.metrics.metric import WHOLE, Definition, Floats, Judged, divide, word
from atkay.metrics.worked import bracketed, quotient

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True)
class NDCG(DCG):
    """How close the list comes to the ideal order, by graded relevance and with early ranks counting more.

    ``DCG / IDCG``, with DCG as in :class:`DCG` and IDCG the same sum for an ideal list.

    Conventions
    -----------
    gain, discount
        As in :class:`DCG`, tables and functions included. A logarithm's base cancels, so ``ln`` and ``log2`` give the
        same nDCG.
    ideal
        ``relevant`` puts the k best of all relevant items first (trec_eval, ranx, RePlay, RecBole, ...); ``full`` takes
        k items of grade 1 for every user (RecTools' default): where every gain is 1, a user with fewer than k relevant
        items cannot reach 1, and higher gains can exceed it; ``listed`` re-orders the list itself, so that what was
        missed does not count (scikit-learn, torchmetrics, LightGBM); ``uncut`` takes all relevant items, however many,
        so that a user with more than k of them cannot reach 1 (Haystack, LlamaIndex); ``possible`` takes the min(k, L)
        best, L being the length of the list, so that a list of one relevant item scores 1 (MLflow).

    No hit scores 0, under ``ideal=listed`` as well, where it would be 0 / 0.

    References
    ----------
    Järvelin and Kekäläinen, Cumulated gain-based evaluation of IR techniques, 2002.
    Burges et al., Learning to rank using gradient descent, 2005 (exp2).

    Examples
    --------
    The grades in list order are 1 and 3. DCG is 1 / log2(2) + 7 / log2(3) = 5.4165; ideal is 7 / log2(2) + 1 / log2(3)
    = 7.6309.

    >>> result = atkay.evaluate({"ann": ["b", "a"]}, {"ann": {"a": 3, "b": 1}}, ["ndcg@2", "ndcg(gain=linear)@2"])
    >>> round(result["ndcg@2"], 4), round(result["ndcg(gain=linear)@2"], 4)
    (0.7098, 0.7967)
    """

    name = "ndcg"
    aliases = ("normalized_dcg", "normalised_dcg", "normalized_discounted_cumulative_gain")

    ideal: Literal["relevant", "full", "listed", "uncut", "possible"] = word(
        relevant="all relevant items, the best k",
        full="k items of grade 1",
        listed="the list itself, re-ordered",
        uncut="all relevant items, not cut at k",
        possible="all relevant items, the best k, or as many as are listed where those are fewer",
    )

    @property
    def bounded(self) -> bool:  # type: ignore[override]  # a word decides
        """Grades above 1 can beat an ideal of grade 1."""
        return self.ideal != "full"

    @property
    def reach(self) -> int:
        """A list in its best order begins with what stands below the cutoff."""
        return WHOLE if self.ideal == "listed" else super().reach

    def values(self, judged: Judged) -> Floats:
        return divide(*self.sides(judged))

    def sides(self, judged: Judged) -> tuple[Floats, Floats]:
        """DCG and IDCG."""
        return super().values(judged), self._ideal(judged)

    def _ideal(self, judged: Judged) -> Floats:
        gain_of = functools.partial(distinct_gain, self.gain, threshold=judged.threshold)
        discount, cutoffs = discount_of(self.discount), self.cutoffs
        if self.ideal == "full":
            depth = judged.depth(cutoffs)
            places = np.arange(1, depth.max(initial=0) + 1)
            one = gains(self.gain, self._one(judged), judged.threshold)
            return np.concatenate(([0.0], np.cumsum(one / discount(places))))[depth]
        if self.ideal == "listed":

            def work(cutoffs: Sequence[int]) -> Floats:
                # The order is by query first, so place n of the re-ordered list belongs to the same query as hit n.
                worth = best_first(self.gain, judged.best_hits, lambda: judged.query, judged.threshold)
                return sums(judged.query, judged.nth, worth / discount(judged.nth), cutoffs, judged.n_queries)

            return kept(judged.of_hits, ("listed", self.discount, gain_of(judged.grade)), cutoffs, work)
        if self.ideal == "possible":
            query = np.repeat(np.arange(judged.n_queries), judged.n_relevant)
            place = within(query)
            fits = place <= judged.n_listed.take(query)
            worth = ideal_gains(self.gain, judged) / discount(place)
            return sums(query[fits], place[fits], worth[fits], cutoffs, judged.n_queries)
        return kept(
            judged.of_truth,
            (self.discount, gain_of(judged.grades)),
            cutoffs if self.ideal == "relevant" else (WHOLE,) * len(cutoffs),
            lambda cutoffs: best_sums(judged, self.gain, discount, cutoffs),
        )

    def _one(self, judged: Judged) -> Floats:
        """The grade of ``ideal=full``: 1, or the lowest relevant grade where a gain counts from there."""
        return np.array([max(1.0, judged.threshold) if self.gain == "exp2_above" else 1.0])

    def expression(self, judged: Judged) -> str:
        if self.ideal == "full":
            ideal = np.repeat(self._one(judged), judged.depth(self.cutoffs)[0, 0])
        else:
            grades = judged.grade if self.ideal == "listed" else judged.grades
            ideal = grades[np.argsort(-gains(self.gain, grades, judged.threshold), kind="stable")]
            length = judged.listed(self.cutoffs)[0, 0] if self.ideal == "possible" else self.cutoffs[0]
            ideal = ideal if self.ideal == "uncut" else ideal[:length]
        best = self._sum(ideal, np.arange(1, len(ideal) + 1), judged.threshold)
        return quotient(bracketed(super().expression(judged)), bracketed(best))

    def define(self) -> Definition:
        words, formula = super().define()
        cut = "" if self.k is None else f", cut at {self.k}"
        shorter = "the length of the list" if self.k is None else f"{self.k} or at the length of the list"
        ideal = {
            "relevant": f"all relevant items in the best order{cut}",
            "full": "as many items of grade 1 as the list is long" if self.k is None else f"{self.k} items of grade 1",
            "listed": f"the same list in its best order{cut}",
            "uncut": "all relevant items in the best order, not cut",
            "possible": f"all relevant items in the best order, cut at {shorter}",
        }[self.ideal]
        return Definition(f"{words}, divided by the same sum for {ideal}", f"DCG / IDCG, DCG = {formula}")
