"""Grades: which grades the truth has, and whether they look like star ratings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from atkay.core.lists import in_threads, ranges
from atkay.core.schema import count, listed, number

if TYPE_CHECKING:
    from atkay.core.types import Floats, Ints

MOST_STARS = 10
LIKED = {4.5: 4, 5: 4, 10: 8}
"""The highest grades of the usual scales, and from where on a rating is usually taken for a liking."""
POOR_SHARE = 0.4
"""Ratings up to this share of the scale say that an item was not liked."""


class Poor(NamedTuple):
    """Star ratings that say that an item was not liked: how many of all, which, and where liking starts."""

    rated: int
    of: int
    values: tuple[float, ...]
    liked: int


class Grades(NamedTuple):
    """The lowest and the highest grade, and whether there are others than 0 and 1.

    ``stars`` counts the grades 0, 0.5, 1, ..., 10, where all are such and none is 0.
    """

    low: float
    high: float
    graded: bool
    stars: tuple[int, ...] = ()

    @classmethod
    def of(cls, grade: Floats | None) -> Grades | None:
        """What a column of grades has; None of no grades."""
        if grade is None or not len(grade):
            return None
        low, high = float(grade.min()), float(grade.max())
        graded = not {low, high} <= {0.0, 1.0} or bool(low < high and ((grade > 0) & (grade < 1)).any())
        return cls(low, high, graded, _stars(grade) if low >= 0.5 and high <= MOST_STARS else ())

    @classmethod
    def of_record(cls, record: Any) -> Grades:
        """The same, out of JSON, which has lists alone."""
        low, high, graded, stars = record
        read = cls(number(low), number(high), bool(graded), listed(count)([*stars]))
        if len(read.stars) not in (0, 2 * MOST_STARS + 1):
            raise ValueError(f"must have a count for each half star, got {len(read.stars)}")
        return read

    def merge(self, other: Grades | None) -> Grades:
        """What both parts of the truth have."""
        if other is None:
            return self
        return Grades(
            min(self.low, other.low),
            max(self.high, other.high),
            self.graded or other.graded,
            tuple(one + more for one, more in zip(self.stars, other.stars, strict=True))
            if self.stars and other.stars
            else (),
        )

    def poor(self) -> Poor | None:
        """The poor ratings, where the grades look like stars: up to 5 or 10, three values or halves, and none is 0.

        Truth without poor ratings has been chosen already.
        """
        there = [at for at, count in enumerate(self.stars) if count]
        halves = any(at % 2 for at in there)
        if self.high not in LIKED or not (halves or len(there) > 2):
            return None
        scale = 5 if self.high <= 5 else MOST_STARS
        poor = [at for at in there if at / 2 <= POOR_SHARE * scale]
        if not poor:
            return None
        rated = sum(self.stars[at] for at in poor)
        return Poor(rated, sum(self.stars), tuple(at / 2 for at in poor), LIKED[self.high])


def _stars(grade: Floats) -> tuple[int, ...]:
    counts = in_threads(lambda block: _halves(grade[slice(*block)]), ranges(len(grade)))
    counted = [each for each in counts if each is not None]
    return tuple(np.sum(counted, axis=0).tolist()) if len(counted) == len(counts) else ()


def _halves(grade: Floats) -> Ints | None:
    twice = grade * 2
    halves = twice.astype(np.uint8)
    return np.bincount(halves, minlength=2 * MOST_STARS + 1) if (halves == twice).all() else None
