"""Match: which (query, item) pairs occur among given ones. NumPy and nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from atkay.metrics.base import Bools, Ints

BLOCK = 1 << 18
"""Rows that are looked at in one go, so that what is in between stays in the cache."""


@dataclass(frozen=True, eq=False)
class Pairs:
    """Pairs of a query and an item, as codes; an item below ``n_items``."""

    query: Ints
    item: Ints
    n_items: int

    def __len__(self) -> int:
        return len(self.item)

    def keys(self, rows: slice = slice(None)) -> Ints:
        """One number per pair, ordered by query, then item."""
        return self.query[rows].astype(np.int64) * self.n_items + self.item[rows]

    @cached_property
    def order(self) -> Ints:
        """The rows by query and item; equal pairs in the order of their rows."""
        return np.argsort(self.keys(), kind="stable")

    @cached_property
    def ordered(self) -> Ints:
        """The keys in order."""
        return self.keys()[self.order]

    def repeated(self) -> Ints:
        """The rows whose pair stood in an earlier row already."""
        again = np.flatnonzero(self.ordered[1:] == self.ordered[:-1]) + 1
        return np.sort(self.order[again])

    def find(self, asked: Pairs) -> tuple[Ints, Ints]:
        """The rows of ``asked`` whose pair is here, in their order, and the row where it is."""
        rows, here = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
        for start in range(0, len(asked) if len(self) else 0, BLOCK):
            keys = asked.keys(slice(start, start + BLOCK))
            at = np.searchsorted(self.ordered, keys)
            at[at == len(self.ordered)] = 0
            found = np.flatnonzero(self.ordered[at] == keys)
            rows.append(found + start)
            here.append(self.order[at[found]])
        return np.concatenate(rows), np.concatenate(here)

    def within(self, asked: Pairs) -> Bools:
        """For each row of ``asked``, whether its pair is here."""
        out = np.zeros(len(asked), bool)
        out[self.find(asked)[0]] = True
        return out


@dataclass(frozen=True, eq=False)
class Items:
    """Items that are meant for every query."""

    item: Ints
    n_items: int

    def __len__(self) -> int:
        return len(self.item)

    def within(self, asked: Pairs) -> Bools:
        """For each row of ``asked``, whether its item is here."""
        here = np.zeros(self.n_items, bool)
        here[self.item] = True
        return here[asked.item]
