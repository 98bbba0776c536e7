"""Aggregates: how the users' values become one number; how one is written, and what it says in words."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING

from atkay.errors import ProtocolError, shown, unknown_value

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True)
class AggregateKind:
    """A kind of aggregate; in ``words``, ``{n}`` is its number and ``{users}`` whose values it is of."""

    words: str
    takes: str = ""
    """The name of its number."""
    usual: float | None = None
    """What that is where it is not given."""
    meaning: str = ""
    ends: tuple[float, float] = (0.0, 1.0)
    """Between which the number lies."""


AGGREGATES = {
    "mean": AggregateKind("mean over {users}"),
    "geometric": AggregateKind(
        "geometric mean over {users} (values below {n} count as {n})",
        "epsilon",
        1e-5,
        "a number between 0 and 1, which lower values count as",
    ),
    "median": AggregateKind("median over {users}"),
    "quantile": AggregateKind(
        "{n} quantile over {users}", "q", meaning="a number between 0 and 1, the share of users below it"
    ),
    "minimum": AggregateKind("minimum over {users}"),
    "maximum": AggregateKind("maximum over {users}"),
    "worst": AggregateKind(
        "mean of the worst {percent} % of {users}", "share", 0.1, "a number between 0 and 1, a share of the users"
    ),
}


@dataclass(frozen=True)
class Aggregate:
    """How the users' values become one number.

    >>> str(Aggregate.of("geometric")), str(Aggregate.of("geometric(0.001)"))
    ('geometric', 'geometric(epsilon=0.001)')
    """

    name: str = "mean"
    number: float | None = None
    sign: int = 1
    """-1 where the worst values are the highest ones."""

    @classmethod
    def of(cls, spec: str) -> Aggregate:
        """The aggregate that is written so, with its number by name or alone: "geometric(epsilon=0.001)"."""
        if not isinstance(spec, str):
            raise ProtocolError(f"protocol: {unknown_value(spec, 'aggregate', AGGREGATES)}")
        return cls._of(spec)

    @classmethod
    @cache
    def _of(cls, spec: str) -> Aggregate:
        match = re.fullmatch(r"\s*(\w+)\s*(?:\((?:\s*(\w+)\s*=)?\s*([^()=]*?)\s*\))?\s*", spec, re.ASCII)
        name = match[1].lower() if match else ""
        if match is None or name not in AGGREGATES:
            raise ProtocolError(f"protocol: {unknown_value(match[1] if match else spec, 'aggregate', AGGREGATES)}")
        kind = AGGREGATES[name]
        if match[3] is None:
            number = kind.usual
        elif not kind.takes:
            raise ProtocolError(f"protocol: aggregate '{name}' takes no number, got {shown(spec)}. Write '{name}'.")
        else:
            number = _number(match[3]) if match[2] in (None, kind.takes) else math.nan
        low, high = kind.ends
        if kind.takes and (number is None or not low < number < high):
            example = kind.usual or 0.25
            raise ProtocolError(
                f"protocol: {kind.takes} of '{name}' must be {kind.meaning}, got {shown(spec)}. Write "
                f"'{name}({kind.takes}={example:g})', for example."
            )
        return cls(name, number)

    def __str__(self) -> str:
        kind = AGGREGATES[self.name]
        return self.name if self.number == kind.usual else f"{self.name}({kind.takes}={self.number!r})"

    @property
    def title(self) -> str:
        """Its name in the head of a table.

        >>> Aggregate.of("geometric").title, Aggregate.of("worst").title
        ('geometric mean', 'mean of the worst 10 %')
        """
        return self.words().partition(" over ")[0].removesuffix(" of users")

    @property
    def logarithmic(self) -> bool:
        """Whether it is the mean of logarithms, and back from there."""
        return self.name == "geometric"

    @property
    def ordered(self) -> bool:
        """Whether it depends on the values in their order, and so needs each of them."""
        return self.quantile is not None or self.name == "worst"

    @property
    def quantile(self) -> float | None:
        """Which quantile it is; the lowest value is the 0 quantile."""
        return {"minimum": 0.0, "median": 0.5, "maximum": 1.0, "quantile": self.number}.get(self.name)

    @property
    def extreme(self) -> bool:
        """Whether it is one user's value, whose error nothing tells."""
        return self.quantile in (0.0, 1.0)

    @property
    def share(self) -> Fraction:
        """The share of the users who are the worst, as it was written: 0.1 is a tenth."""
        return Fraction(repr(self.number))

    @property
    def tail(self) -> float:
        """The share of the users on its smaller side, or among the worst."""
        q = self.quantile
        return float(self.share) if q is None else min(q, 1 - q)

    def towards(self, better: str) -> Aggregate:
        """The same for a metric of which these values are better."""
        return replace(self, sign=-1) if self.name == "worst" and better == "lower" else self

    def words(self, users: str = "users") -> str:
        """What it says in words."""
        return AGGREGATES[self.name].words.format(n=self.number, percent=f"{100 * (self.number or 0):g}", users=users)


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan


MEAN = Aggregate()


def title_of(aggregates: Iterable[Aggregate]) -> str:
    """What to call the numbers of a table."""
    titles = {each.title for each in aggregates}
    return titles.pop() if len(titles) == 1 else "value"
