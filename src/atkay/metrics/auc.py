"""AUC: how often a relevant item ranks above an irrelevant one, if all candidates are listed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from atkay.core.kernels import sums
from atkay.judged import ties as expected
from atkay.metrics.metric import Definition, Floats, Judged, Ratio, divide, word


def unlisted_field() -> Any:
    """The field that says what becomes of relevant items that the list does not have."""
    return word(
        last="an unlisted relevant item ranks below all listed ones",
        skip="an unlisted relevant item does not count",
    )


@dataclass(frozen=True)
class AUC(Ratio):
    """How often a relevant item ranks above an irrelevant one.

    The pairs of a relevant and an irrelevant item in the right order, divided by all such pairs. The N irrelevant items
    are the listed items that are not hits: the list must hold all candidates, without a cutoff. A hit at ``rank`` that
    is the list's ``nth`` has rank - nth irrelevant items above it and the others below: ``Σ (N - (rank - nth)) / (R
    N)``. Where one item is relevant, among n candidates, this is (n - rank) / (n - 1).

    Conventions
    -----------
    unlisted
        ``last`` puts relevant items that are not listed below all that are, so that leaving them out never pays;
        ``skip`` divides by h N, the pairs of listed items.
    no_pair
        A user without a pair (nothing relevant, an empty list, or nothing irrelevant in it): ``skip`` gives no value;
        ``zero`` scores 0 (torchmetrics).
    average
        ``users`` is the mean of the users' values; ``pooled`` counts every pair equally. Pairs are always of one user;
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
    aliases = ("roc_auc", "area_under_curve")
    cuts = False
    partial = True
    averages = True
    monotone = True

    unlisted: Literal["last", "skip"] = unlisted_field()
    no_pair: Literal["skip", "zero"] = word(
        skip="a user without a pair has no value",
        zero="a user without a pair scores 0",
    )

    def values(self, judged: Judged) -> Floats:
        return self._of_pairs(*AUC.ratio(self, judged))

    def _of_pairs(self, right: Floats, pairs: Floats) -> Floats:
        return divide(right, pairs, np.nan if self.no_pair == "skip" else 0.0)

    def ratio(self, judged: Judged) -> tuple[Floats, Floats]:
        """The pairs in the right order, and all pairs."""
        hits = judged.total(1, self.cutoffs)
        irrelevant = judged.n_listed[:, None] - hits
        above = expected.misses_above(judged) if judged.averaged else (judged.rank - judged.upto).astype(float)
        wrong = sums(judged.query, judged.rank, above, self.cutoffs, judged.n_queries)
        relevant = judged.n_relevant[:, None] if self.unlisted == "last" else hits
        return hits * irrelevant - wrong, relevant * irrelevant

    def define(self) -> Definition:
        left_out = {"last": "items not listed standing below the list", "skip": "listed items only"}[self.unlisted]
        without = {"skip": "", "zero": ", 0 where there is none"}[self.no_pair]
        return Definition(
            f"pairs of a relevant and an irrelevant item in the right order, divided by all such pairs, "
            f"{left_out}{without}",
            f"Σ (N - (rank - nth)) / ({'R' if self.unlisted == 'last' else 'h'} N), N = L - h",
        )
