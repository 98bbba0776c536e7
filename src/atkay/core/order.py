"""Lists: each list in rank order. NumPy and nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from atkay.core.lists import Lists, in_threads, mask, ranges, rows_of, taken

if TYPE_CHECKING:
    from atkay.core.types import Array, Bools, Ints


@dataclass(frozen=True, eq=False)
class ScoreSteps:
    """The rows of lists whose score is above, or equal to, that of the row before in the same list."""

    rising: Ints
    equal: Ints

    @property
    def n_tied(self) -> int:
        """How many rows share their score with a neighbour."""
        return len(np.union1d(self.equal, self.equal - 1))


def steps(lists: Lists, score: Array, order: Ints | None = None) -> ScoreSteps:
    """Where scores rise or stay equal along the lists, or would once their rows are put in order."""

    def of_block(block: tuple[int, int]) -> tuple[Ints, Ints]:
        begin, end = int(lists.start[block[0]]), int(lists.start[block[1]])
        here = score[begin:end] if order is None else score.take(order[begin:end])
        row = np.flatnonzero(_not_falling(lists, block, here))
        equal = here.take(row) == here.take(row + 1)
        row += begin + 1
        return row[~equal], row[equal]

    rising, equal = zip(*in_threads(of_block, lists.blocks()), strict=True)
    return ScoreSteps(np.concatenate(rising), np.concatenate(equal))


def _not_falling(lists: Lists, block: tuple[int, int], score: Array) -> Bools:
    """For each row of a block but the last, whether the next one is of the same list and has no lower score."""
    level: Bools = score[1:] >= score[:-1]
    edges = lists.start[block[0] + 1 : block[1]] - lists.start[block[0]]
    level[edges[(edges > 0) & (edges < len(score))] - 1] = False
    return level


def by_score(lists: Lists, score: Array, tie: Array | None = None) -> Ints:
    """The rows of each list by falling score, equal scores by the rising ``tie``, then as they stand."""

    def of_block(block: tuple[int, int]) -> Ints:
        begin, end = int(lists.start[block[0]]), int(lists.start[block[1]])
        order, start, here = np.arange(begin, end), lists.start[block[0] : block[1] + 1] - begin, score[begin:end]
        at = np.flatnonzero(_not_falling(lists, block, here))
        if tie is None:
            at = at[here.take(at + 1) > here.take(at)]
        if len(at):
            moved = np.unique(np.searchsorted(start, at, side="right") - 1)
            rows = rows_of(start, moved)
            owner = np.repeat(np.arange(len(moved)), start[moved + 1] - start[moved])
            if tie is None:
                place, *_ = together(owner, len(moved), here.take(rows))
            else:
                place = np.lexsort((tie[begin:end].take(rows), _depth(here.take(rows)), owner))
            order[rows] = order.take(rows.take(place))
        return order

    return np.concatenate(in_threads(of_block, lists.blocks()))


@dataclass(frozen=True, eq=False)
class Scores:
    """The scores of the rows of lists, put in their order when asked for.

    ``given`` stands in the order of the input, in which row n of the lists is row ``order[n]``. Where that order came
    from the scores themselves, ``equal`` has the rows whose score is that of the row before in the same list.
    """

    given: Array
    order: Ints | None = None
    equal: Ints | None = None

    @cached_property
    def values(self) -> Array:
        """The scores row by row."""
        return self.given if self.order is None else taken(self.given, self.order)

    def steps(self, lists: Lists) -> ScoreSteps:
        """Where they rise or stay equal along the lists."""
        return steps(lists, self.values) if self.equal is None else ScoreSteps(self.equal[:0], self.equal)


def together(query: Ints, n_queries: int, score: Array | None = None) -> tuple[Ints, Ints, Ints]:
    """The order that brings the rows of each query together, by falling score, and where each query then starts.

    Then the rows whose score is that of the row before in the same query. A row is written as one number, (query,
    leading bits of the score's depth, row): sorting these beats every sort that carries an index. The few rows that
    differ in later bits alone are put right afterwards.
    """
    rows = len(query)
    row_bits, depth_bits, least = rows.bit_length(), 0, np.uint64(0)
    if score is not None and rows:
        least, most = _depth(np.array([score.max(), score.min()]))
        depth_bits = int(most - least).bit_length()
    room = min(64 - row_bits - n_queries.bit_length(), depth_bits)
    packed = np.empty(rows, np.uint64)

    def pack(block: tuple[int, int]) -> None:
        here = packed[slice(*block)]
        here[:] = query[slice(*block)]
        if score is not None:
            here <<= np.uint64(room)
            here |= (_depth(score[slice(*block)]) - least) >> np.uint64(depth_bits - room)
        here <<= np.uint64(row_bits)
        here |= np.arange(*block, dtype=np.uint64)

    in_threads(pack, ranges(rows))
    packed.sort()
    start = np.searchsorted(packed, np.arange(n_queries + 1, dtype=np.uint64) << np.uint64(row_bits + room))
    close = packed[:0].view(np.int64) if score is None else _neighbours(packed, row_bits)
    packed &= np.uint64((1 << row_bits) - 1)
    order: Ints = packed.view(np.int64)
    if score is None or not len(close):
        return order, start, close
    if depth_bits > room:
        _put_right(order, close, score)
    return order, start, close[score[order[close]] == score[order[close + 1]]] + 1


def _neighbours(packed: NDArray[np.uint64], row_bits: int) -> Ints:
    """The places whose number agrees with the next one in all but the row."""

    def of_block(block: tuple[int, int]) -> Ints:
        here = packed[block[0] : block[1] + 1]
        return np.flatnonzero((here[1:] ^ here[:-1]) < np.uint64(1 << row_bits)) + block[0]

    return np.concatenate(in_threads(of_block, ranges(len(packed))))


def _put_right(order: Ints, close: Ints, score: Array) -> None:
    """Sort again what was too close: where ``close`` holds n, the rows at n and n + 1 belong to the same group."""
    rising = score[order[close + 1]] > score[order[close]]
    if not rising.any():
        return
    group = np.cumsum(np.diff(close, prepend=-2) != 1) - 1
    wrong = close[mask(group[rising], int(group[-1]) + 1)[group]]
    place = np.union1d(wrong, wrong + 1)
    group = np.cumsum(np.isin(place, wrong + 1, invert=True))
    rows = order[place]
    order[place] = rows[np.lexsort((_depth(score[rows]), group))]


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
