"""Normalised expected reciprocal rank: gain per item for a user who stops when satisfied, or out of patience."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from atkay.metrics.gains import highest_grade
from atkay.metrics.metric import Definition, Floats, Judged, Metric, divide, word
from atkay.metrics.rbp import persistence
from atkay.metrics.user_models import (
    Patience,
    before,
    falling,
    geometric,
    goal,
    inverse_squares,
    share_of_highest,
    steady,
)
from atkay.metrics.worked import printed


@dataclass(frozen=True)
class NERR(Metric):
    """The gain per item read by a user whom each item satisfies by its grade, and whose patience ends.

    ``Σ b_r R_r Π_{i<r} (1 - R_i) / Σ b_r Π_{i<r} (1 - R_i)`` over the ranks r, with ``R = min(grade / highest, 1)`` the
    chance that an item satisfies, and b the patience: the chance that a user still unsatisfied reads rank r.

    Conventions
    -----------
    patience
        ``flat`` 1 down to the cutoff (NERR8 of ir-measures); ``rank`` 1 / r (NERR9); ``geometric`` p^(r-1) (NERR10);
        ``insq`` (2t / (r - 1 + 2t))², as in :class:`INSQ` (NERR11).
    p
        For ``patience=geometric`` alone: how likely the user is to go on, 0.9 by default.
    t
        For ``patience=insq`` alone: how much the user hopes to find, in items of the highest grade, 1 by default.
    highest
        The highest grade of the scale, 1 by default; a grade satisfies with the chance of its share of it.

    Without a cutoff, ``geometric`` and ``insq`` read the list as if it went on for ever with nothing of use in it,
    and ``flat`` and ``rank`` end with the list, so that a shorter list can score higher. No hit scores 0.

    References
    ----------
    Azzopardi, Mackenzie and Moffat, ERR is not C/W/L: exploring the relationship between expected reciprocal rank and
    other metrics, 2021; their equations 8 to 11.

    Examples
    --------
    The grades are 1 and 2 of 4 at ranks 1 and 3, so that R is 1/4 and 1/2, and the three ranks are read with chance 1,
    3/4 and 3/4: (1/4 + 3/4 * 1/2) / (1 + 3/4 + 3/4).

    >>> result = atkay.evaluate({"ann": ["a", "x", "b"]}, {"ann": {"a": 1, "b": 2}}, "nerr(highest=4)@3")
    >>> result["nerr(highest=4)@3"]
    0.25
    """

    name = "nerr"
    aliases = ("normalised_err", "normalized_err")
    monotone = True
    by_grade = True

    patience: Literal["flat", "rank", "geometric", "insq"] = word(
        flat="1", rank="1 / rank", geometric="p^(rank - 1)", insq="(2t / (rank - 1 + 2t))^2"
    )
    p: float = persistence(0.9)
    t: float = goal()
    highest: float = highest_grade(1.0)

    def values(self, judged: Judged) -> Floats:
        patience = self._patience()
        chance = share_of_highest(judged.grade, self.highest)
        satisfied = chance * before(np.multiply, 1 - chance, judged.nth)
        last = patience.last(judged, self.cutoffs)
        # Whoever is satisfied at a rank does not read the ranks below it.
        reads, upto = patience.reads(last), patience.reads(judged.rank.astype(float))
        reads = reads - (judged.total(satisfied, self.cutoffs) * reads - judged.total(satisfied * upto, self.cutoffs))
        return np.minimum(divide(judged.total(patience.chance(judged.rank) * satisfied, self.cutoffs), reads), 1.0)

    def _patience(self) -> Patience:
        if self.patience == "geometric":
            return geometric(self.p)
        if self.patience == "insq":
            return inverse_squares(self.t)
        return steady() if self.patience == "flat" else falling(lambda rank: 1 / rank)

    def define(self) -> Definition:
        p, twice, highest = printed(self.p), printed(2 * self.t), printed(self.highest)
        patience = {
            "flat": "1",
            "rank": "1 / rank",
            "geometric": f"{p}^(rank - 1)",
            "insq": f"({twice} / (rank - 1 + {twice}))^2",
        }[self.patience]
        return Definition(
            f"expected gain per item read in {self.top} by a user who reads a rank with chance {patience} and stops at "
            f"an item with chance min(grade / {highest}, 1)",
            f"Σ b R Π (1 - R_i) / Σ b Π (1 - R_i), b = {patience}, R = min(grade / {highest}, 1)",
        )
