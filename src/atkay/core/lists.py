"""Lists: the items of one query after the other. NumPy and nothing else."""

from __future__ import annotations

import itertools
import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, Self, TypeVar

import numpy as np

from atkay.core.types import Array, Bools, Hashes, Ints

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

T = TypeVar("T")
W = TypeVar("W")

ROWS_PER_BLOCK = 1 << 17
"""Rows per block: few enough for intermediate arrays to stay in the cache, and enough to keep a thread busy (a quarter
of the rows took a third longer on two cores)."""


@dataclass(frozen=True, eq=False)
class Lists:
    """Item codes below ``n_items``, grouped by query: those of query q are ``item[start[q]:start[q + 1]]``."""

    start: Ints
    item: Ints
    n_items: int

    @classmethod
    def of(cls, length: Ints, item: Ints, n_items: int) -> Self:
        """Lists of the given lengths."""
        start = np.zeros(len(length) + 1, np.int64)
        np.cumsum(length, out=start[1:])
        return cls(start, item, n_items)

    def __len__(self) -> int:
        return len(self.item)

    @property
    def n_queries(self) -> int:
        """How many queries there are, with or without items."""
        return len(self.start) - 1

    @cached_property
    def length(self) -> Ints:
        """How many items each query has."""
        return self.start[1:] - self.start[:-1]

    def owner(self, first: int = 0, last: int | None = None) -> Ints:
        """The query of each row, for the queries from ``first`` to before ``last``; they count from ``first``."""
        length = self.length[first:last]
        return np.repeat(np.arange(len(length)), length)

    def only(self, keep: Bools) -> Self:
        """The rows that are to stay."""
        length = np.diff(np.concatenate(([0], np.cumsum(keep)))[self.start])
        return type(self).of(length, self.item[keep], self.n_items)

    def reordered(self, order: Ints | None) -> Self:
        """The same lists with their rows in another order; None where they stand in it."""
        if order is None:
            return self
        from atkay.core.kernels import take

        return type(self)(self.start, take(self.item, order), self.n_items)

    def query_of(self, row: int) -> int:
        """The query of one row."""
        return int(np.searchsorted(self.start, row, side="right")) - 1

    def pick(self, queries: Ints) -> Self:
        """The lists of the given queries, in that order; one may be picked often."""
        return type(self).of(self.length[queries], self.item[rows_of(self.start, queries)], self.n_items)

    def part(self, first: int, last: int) -> Self:
        """The lists of the queries from ``first`` to before ``last``."""
        begin, end = self.start[first], self.start[last]
        return type(self)(self.start[first : last + 1] - begin, self.item[begin:end], self.n_items)

    def blocks(self, *others: Lists) -> list[tuple[int, int]]:
        """Ranges of queries that together have about a block of rows, here and in the others."""
        start = self.start + sum(other.start for other in others)
        cuts = np.searchsorted(start, np.arange(ROWS_PER_BLOCK, start[-1], ROWS_PER_BLOCK))
        edges = np.unique(np.concatenate(([0], cuts, [self.n_queries])))
        if len(edges) == 1:
            return [(0, 0)]
        return list(zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True))

    @classmethod
    def concatenate(cls, parts: Sequence[Lists]) -> Self:
        """The lists of all parts, in their order."""
        length, item = (np.concatenate(arrays) for arrays in ([p.length for p in parts], [p.item for p in parts]))
        return cls.of(length, item, parts[0].n_items)


class Match(NamedTuple):
    """Rows of lists whose pair of query and item stands in the truth: ``row`` there is ``at`` here; ``row`` rises.

    ``rank`` is the row's place in its list, from 1. ``repeated`` says for either side whether it has a pair twice; then
    the rows are not to be trusted. ``hashes`` has a number per list, where these were asked for: the sum of its items'
    numbers, each times a number of its place.
    """

    query: Ints
    row: Ints
    at: Ints
    rank: Ints
    repeated: tuple[bool, bool]
    hashes: Hashes | None = None


class ScoreSteps(NamedTuple):
    """Where scores do not fall along lists: where they rise, and all rows whose score is that of the row before."""

    rising: int
    """The first row whose score is above that of the row before, -1 where there is none."""
    equal: Ints

    @property
    def n_tied(self) -> int:
        """How many rows share their score with a neighbour: each group of equal scores has one more than ``equal``."""
        groups = int(np.count_nonzero(np.diff(self.equal) != 1)) + 1 if len(self.equal) else 0
        return len(self.equal) + groups


def ranges(rows: int, size: int = ROWS_PER_BLOCK) -> list[tuple[int, int]]:
    """The rows in blocks."""
    return [(first, min(first + size, rows)) for first in range(0, rows, size)] or [(0, 0)]


def in_threads(work: Callable[[W], T], blocks: Sequence[W]) -> list[T]:
    """The results of the blocks in order; NumPy releases the GIL, so blocks run in threads."""
    threads = len(blocks) // 4
    if threads < 2 or (threads := min(os.cpu_count() or 1, 8, threads)) < 2:
        return [work(block) for block in blocks]
    # Each thread takes its share in one go: to hand over block after block costs more than it evens out.
    edges = [len(blocks) * nth // threads for nth in range(threads + 1)]
    parts = [blocks[begin:end] for begin, end in itertools.pairwise(edges)]
    with ThreadPoolExecutor(threads) as pool:
        return list(itertools.chain.from_iterable(pool.map(lambda part: [work(block) for block in part], parts)))


def rows_of(start: Ints, lists: Ints) -> Ints:
    """The rows of some lists, one list after the other; the rows of list n are ``start[n]:start[n + 1]``."""
    return rows_between(start[lists], start[lists + 1] - start[lists])


def rows_between(first: Ints, length: Ints) -> Ints:
    """Consecutive rows from each first one."""
    rows = np.repeat(first + length - np.cumsum(length), length)
    for begin, end in ranges(len(rows)):
        rows[begin:end] += np.arange(begin, end)
    return rows


def constant(value: Any, shape: tuple[int, ...]) -> Array:
    """The same number everywhere, without memory for each; as ``np.broadcast_to`` has it, in a third of the time."""
    one = np.array(value)
    return np.ndarray(shape, one.dtype, one.tobytes(), strides=(0,) * len(shape))


def is_constant(values: Array) -> bool:
    """Whether all values are the same; where one stands for all, there is nothing to compare."""
    return values.strides == (0,) or bool((values == values[:1]).all())


def picked(values: Array, rows: Ints) -> Array:
    """The values of some rows; where one stands for all, it does so still."""
    return constant(values[0], (len(rows),)) if values.strides == (0,) and len(values) else values[rows]


def mask(places: Ints, size: int) -> Bools:
    """True at the given places."""
    out = np.zeros(size, bool)
    out[places] = True
    return out
