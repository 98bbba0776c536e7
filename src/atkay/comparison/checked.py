"""Checked: one number of a gate, and whether it is worse than the baseline."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from atkay.aggregates import Aggregate
from atkay.comparison.difference import Difference
from atkay.comparison.looks import needed_users
from atkay.comparison.power import chance
from atkay.comparison.power import needed as needed_once
from atkay.comparison.verdict import LEVEL, estimate, p_in_words
from atkay.text.help import Visible

Outcome = Literal["worse", "not worse", "cannot tell"]

WANTED_POWER = 0.8
"""The power with which the users that are needed would tell."""


@dataclass(frozen=True)
class Checked(Visible):
    """One number of a gate: its difference from the baseline, and the outcome.

    ``outcome`` is "worse" if the loss is significant and its interval does not exclude a loss of ``min_effect``, "not
    worse" if the interval excludes such a loss, and else "cannot tell". Without ``min_effect`` every significant loss
    is "worse", and only an improvement that the interval confirms is "not worse".

    ``p`` is the p-value of a loss, one-sided and corrected for the ``numbers`` that the gate tests. ``power`` is the
    chance that these users show a true loss of ``min_effect`` at one look; ``more_users`` says how many more would
    tell. Both are NaN where ``min_effect`` is not given. ``difference`` is the :class:`Difference` of run and baseline.
    """

    difference: Difference
    min_effect: float
    p: float
    numbers: int
    anytime: bool = False
    """Whether the interval and the p-value hold at all looks together."""

    @property
    def metric(self) -> str:
        """The metric."""
        return self.difference.metric

    @property
    def segment(self) -> str | None:
        """The segment as ``slice=segment``; None where it is all users."""
        each = self.difference
        return None if each.slice is None else f"{each.slice}={'(none)' if each.segment is None else each.segment}"

    @property
    def name(self) -> str:
        """The metric, and the segment where there is one."""
        return self.metric if self.segment is None else f"{self.metric} [{self.segment}]"

    @property
    def gain(self) -> float:
        """The difference such that a loss is negative."""
        return -self.difference.difference if self._lower else self.difference.difference

    @property
    def worst(self) -> float:
        """The end of the interval with the largest loss."""
        each = self.difference
        if each.deviation == 0:  # every user differs by the same amount, most often by nothing
            return self.gain
        return -each.high if self._lower else each.low

    @property
    def _lower(self) -> bool:
        return self.difference.better == "lower"

    @property
    def outcome(self) -> Outcome:
        """The outcome: "worse", "not worse" or "cannot tell"."""
        least = 0.0 if math.isnan(self.min_effect) else self.min_effect
        if self.p < LEVEL and not (least and self.worst > -least):
            return "worse"
        excluded = self.worst > -least or (not least and self.difference.deviation == 0 and not self.gain)
        return "not worse" if excluded else "cannot tell"

    @property
    def _level(self) -> float:
        """The level of the two-sided test that is a one-sided one at 5 %, corrected."""
        return 2 * LEVEL / max(self.numbers, 1)

    @property
    def power(self) -> float:
        """The chance that these users show a true loss of ``min_effect``: that the outcome is "worse"."""
        each = self.difference
        if math.isnan(self.min_effect) or not each.deviation > 0 or self.anytime:
            return math.nan
        # As often as the interval misses a true loss on that side, it excludes it.
        return min(chance(self.min_effect / each.deviation, each.users, self._level), 1 - LEVEL / 2)

    @property
    def more_users(self) -> float:
        """How many more users would tell, with power 0.8.

        They would show a true loss of ``min_effect``, and exclude one where nothing has changed. Where there are as
        many already, the difference lies between 0 and a loss of ``min_effect``: it is then taken as it is.
        """
        deviation, users = self.difference.deviation, self.difference.users
        if math.isnan(self.min_effect) or not deviation > 0:
            return math.nan
        level = min(self._level, LEVEL)
        needed = needed_users if self.anytime else needed_once
        total = needed(self.min_effect / deviation, WANTED_POWER, level)
        if total <= users:
            total = needed(max(-self.gain, self.min_effect + self.gain) / deviation, WANTED_POWER, level)
        return max(math.ceil(total) - users, 1)

    @property
    def verdict(self) -> str:
        """One line: difference, interval, p-value and outcome."""
        return f"{self.estimate}: {self.outcome}{self.reason}"

    @property
    def estimate(self) -> str:
        """The difference with its interval and, for a loss, the p-value."""
        if math.isnan(self.difference.difference):
            return "undefined"
        one_sided = f"one-sided{', Holm' if self.numbers > 1 else ''}"
        p = "" if math.isnan(self.p) or self.gain >= 0 else f", {p_in_words(self.p)} ({one_sided})"
        return f"{estimate(self.difference)}{p}"

    @property
    def reason(self) -> str:
        """What else there is to say: the loss that is excluded, or how many more users would tell."""
        if self.outcome == "worse" or math.isnan(self.difference.difference):
            return ""
        if self.outcome == "cannot tell":
            more = self.more_users
            return "" if math.isnan(more) else f"; about {_rounded(more):,} more users would tell"
        if self.difference.deviation == 0 and not self.gain:
            return "; no user's value has changed"
        return "" if math.isnan(self.min_effect) else f"; {self.loss} is excluded"

    @property
    def loss(self) -> str:
        """``min_effect`` in words, as a loss."""
        if Aggregate.of(self.difference.aggregate).logarithmic:
            return f"a loss of {-100 * math.expm1(-self.min_effect):.3g} %"
        base = self.difference.base
        return f"a loss of {self.min_effect:.3g}" + (f" ({100 * self.min_effect / base:.3g} %)" if base > 0 else "")


def _rounded(users: float) -> int:
    """Two digits: the SD that the number rests on is itself an estimate."""
    unit = int(10 ** max(math.floor(math.log10(users)) - 1, 0))
    return math.ceil(users / unit) * unit
