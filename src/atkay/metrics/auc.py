"""AUC: how often a wanted item stands above an unwanted one, where all candidates are listed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from atkay.core.types import Floats
from atkay.judged import ties as expected
from atkay.judged.judged import sums
from atkay.metrics.metric import Definition, Ratio, divide
from atkay.words import word

if TYPE_CHECKING:
    from atkay.judged.judged import Judged


def unlisted_field() -> Any:
    """The field that says what becomes of relevant items that the list does not have."""
    return word(
        last="a relevant item that is not listed stands below everything",
        skip="a relevant item that is not listed does not count",
    )


def or_nan(numerator: Floats, denominator: Floats) -> Floats:
    """The quotient, and NaN where there is nothing to divide by."""
    with np.errstate(invalid="ignore"):
        return numerator / denominator


@dataclass(frozen=True)
class AUC(Ratio):
    """How often a wanted item stands above an unwanted one.

    The pairs of a relevant and an irrelevant item in the right order, divided by all such pairs. Irrelevant are the
    listed items that are no hits, N of them: the list is to hold all candidates, and there is no cutoff. A hit at
    ``rank`` that is the list's ``nth`` has rank - nth irrelevant items above it and the others below:
    ``Σ (N - (rank - nth)) / (R N)``. Where one item is relevant, among n candidates, this is (n - rank) / (n - 1).

    Conventions
    -----------
    unlisted
        ``last`` puts relevant items that are not listed below all that are, so that leaving them out never pays;
        ``skip`` divides by h N, the pairs of listed items.
    no_pair
        A user without a pair (nothing relevant, an empty list, or nothing irrelevant in it): ``skip`` gives no value;
        ``zero`` scores 0 (torchmetrics).
    average
        ``users`` is the mean of the users' values; ``pooled`` counts every pair alike. Pairs are always of one user;
        see :class:`GroupAUC` for other weights.

    Under the protocol's ``ties=expected`` a pair of equal scores counts as half in the right order.

    References
    ----------
    Hanley and McNeil, The meaning and use of the area under a receiver operating characteristic (ROC) curve, 1982.
    Krichene and Rendle, On sampled metrics for item recommendation, 2020.

    Examples
    --------
    Hits at ranks 1 and 3, irrelevant items at 2 and 4: of four pairs one is in the wrong order.

    >>> atkay.evaluate({"ann": ["a", "x", "b", "y"]}, {"ann": ["a", "b"]}, "auc")["auc"]
    0.75
    """

    name = "auc"
    aliases: ClassVar[tuple[str, ...]] = ("roc_auc", "area_under_curve")
    cuts = False
    averages = True
    partial = True

    unlisted: str = unlisted_field()
    no_pair: str = word(
        skip="a user without a pair has no value",
        zero="a user without a pair scores 0",
    )

    def values(self, judged: Judged) -> Floats:
        """AUC per query, NaN where there is no pair."""
        return self._of_pairs(*AUC.parts(self, judged))

    def _of_pairs(self, right: Floats, pairs: Floats) -> Floats:
        return or_nan(right, pairs) if self.no_pair == "skip" else divide(right, pairs)

    def parts(self, judged: Judged) -> tuple[Floats, Floats]:
        """The pairs in the right order, and all pairs."""
        hits = judged.total(1, self.cutoffs)
        irrelevant = judged.n_listed[:, None] - hits
        above = expected.misses_above(judged) if judged.averaged else (judged.rank - judged.upto).astype(float)
        wrong = sums(judged.query, judged.rank, above, self.cutoffs, judged.n_queries)
        relevant = judged.n_relevant[:, None] if self.unlisted == "last" else hits
        return hits * irrelevant - wrong, relevant * irrelevant

    def define(self) -> Definition:
        """The share in words."""
        left_out = {"last": "items not listed standing below the list", "skip": "listed items only"}[self.unlisted]
        without = {"skip": "", "zero": ", 0 where there is none"}[self.no_pair]
        return Definition(
            f"pairs of a relevant and an irrelevant item in the right order, divided by all such pairs, "
            f"{left_out}{without}",
            f"Σ (N - (rank - nth)) / ({'R' if self.unlisted == 'last' else 'h'} N), N = L - h",
        )


@dataclass(frozen=True)
class GroupAUC(AUC):
    """The mean of the users' AUC, users with more impressions counting more.

    ``Σ w_u AUC_u / Σ w_u`` over the users that have an AUC (see :class:`AUC`), with the weight w_u that ``weight``
    names. In click prediction a user's list is what was shown, and the relevant items are the clicks.

    Conventions
    -----------
    weight
        ``listed`` weighs by impressions, the listed items (Zhu et al. 2017, Zhou et al. 2018: GAUC); ``relevant`` by
        clicks, the relevant items (named there, too); ``pairs`` by the pairs, which is ``auc(average=pooled)``.
    unlisted, no_pair
        As in :class:`AUC`; a user without a value has no weight.
    average
        ``pooled`` is the weighted mean; ``users`` drops the weights and is :class:`AUC` itself.

    References
    ----------
    Zhu et al., Optimized cost per click in Taobao display advertising, 2017.
    Zhou et al., Deep interest network for click-through rate prediction, 2018.

    Examples
    --------
    Ann's two impressions have AUC 1, Bob's three 1/2: (2 * 1 + 3 * 1/2) / 5.

    >>> recs, truth = {"ann": ["a", "x"], "bob": ["x", "a", "y"]}, {"ann": ["a"], "bob": ["a"]}
    >>> result = atkay.evaluate(recs, truth, ["group_auc", "auc"])
    >>> result["group_auc"], result["auc"]
    (0.7, 0.75)
    """

    name = "group_auc"
    aliases: ClassVar[tuple[str, ...]] = ("gauc", "grouped_auc")

    weight: str = word(listed="the listed items", relevant="the relevant items", pairs="the pairs")
    average: str = word(
        pooled="the sum of the users' weighted values over the sum of their weights",
        users="the mean of the users' values",
    )

    def parts(self, judged: Judged) -> tuple[Floats, Floats]:
        """AUC times weight, and the weight; 0 where there is no pair."""
        right, pairs = super().parts(judged)
        if self.weight == "pairs":
            return right, pairs
        counted = judged.n_listed if self.weight == "listed" else judged.n_relevant
        weight = np.where((pairs > 0) | (self.no_pair == "zero"), counted[:, None], 0.0)
        return right * weight / np.maximum(pairs, 1), weight

    def define(self) -> Definition:
        """The weighted mean in words."""
        words, formula = super().define()
        if self.average == "users":
            return Definition(words, formula)
        weight = {"listed": "number of listed items", "relevant": "number of relevant items", "pairs": "pairs"}
        return Definition(f"{words}, users weighing by their {weight[self.weight]}", f"Σ w AUC / Σ w, AUC = {formula}")
