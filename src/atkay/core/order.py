"""Order: each list in rank order. NumPy and nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from atkay.core.kernels import arrange, find, steps, take
from atkay.core.lists import Lists, ScoreSteps, mask, rows_of

if TYPE_CHECKING:
    from atkay.core.types import Array, Ints


@dataclass(frozen=True, eq=False)
class Scores:
    """The scores of the rows of lists, put in their order when asked for.

    ``given`` stands in the order of the input, in which row n of the lists is row ``order[n]``; ``query`` has the query
    of each given row where the scores themselves put the rows in order. The order is then found where it is asked for,
    and ``equal`` has the rows whose score is that of the row before in the same list.
    """

    given: Array
    moved: Ints | None = None
    query: Ints | None = None
    n_queries: int = 0
    equal: Ints | None = None

    @cached_property
    def order(self) -> Ints | None:
        """The given row of each row, None where they are the same."""
        if self.query is None:
            return self.moved
        return together(self.query, self.n_queries, self.given)[0]

    @cached_property
    def values(self) -> Array:
        """The scores row by row."""
        return self.given if self.order is None else take(self.given, self.order)

    def of(self, lists: Lists, queries: Ints) -> Array:
        """The scores of some lists, one list after the other, without putting all of them in order."""
        if self.query is None:
            rows = rows_of(lists.start, queries)
            return self.given[rows if self.order is None else self.order[rows]]
        row = find(mask(queries, self.n_queries), self.query)
        code = np.empty(self.n_queries, np.int64)
        code[queries] = np.arange(len(queries))
        return self.given[row[together(code[self.query[row]], len(queries), self.given[row])[0]]]

    def steps(self, lists: Lists) -> ScoreSteps:
        """Where they rise or stay equal along the lists."""
        return steps(lists, self.values) if self.equal is None else ScoreSteps(-1, self.equal)


def together(query: Ints, n_queries: int, score: Array | None = None) -> tuple[Ints, Ints, Ints]:
    """The order that brings the rows of each query together, by falling score, and where each query then starts.

    Then the rows whose score is that of the row before in the same query.
    """
    start, order, equal = arrange(query, 0, n_queries, None, 0, score)
    return order.astype(np.int64), start, equal


def by_rank(lists: Lists, rank: Ints) -> tuple[Ints | None, int]:
    """The rows of each list by rank, None where they stand so, and a query whose ranks are not 1..n, or -1.

    A row's place follows from its rank: there is nothing to sort.
    """
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
