"""Raters: one grade of each pair of user and item where several people graded it, and pairs that nobody judged."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from atkay.core.lists import Lists, mask
from atkay.core.match import repeated

if TYPE_CHECKING:
    from atkay.core.types import Array, Bools, Floats, Ints
    from atkay.protocol import Protocol


def unjudged_rows(grade: Floats | None, protocol: Protocol) -> Bools | None:
    """The rows of the truth whose grade says that nobody judged the item; None where there are none."""
    if protocol.negative != "unjudged" or grade is None:
        return None
    below = grade < 0
    return below if below.any() else None


def is_relevant(grade: Floats, least: float | None) -> Bools:
    """Which grades are those of relevant items: from ``least`` on, or above 0 where it is None."""
    return grade > 0 if least is None else grade >= least


def one_grade_each(truth: Lists, grade: Floats | None, raters: str) -> tuple[Lists, Floats | None]:
    """Each pair once, at the place of its first row, with its first grade or what ``raters`` makes of all its grades.

    Neither depends on the order of the rows but for the first grade.
    """
    once = ~mask(repeated(truth), len(truth))
    kept = truth.only(once)
    if grade is None:
        return kept, None
    if raters == "one":
        return kept, grade[once]
    order = np.lexsort((grade, truth.item, truth.owner()))
    pair = _numbered(truth.owner()[order], truth.item[order])
    out = np.empty(len(kept))
    out[np.lexsort((kept.item, kept.owner()))] = _settled(grade[order], pair, raters)
    return kept, out


def _numbered(*keys: Array) -> Ints:
    """The number of each row's group of equal keys, which stand together."""
    new = np.ones(len(keys[0]), bool)
    new[1:] = np.logical_or.reduce([key[1:] != key[:-1] for key in keys])
    return np.cumsum(new) - 1


def _settled(grade: Floats, pair: Ints, raters: str) -> Floats:
    """One grade per pair; ``grade`` stands in ascending order within each."""
    start = np.flatnonzero(np.diff(pair, prepend=-1))
    size = np.diff(start, append=len(pair))
    if raters == "median":
        middle: Floats = (grade[start + (size - 1) // 2] + grade[start + size // 2]) / 2
        return middle
    if raters == "mean":
        # A sum of equal grades is rounded; their mean is none the less the grade.
        mean: Floats = np.clip(np.add.reduceat(grade, start) / size, grade[start], grade[start + size - 1])
        return mean
    vote = np.flatnonzero(np.diff(_numbered(pair, grade), prepend=-1))
    votes = np.diff(vote, append=len(pair))
    most = vote[np.lexsort((vote, -votes, pair[vote]))]  # of equally many votes the lower grade's come first
    return grade[most[np.flatnonzero(np.diff(pair[most], prepend=-1))]]
