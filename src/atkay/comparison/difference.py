"""Difference: two runs in one metric, with tests and a verdict."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from atkay.aggregates import Aggregate
from atkay.comparison.relative import inverse, share
from atkay.comparison.verdict import LEVEL, OPPOSITE, shown_p, size, verdict, way
from atkay.text.help import Visible


@dataclass(frozen=True)
class Difference(Visible):
    """The difference of two runs in one metric, ``run`` - ``against``, with its interval and tests.

    ``low`` and ``high`` are the 95 % confidence interval, ``deviation`` is the SD of the users' differences, and
    ``effect`` the difference divided by it (d_z). ``wins``, ``ties`` and ``losses`` count the users for whom ``run``
    is better, equal and worse (higher, equal and lower for a metric without direction); None for pooled metrics and
    metrics of the whole run. ``users`` are paired; ``left_out`` are in only one of the two runs, ``undefined`` have no
    value in one of them. Where ``aggregate`` is a geometric mean, ``difference`` is the natural logarithm of the ratio
    of the two means, and prints as that ratio. ``p`` and ``corrected`` hold a p-value per test; ``lowest`` names
    the tests whose p-value is the smallest that the permutations allow; ``opposite`` the tests of something other
    than the mean that find the opposite. ``finding`` is the conclusion of the first test that has a p-value.
    ``base`` is the mean of ``against`` over the same users, ``relative`` the difference as a share of it, and
    ``relative_low`` and ``relative_high`` the 95 % confidence interval of this share. ``correction`` is the correction
    for multiple testing.
    """

    _internal = "turned"

    metric: str
    run: str
    against: str
    better: str
    difference: float = math.nan
    low: float = math.nan
    high: float = math.nan
    deviation: float = math.nan
    effect: float = math.nan
    base: float = math.nan
    relative_low: float = math.nan
    relative_high: float = math.nan
    wins: int | None = None
    ties: int | None = None
    losses: int | None = None
    users: int = 0
    left_out: int = 0
    undefined: int = 0
    p: Mapping[str, float] = field(default_factory=dict)
    corrected: Mapping[str, float] = field(default_factory=dict)
    finding: str = "not tested"
    slice: str | None = None
    segment: str | None = None
    lowest: tuple[str, ...] = ()
    opposite: tuple[str, ...] = ()
    aggregate: str = "mean"
    correction: str = field(default="none", compare=False, repr=False)

    @property
    def relative(self) -> float:
        """The difference as a share of the other run's mean: 0.14 is 14 % more; NaN where that is 0 or negative."""
        return share(self, self.difference)

    @property
    def decided_by(self) -> str | None:
        """The deciding test: the first that has a p-value."""
        return next((name for name, p in self.p.items() if not math.isnan(p)), None)

    @property
    def significant(self) -> bool:
        """Whether the corrected p-value of the deciding test is below the level."""
        return self.corrected.get(self.decided_by or "", 1.0) < LEVEL and not self.contradicted

    @property
    def contradicted(self) -> bool:
        """Whether the deciding test is significant in the direction opposite to the mean."""
        return self.decided_by in self.opposite and self.corrected[self.decided_by] < LEVEL

    @property
    def verdict(self) -> str:
        """The conclusion in one line."""
        return verdict(self)

    @property
    def turned(self) -> Difference:
        """The same pair the other way round, ``against`` - ``run``."""
        logarithmic = Aggregate.of(self.aggregate).logarithmic
        return replace(
            self,
            run=self.against,
            against=self.run,
            difference=0.0 - self.difference,
            low=0.0 - self.high,
            high=0.0 - self.low,
            effect=0.0 - self.effect,
            base=self.base * math.exp(self.difference) if logarithmic else self.base + self.difference,
            relative_low=inverse(self.relative_high),
            relative_high=inverse(self.relative_low),
            wins=self.losses,
            losses=self.wins,
        )

    def standing(self, run: str) -> str:
        """How ``run`` compares with the other run: "better", "worse", "higher", "lower", or empty if not significant.

        Every mark, colour and count of significant differences derives from this word.
        """
        word = way(self.better, self.difference) if self.significant else ""
        return word if run == self.run else OPPOSITE[word]


RELATIVE = ("relative", "relative_low", "relative_high")
NUMBERS = ("difference", "low", "high", "deviation", "effect", "base", *RELATIVE[1:])
COUNTS = ("wins", "ties", "losses", "users", "left_out", "undefined")


def p_value(p: float) -> str:
    """A p-value as it is printed."""
    if math.isnan(p):
        return "–"
    return "<0.0001" if p < 0.0001 else shown_p(p, 4)


def effect(difference: Difference) -> str:
    """The effect size, with a word where the difference is significant."""
    if math.isnan(difference.effect):
        return "–"
    return f"{difference.effect:.2f}" + (f" ({size(difference.effect)})" if difference.significant else "")


def counts(difference: Difference) -> str:
    """Wins, ties and losses; higher, equal and lower for a metric without direction."""
    if difference.wins is None:
        return "–"
    if difference.better == "neither":
        return f"{difference.wins:,} higher/{difference.ties:,} equal/{difference.losses:,} lower"
    return f"{difference.wins:,}/{difference.ties:,}/{difference.losses:,}"
