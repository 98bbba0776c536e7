"""Aggregates: how the users' values become one number; how one is written, and what it says in words."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from functools import cache

from atkay.errors import ProtocolError, shown, unknown_value


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
        "the value that lower ones count as, above 0 and below 1",
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
    def logarithmic(self) -> bool:
        """Whether it is the mean of logarithms, and back from there."""
        return self.name == "geometric"

    def words(self, users: str = "users") -> str:
        """What it says in words."""
        return AGGREGATES[self.name].words.format(n=self.number, users=users)


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan


MEAN = Aggregate()
