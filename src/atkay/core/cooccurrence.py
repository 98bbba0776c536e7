"""Pairs: how many users two items share. NumPy and nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

from atkay.core.lists import Lists, in_threads, rows_between
from atkay.core.order import together

if TYPE_CHECKING:
    from atkay.core.types import Array, Ints

PAIRS_PER_BLOCK = 1 << 20
"""Pairs of one user's items that are counted in one go."""

FEWEST_SHELF_BITS = 6
"""The bits of the least shelf: 64 items, whose places fit in a byte."""


@dataclass(frozen=True, eq=False)
class Pairs:
    """The pairs of items that share users, each once, at the lower of the two.

    An item has a row of shelves, one for every ``1 << bits`` items that it may share users with; a shelf has their
    places in ascending order. To find a pair is then a search within one shelf, which lies together in memory.
    """

    start: Ints
    """Where each shelf begins, those of one item after those of the other."""
    place: Array
    users: Array
    """How many users the pair shares."""
    bits: int
    shelves: int
    """The number of shelves of one item."""

    @classmethod
    def of(cls, lists: Lists) -> Self:
        """The pairs among the items of each user, who has an item once."""
        n = lists.n_items
        item = np.sort(lists.owner() * n + lists.item) % n  # ascending for each user
        later = np.repeat(lists.start[1:], lists.length) - np.arange(1, len(item) + 1)
        order, start, _ = together(item, n)
        work = np.concatenate(([0], np.cumsum(later[order])))[start]  # the products before each item
        bits = FEWEST_SHELF_BITS
        while n * (n >> bits) > work[-1] and n >> bits:
            bits += 1
        shelves = (n >> bits) + 1

        def of_block(block: tuple[int, int]) -> tuple[Ints, Array, Array]:
            rows = order[start[block[0]] : start[block[1]]]
            small = (block[1] - block[0]) * n < 1 << 31  # then it sorts in half the time
            pair: Ints = np.repeat((item[rows] - block[0]) * n, later[rows]).astype(np.int32 if small else np.int64)
            pair += item.take(rows_between(rows + 1, later[rows]))
            pair.sort()
            new = np.ones(len(pair), bool)
            np.not_equal(pair[1:], pair[:-1], out=new[1:])
            first = np.flatnonzero(new)
            owner, near = np.divmod(pair[first], n)
            length = np.bincount(owner * shelves + (near >> bits), minlength=(block[1] - block[0]) * shelves)
            place = (near & ((1 << bits) - 1)).astype(np.min_scalar_type((1 << bits) - 1))
            return length, place, np.diff(first, append=len(pair)).astype(np.int32)

        edges = np.unique(
            np.concatenate(([0], np.searchsorted(work, np.arange(PAIRS_PER_BLOCK, work[-1], PAIRS_PER_BLOCK)), [n]))
        )
        parts = in_threads(of_block, list(zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True)))
        length, place, users = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
        return cls(np.concatenate(([0], np.cumsum(length))), place, users, bits, shelves)

    def shared(self, one: Ints, other: Ints) -> Ints:
        """How many users the items share, pair by pair; the two are different items."""
        low, high = np.minimum(one, other), np.maximum(one, other)
        shelf = low.astype(np.int64) * self.shelves + (high >> self.bits)
        place = (high & ((1 << self.bits) - 1)).astype(self.place.dtype)
        first, end = self.start.take(shelf), self.start.take(shelf + 1)
        for bit in reversed(range(int((end - first).max(initial=0)).bit_length())):
            last = first + (1 << bit)  # so many more are before the place, or not
            first = np.where((last <= end) & (self.place.take(last - 1, mode="clip") < place), last, first)
        shared_users = np.zeros(len(shelf), np.int64)
        there = np.flatnonzero(first < end)
        first = first[there]
        shared_users[there] = np.where(self.place[first] == place[there], self.users[first], 0)
        return shared_users
