"""Judgements: every item that the truth judges, relevant or not, and where it is listed. NumPy only."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from atkay.core.lists import Lists, rows_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from atkay.core.types import Bools, Floats, Ints


@dataclass(frozen=True, eq=False)
class Judgements:
    """A row per judged pair of query and item, one query after the other.

    ``items`` has the items as codes, ``grade`` what the truth says (1 where it has no grades), ``relevant`` whether
    that is enough, and ``rank`` the place in the query's list, 0 where the item is not listed.
    """

    items: Lists
    grade: Floats
    relevant: Bools
    rank: Ints
    find_score: Callable[[], Floats] | None = None

    @cached_property
    def score(self) -> Floats | None:
        """The score of each row, NaN where the item is not listed; None where lists have no scores."""
        return None if self.find_score is None else self.find_score()

    @cached_property
    def listed(self) -> Listed:
        """The rows that are listed, by query and rank."""
        row = np.flatnonzero(self.rank)
        query = self.items.owner()[row]
        row = row[np.lexsort((self.rank[row], query))]
        return Listed(row, query, self.rank[row], self.items.item[row], self.grade[row], self.relevant[row])

    def part(self, first: int, last: int) -> Self:
        """The rows of the queries from ``first`` to before ``last``."""
        return self._cut(self.items.part(first, last), slice(*self.items.start[[first, last]]))

    def pick(self, queries: Ints) -> Self:
        """The rows of the given queries, in that order."""
        return self._cut(self.items.pick(queries), rows_of(self.items.start, queries))

    def _cut(self, items: Lists, rows: slice | Ints) -> Self:
        def score() -> Floats:
            assert self.score is not None
            return self.score[rows]

        find_score = None if self.find_score is None else score
        return type(self)(items, self.grade[rows], self.relevant[rows], self.rank[rows], find_score)

    @classmethod
    def concatenate(cls, parts: Sequence[Judgements]) -> Self:
        """The rows of all parts' queries."""

        def join(name: str) -> Any:
            return np.concatenate([getattr(part, name) for part in parts])

        scored = all(part.find_score is not None for part in parts)
        return cls(
            Lists.concatenate([part.items for part in parts]),
            join("grade"),
            join("relevant"),
            join("rank"),
            (lambda: join("score")) if scored else None,
        )


class Listed(NamedTuple):
    """Judged items that are listed, by query and rank; ``row`` is where each stands among all judged ones."""

    row: Ints
    query: Ints
    rank: Ints
    item: Ints
    grade: Floats
    relevant: Bools


@dataclass(frozen=True, eq=False)
class Later:
    """Judgements that are put together when a metric asks for them."""

    find: Callable[[], Judgements] = field(repr=False)

    @cached_property
    def rows(self) -> Judgements:
        """The judgements; the same each time."""
        return self.find()

    def part(self, first: int, last: int) -> Later:
        """Those of the queries from ``first`` to before ``last``."""
        return Later(lambda: self.rows.part(first, last))

    def pick(self, queries: Ints) -> Later:
        """Those of the given queries, in that order."""
        return Later(lambda: self.rows.pick(queries))

    @staticmethod
    def concatenate(parts: Sequence[Later]) -> Later:
        """Those of all parts' queries."""
        return Later(lambda: Judgements.concatenate([part.rows for part in parts]))
