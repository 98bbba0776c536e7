"""Hits: the listed rows that are relevant, of lists that are settled."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from atkay.core.kernels import falling, take, within
from atkay.core.lists import constant, is_constant, mask, picked
from atkay.evaluation.raters import is_relevant
from atkay.judged.judged import Judged
from atkay.judged.judgements import Judgements, Later

if TYPE_CHECKING:
    from collections.abc import Callable

    from atkay.core.lists import Lists
    from atkay.core.types import Bools, Floats, Ints
    from atkay.protocol import Protocol


def find_hits(
    truth: Lists,
    grade: Floats,
    protocol: Protocol,
    query: Ints,
    at: Ints,
    rank: Ints,
    *,
    tied: tuple[Ints, Ints] | None,
    positive: Bools | None,
    unjudged_above: Ints | None = None,
    raw: Floats | None = None,
    find_score: Callable[[], Floats] | None = None,
    **facts: Any,
) -> Judged:
    """The hits among the listed rows that the truth grades: their ``query`` and ``rank``, in this order.

    ``grade`` has the grade of each row of the truth, -1 where it is not relevant, and ``at`` the truth's row of each
    listed one; ``positive`` tells which of them score above 0, and ``unjudged_above`` how many items stand above each
    that the truth names without judging them. ``raw`` has the grades as they were given, where there
    are any, and ``find_score`` puts the scores of the truth's rows together. ``facts`` are the fields of Judged that do
    not depend on grades.
    """
    judging = Later(partial(_judgements, truth, raw, grade, at, rank, find_score))
    relevant, above = truth, constant(0, (len(at),))
    if len(grade) and not (grade[:1] if is_constant(grade) else grade).min() >= 0:
        hit = grade[at] >= 0
        above = missed_above(query, hit, truth.n_queries)
        at, rank, query, relevant = at[hit], rank[hit], query[hit], truth.only(grade >= 0)
        tied = None if tied is None else (tied[0][hit], tied[1][hit])
        positive = None if positive is None else positive[hit]
        unjudged_above = None if unjudged_above is None else unjudged_above[hit]
    n_nonrelevant = truth.length - relevant.length
    if protocol.unlisted == "ignored":
        listed = mask(at, len(grade))
        relevant, grade_of = truth.only(listed), grade[listed]
    else:
        grade_of = grade if relevant is truth else grade[grade >= 0]
    return Judged(
        query=query,
        rank=rank,
        grade=picked(grade, at),
        item=take(truth.item, at).astype(np.int64, copy=False),
        n_relevant=relevant.length,
        grades=best_first(relevant, grade_of),
        tied=tied,
        averaged=protocol.ties == "expected",
        truth=relevant,
        n_nonrelevant=n_nonrelevant,
        nonrelevant_above=above,
        n_unjudged_above=unjudged_above,
        positive=positive,
        judging=judging,
        **facts,
    )


def _judgements(
    truth: Lists, raw: Floats | None, grade: Floats, at: Ints, rank: Ints, find_score: Callable[[], Floats] | None
) -> Judgements:
    """All rows of the truth; ``rank``: of those that are listed, whose rows are ``at``."""
    places = np.zeros(len(truth), np.int64)
    places[at[::-1]] = rank[::-1]  # the first place of an item that stands twice
    return Judgements(truth, np.ones(len(truth)) if raw is None else raw, grade >= 0, places, find_score)


def listing_of(
    ranking: Lists, row: Ints, at: Ints, raw: Floats | None, grade: Floats, find_score: Callable[[], Floats] | None
) -> Judgements:
    """All rows of the lists, 0 being the grade of what the truth does not judge; ``row``: of its rows ``at``."""
    grades, relevant = np.zeros(len(ranking)), np.zeros(len(ranking), bool)
    grades[row] = 1.0 if raw is None else raw[at]
    relevant[row] = grade[at] >= 0
    return Judgements(ranking, grades, relevant, within(ranking.owner()), find_score)


def group_of(equal: Ints, row: Ints, first: Ints) -> tuple[Ints, Ints]:
    """Of the group of equal scores of each row: how many rows of its list come before, and how many it has.

    ``equal`` has the rows whose score is that of the row before.
    """
    if not len(equal):
        return row - first, np.ones_like(row)
    ends = np.flatnonzero(np.diff(equal, append=-1) != 1)
    last, size = equal[ends], np.diff(ends, prepend=-1) + 1
    group = np.minimum(np.searchsorted(last, row), len(last) - 1)
    begin = last[group] - size[group] + 1
    tied = (begin <= row) & (row <= last[group])
    return np.where(tied, begin, row) - first, np.where(tied, size[group], 1)


def relevant_grades(grade: Floats, least: float | None) -> Floats:
    """The grades from ``least`` on, those above 0 where it is None, and -1 for the others: not relevant."""
    return np.where(is_relevant(grade, least), grade, -1.0)


def best_first(relevant: Lists, grade: Floats) -> Floats:
    """The grades of one query after the other, the best of each first."""
    return grade if is_constant(grade) else falling(relevant, grade)


def missed_above(query: Ints, hit: Bools, n_queries: int) -> Ints:
    """How many graded rows of the same list that are no hits stand above each hit; ``query``: of all graded rows."""
    missed = np.concatenate(([0], np.cumsum(~hit)))
    graded = np.bincount(query, minlength=n_queries)
    before_list = missed[np.cumsum(graded) - graded]
    above: Ints = missed[:-1][hit] - before_list[query[hit]]
    return above
