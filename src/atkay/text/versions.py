"""Ranges of versions, as package tools write them: ``<3.4``, ``>=1.2,<2``, ``==9.0.8``."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from atkay.errors import SpecError, shown

Point = tuple[tuple[int, ...], int]
"""A version, and whether the point lies just below it, on it, or just above it: -1, 0 or 1."""

COMPARISONS: dict[str, Callable[[Point, Point], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    "==": operator.eq,
    ">=": operator.ge,
    ">": operator.gt,
}
_CLAUSE = re.compile(r"\s*([<>=]=?)\s*v?([0-9]+(?:\.[0-9]+)*)\s*")


@dataclass(frozen=True)
class Versions:
    """The versions that satisfy every clause of a range."""

    text: str

    @cached_property
    def clauses(self) -> list[tuple[str, Point]]:
        """Each comparison with its version."""
        matches = [_CLAUSE.fullmatch(clause) for clause in self.text.split(",")]
        if any(match is None or match[1] not in COMPARISONS for match in matches):
            raise SpecError(f"cannot read the versions {shown(self.text)}; write '<3.4', '>=1.2,<2' or '==1.2.1'.")
        return [(match[1], (_numbers(match[2]), 0)) for match in matches if match]

    @property
    def points(self) -> list[Point]:
        """A point on every side of every version that the range names."""
        return [(version, side) for _, (version, _) in self.clauses for side in (-1, 0, 1)]

    def __contains__(self, point: Point) -> bool:
        return all(COMPARISONS[sign](point, version) for sign, version in self.clauses)


def _numbers(version: str) -> tuple[int, ...]:
    """A version as numbers; 1.2 and 1.2.0 are the same."""
    numbers = [int(part) for part in version.split(".")]
    while numbers and numbers[-1] == 0:
        numbers.pop()
    return tuple(numbers)
