"""Order: each list in rank order. NumPy and nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np

from atkay.core.kernels import arrange, find, steps, take, take_runs
from atkay.core.lists import Lists, ScoreSteps, mask, rows_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from atkay.core.native.arrow import ArrowColumn
    from atkay.core.types import Array, Ints


@dataclass(frozen=True, eq=False)
class Runs:
    """Rows in another order, run by run: run n began at row ``first[n]``, and now has the rows from ``start[n]`` on."""

    first: Ints
    start: Ints
    given: Ints | None = None
    """How many rows the runs have, in the order in which they came."""

    def take(self, values: Array) -> Array:
        """The values in this order."""
        return take_runs(values, self.first, self.start)

    def before(self, rows: Ints) -> Ints:
        """Which rows some rows were before."""
        run = np.searchsorted(self.start, rows, side="right") - 1
        return self.first[run] + rows - self.start[run]

    def stands(self, lists: Lists, score: Array | ArrowColumn) -> bool:
        """Whether scores fall along every list, from looking at them where they are; a list may be one run alone."""
        if self.given is None or len(self.first) > np.count_nonzero(lists.length):
            return False
        before = Lists.of(self.given, lists.item, lists.n_items)
        score_steps = steps(before, score)
        return score_steps.rising < 0 and not len(score_steps.equal)


class Moved(NamedTuple):
    """Rows that change places within their lists: the row from ``source[n]`` goes to ``place[n]``, which rises."""

    place: Ints
    source: Ints

    @classmethod
    def among_equal(cls, equal: Ints, key: Callable[[Ints], Array]) -> Self:
        """Groups of equal scores by a key, the lowest first; ``equal``: the rows with the score of the row before."""
        first = equal[np.diff(equal, prepend=-1) != 1] - 1
        place = np.union1d(equal, first)
        group = np.searchsorted(first, place, side="right")
        return cls(place, place[np.lexsort((key(place), group))])

    def take(self, values: Array) -> Array:
        """The values in this order."""
        out = values.copy()
        out[self.place] = values[self.source]
        return out

    def places(self, rows: Ints) -> Ints:
        """Where some rows go."""
        at = np.minimum(np.searchsorted(self.place, rows), len(self.place) - 1)
        return np.where(self.place[at] == rows, self.place[np.argsort(self.source)[at]], rows)


@dataclass(frozen=True, eq=False)
class Scores:
    """The scores of the rows of lists, ordered on first use.

    ``column`` is in input order, which ``moved`` brings to that of the lists; ``query`` has the query of each given row
    if the scores themselves order the rows. That order is computed on first use; ``equal`` has the rows whose score is
    that of the previous row of the same list.
    """

    column: Array | ArrowColumn
    moved: Runs | None = None
    query: Ints | None = None
    n_queries: int = 0
    equal: Ints | None = None

    @cached_property
    def given(self) -> Array:
        """The scores in the order of the input, in one piece."""
        return np.asarray(self.column)

    @cached_property
    def values(self) -> Array:
        """The scores row by row."""
        if self.query is not None:
            return take(self.given, together(self.query, self.n_queries, self.column)[0])
        return self.given if self.moved is None else self.moved.take(self.given)

    def of(self, lists: Lists, queries: Ints) -> Array:
        """The scores of some lists, one list after the other, without putting all of them in order."""
        if self.query is None:
            rows = rows_of(lists.start, queries)
            return self.column.take(rows if self.moved is None else self.moved.before(rows))
        row = find(mask(queries, self.n_queries), self.query)
        code = np.empty(self.n_queries, np.int64)
        code[queries] = np.arange(len(queries))
        return self.column.take(row[together(code[self.query[row]], len(queries), self.column.take(row))[0]])

    def steps(self, lists: Lists) -> ScoreSteps:
        """Where they rise or stay equal along the lists."""
        if self.equal is not None:
            return ScoreSteps(-1, self.equal)
        if self.moved is None:
            return steps(lists, self.column)
        return ScoreSteps(-1, lists.start[:0]) if self.moved.stands(lists, self.column) else steps(lists, self.values)


def together(query: Ints, n_queries: int, score: Array | ArrowColumn | None = None) -> tuple[Ints, Ints, Ints]:
    """The order that brings the rows of each query together, by falling score, and where each query then starts.

    Then the rows whose score is that of the row before in the same query.
    """
    start, order, equal = arrange(query, 0, n_queries, None, 0, score)
    return order.astype(np.int64), start, equal


def by_rank(lists: Lists, rank: Ints, first: int | None = None) -> tuple[Ints | None, int]:
    """The rows of each list by rank, None where they stand so, and a query whose ranks are not 1..n, or -1.

    A row's place follows from its rank: there is nothing to sort. All ranks may also be numbered from 0:
    ``first`` says from where, if it is known; else the lowest one tells.
    """
    if first == 0 or (first is None and len(rank) and rank.min() == 0):
        rank = rank + 1
    wrong = np.flatnonzero((rank < 1) | (rank > np.repeat(lists.length, lists.length)))
    if len(wrong):
        return None, lists.query_of(int(wrong[0]))
    order = np.full(len(lists), -1)
    rows = np.arange(len(lists))
    order[np.repeat(lists.start[:-1] - 1, lists.length) + rank] = rows
    empty = np.flatnonzero(order < 0)  # then another place of that list is taken twice
    if len(empty):
        return None, lists.query_of(int(empty[0]))
    return None if (order == rows).all() else order, -1
