"""Ranking: each list in rank order. NumPy and nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from atkay.lists import Lists, in_threads

if TYPE_CHECKING:
    from atkay.arrays import Array, Ints


@dataclass(frozen=True, eq=False)
class Ranking(Lists):
    """Lists with the best item first; ties, duplicates and exclusions are settled."""


@dataclass(frozen=True, eq=False)
class Steps:
    """The rows of lists whose score is above, or equal to, that of the row before in the same list."""

    rising: Ints
    equal: Ints

    @property
    def n_tied(self) -> int:
        """How many rows share their score with a neighbour."""
        return len(np.union1d(self.equal, self.equal - 1))


def steps(lists: Lists, score: Array) -> Steps:
    """Where scores rise or stay equal along the lists."""

    def of_block(block: tuple[int, int]) -> tuple[Ints, Ints]:
        begin, end = lists.start[block[0]], lists.start[block[1]]
        here, before = score[begin + 1 : end], score[begin : end - 1]
        inside = np.ones(max(end - begin - 1, 0), bool)
        edges = lists.start[block[0] + 1 : block[1]]
        inside[edges[(edges > begin) & (edges < end)] - begin - 1] = False
        rising, equal = (np.flatnonzero(step & inside) + begin + 1 for step in (here > before, here == before))
        return rising, equal

    rising, equal = zip(*in_threads(of_block, lists.blocks()), strict=True)
    return Steps(np.concatenate(rising), np.concatenate(equal))


def by_score(lists: Lists, score: Array, tie: Array | None = None) -> Ints:
    """The rows of each list by falling score, equal scores by the rising ``tie``, then as they stand."""

    def of_block(block: tuple[int, int]) -> Ints:
        begin, end = int(lists.start[block[0]]), int(lists.start[block[1]])
        owner, depth = lists.owner(*block), _depth(score[begin:end])
        order = _packed_order(owner, depth, block[1] - block[0])
        deeper, same = depth[order], owner[1:] == owner[:-1]
        lost = bool(((deeper[1:] < deeper[:-1]) & same).any())  # bits that the packed numbers had no room for
        if lost or (tie is not None and bool(((deeper[1:] == deeper[:-1]) & same).any())):
            order = np.lexsort((*(() if tie is None else (tie[begin:end],)), depth, owner)).astype(np.int64)
        order += begin
        return order

    return np.concatenate(in_threads(of_block, lists.blocks()))


def _packed_order(owner: Ints, depth: NDArray[np.uint64], n_lists: int) -> Ints:
    """The order by owner and depth, from sorting one number per row: owner, leading bits of the depth, row."""
    rows = len(owner)
    row_bits, owner_bits = rows.bit_length(), n_lists.bit_length()
    packed = depth - depth.min(initial=np.iinfo(np.uint64).max)
    room = min(64 - row_bits - owner_bits, int(packed.max(initial=0)).bit_length())
    packed >>= np.uint64(int(packed.max(initial=0)).bit_length() - room)
    packed |= owner.astype(np.uint64) << np.uint64(room)
    packed <<= np.uint64(row_bits)
    packed |= np.arange(rows, dtype=np.uint64)
    packed.sort()
    packed &= np.uint64((1 << row_bits) - 1)
    order: Ints = packed.view(np.int64)
    return order


def _depth(score: Array) -> NDArray[np.uint64]:
    """Unsigned integers in the opposite order of the scores: the best score is the least deep."""
    if score.dtype.kind == "u":
        return np.invert(score.astype(np.uint64))
    if score.dtype.kind == "i":
        rising = score.astype(np.int64)
    else:
        bits = (score.astype(np.float64) + 0.0).view(np.int64)  # adding 0 makes -0 and 0 the same
        # The bits of a positive float rise with it, those of a negative one fall.
        rising = bits ^ ((bits >> 63) & np.int64(np.iinfo(np.int64).max))
    depth: NDArray[np.uint64] = np.invert(rising.view(np.uint64) ^ np.uint64(1 << 63))
    return depth


def by_rank(lists: Lists, rank: Ints) -> tuple[Ints | None, int]:
    """The rows of each list by rank, None where they stand so, and a query whose ranks are not 1..n, or -1.

    A row's place follows from its rank: there is nothing to sort.
    """

    def of_block(block: tuple[int, int]) -> tuple[Ints, bool, int]:
        begin, end = lists.start[block[0]], lists.start[block[1]]
        owner, here = lists.owner(*block), rank[begin:end]
        wrong = (here < 1) | (here > lists.length[block[0] : block[1]][owner])
        if wrong.any():
            return np.empty(0, np.int64), False, int(owner[np.argmax(wrong)]) + block[0]
        place = (lists.start[block[0] : block[1]] - begin)[owner] + here - 1
        rows = np.arange(end - begin)
        order = np.full(end - begin, -1)
        order[place] = rows
        empty = order < 0  # then another place of that list is taken twice
        return (
            order + begin,
            bool((order == rows).all()),
            int(owner[np.argmax(empty)]) + block[0] if empty.any() else -1,
        )

    orders, stands, wrong = zip(*in_threads(of_block, lists.blocks()), strict=True)
    first = next((query for query in wrong if query >= 0), -1)
    return None if all(stands) or first >= 0 else np.concatenate(orders), first
