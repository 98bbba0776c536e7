"""Subtopics: which parts of a query's topic each relevant item is about, where the truth says so. NumPy only."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Self

import numpy as np

from atkay.core.lists import Lists, rows_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from atkay.core.types import Ints


@dataclass(frozen=True, eq=False)
class Subtopics:
    """A row per relevant pair of query and item, in ascending order of both, and the subtopics of each row.

    ``items`` has the items as codes. ``of_row`` has a list per row: the codes of its subtopics, in the order of their
    ids; what a code stands for depends on the part of the truth.
    """

    items: Lists
    of_row: Lists
    find_text_order: Callable[[], Ints]

    @cached_property
    def text_order(self) -> Ints:
        """The place of each item's id among all of them, as text; found where a metric asks for it."""
        return self.find_text_order()

    @cached_property
    def _pair(self) -> Ints:
        return self.items.owner() * np.int64(self.items.n_items) + self.items.item

    def rows(self, query: Ints, item: Ints) -> Ints:
        """The row of each pair of query and item."""
        return np.searchsorted(self._pair, query * np.int64(self.items.n_items) + item)

    def part(self, first: int, last: int) -> Self:
        """The rows of the queries from ``first`` to before ``last``."""
        begin, end = self.items.start[[first, last]]
        return replace(self, items=self.items.part(first, last), of_row=self.of_row.part(begin, end))

    def pick(self, queries: Ints) -> Self:
        """The rows of the given queries, in that order."""
        rows = rows_of(self.items.start, queries)
        return replace(self, items=self.items.pick(queries), of_row=self.of_row.pick(rows))

    @classmethod
    def concatenate(cls, parts: Sequence[Self]) -> Self:
        """The rows of all parts' queries."""
        of_row = Lists.concatenate([part.of_row for part in parts])
        most = max(part.of_row.n_items for part in parts)
        items = Lists.concatenate([part.items for part in parts])
        return replace(parts[0], items=items, of_row=replace(of_row, n_items=most))
