"""Match: which listed items the truth knows, and which stand twice. NumPy and nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from atkay.core.lists import Lists, in_threads

if TYPE_CHECKING:
    from atkay.core.types import Ints


ROWS_PER_TRUTH_ROW = 2
"""From this many listed rows per row of the truth on, most cannot be in the truth."""
SLOTS_PER_TRUTH_ROW = 16
"""Places in the table per row of the truth: of the other rows about one of 20 then meets a place that is marked."""
GOLDEN_RATIO = 0.6180339887498949
"""Its multiples, less the whole part, keep away from each other: no two queries have the same distance."""


@dataclass(frozen=True, eq=False)
class Match:
    """Rows of one side whose pair of query and item stands on the other: ``row`` there is ``at`` here.

    ``row`` rises. ``repeated`` says for either side whether it has a pair twice; then the rows are not to be trusted.
    """

    row: Ints
    at: Ints
    repeated: tuple[bool, bool]


class BlockMatch(NamedTuple):
    """The match of a block, and whether either side has a pair twice."""

    row: Ints
    at: Ints
    twice: bool
    twice_truth: bool


def match(lists: Lists, truth: Lists, *, once: bool = False) -> Match:
    """The rows of ``lists`` that are in ``truth``, and where; ``once``: no list has an item twice, for certain.

    Where most rows cannot be in the truth, a table tells which may be, and only these are sorted.
    """
    item_bits = int(max(lists.n_items, truth.n_items)).bit_length()

    def of_block(block: tuple[int, int]) -> BlockMatch:
        first, last = block
        rows, truth_rows = (int(side.start[last] - side.start[first]) for side in (lists, truth))
        if (last - first).bit_length() + item_bits + max(rows, truth_rows).bit_length() + 1 > 63 and last - first > 1:
            middle = (first + last) // 2
            return _joined([of_block((first, middle)), of_block((middle, last))])
        if rows <= ROWS_PER_TRUTH_ROW * truth_rows:
            return by_sorting(lists, truth, block)
        matched = by_sorting(lists, truth, block, candidates(lists, truth, block))
        return matched if once else matched._replace(twice=_twice(lists, block))

    row, at, twice, twice_truth = _joined(in_threads(of_block, lists.blocks(truth)))
    return Match(row, at, (twice, twice_truth))


def candidates(lists: Lists, truth: Lists, block: tuple[int, int]) -> Ints:
    """The rows of a block that may be in the truth: all that are, and a few more.

    Every row of the truth marks a place in a table that fits into the cache: its item, moved on by a distance of
    the query's own. Only rows whose place is marked can be in the truth.
    """
    first, last = block
    begin, end, truth_begin, truth_end = (int(side.start[at]) for side in (lists, truth) for at in block)
    places = 1 << (SLOTS_PER_TRUTH_ROW * (truth_end - truth_begin)).bit_length()
    distance = np.arange(last - first) * int(places * GOLDEN_RATIO) % places
    n_items = max(lists.n_items, truth.n_items)

    def place(side: Lists, items: Ints) -> Ints:
        out = np.repeat(distance, side.length[first:last])
        out += items if n_items <= places else items & (places - 1)
        return out

    marked = np.zeros(places + min(n_items, places), bool)
    marked[place(truth, truth.item[truth_begin:truth_end])] = True
    return np.flatnonzero(marked.take(place(lists, lists.item[begin:end])))


def by_sorting(lists: Lists, truth: Lists, block: tuple[int, int], chosen: Ints | None = None) -> BlockMatch:
    """The match of a block, or of the ``chosen`` rows in it.

    Both sides' rows are written as one number each, (query, item, side, row), and sorted: equal pairs then stand next
    to each other, a hit as one row of each side, a duplicate as the same side twice.
    """
    first, last = block
    begin, end, truth_begin, truth_end = (int(side.start[at]) for side in (lists, truth) for at in block)
    row_bits = max(end - begin, truth_end - truth_begin).bit_length()
    item_bits = int(max(lists.n_items, truth.n_items)).bit_length()

    def packed(owner: Ints, item: Ints, side: int, row: Ints) -> Ints:
        out = owner << item_bits
        out |= item
        out <<= row_bits + 1
        out |= row if side == 0 else row + (1 << row_bits)
        return out

    item = lists.item[begin:end]
    if chosen is None:
        owner, row = lists.owner(first, last), np.arange(end - begin)
    else:
        owner = np.searchsorted(lists.start[first + 1 : last + 1] - begin, chosen, side="right")
        item, row = item.take(chosen), chosen
    truth_row = np.arange(truth_end - truth_begin)
    both = np.concatenate(
        (packed(owner, item, 0, row), packed(truth.owner(first, last), truth.item[truth_begin:truth_end], 1, truth_row))
    )
    both.sort()
    same = np.flatnonzero((both[1:] ^ both[:-1]) < 1 << (row_bits + 1))
    ahead, behind = both.take(same), both.take(same + 1)
    side, side_behind = ((of >> row_bits) & 1 for of in (ahead, behind))
    hit, only_row = side != side_behind, (1 << row_bits) - 1
    row, at = (ahead[hit] & only_row) + begin, (behind[hit] & only_row) + truth_begin
    order = np.argsort(row)
    return BlockMatch(row[order], at[order], bool((side_behind == 0).any()), bool((side == 1).any()))


def _twice(lists: Lists, block: tuple[int, int]) -> bool:
    """Whether a list has an item twice, from sorting the narrowest numbers that tell items apart."""
    first, last = block
    item, length = lists.item[lists.start[first] : lists.start[last]], lists.length[first:last]
    if (length == length[:1]).all():
        rows = item.astype(_narrow(lists.n_items)).reshape(last - first, -1)
    else:
        pair = np.repeat(np.arange(last - first) * np.int64(lists.n_items), length)
        pair += item
        rows = pair.astype(_narrow((last - first) * lists.n_items))[None]
    rows.sort(axis=1)
    return bool((rows[:, 1:] == rows[:, :-1]).any())


def _narrow(size: int) -> type[np.unsignedinteger[Any]]:
    return np.uint16 if size <= 1 << 16 else np.uint32 if size <= 1 << 32 else np.uint64


def _joined(parts: list[BlockMatch]) -> BlockMatch:
    row, at, twice, twice_truth = zip(*parts, strict=True)
    return BlockMatch(np.concatenate(row), np.concatenate(at), any(twice), any(twice_truth))


def repeated(lists: Lists) -> Ints:
    """The rows whose item stood in the list already."""
    pair = lists.owner() * np.int64(lists.n_items) + lists.item
    order = np.argsort(pair, kind="stable")
    again = np.flatnonzero(pair[order[1:]] == pair[order[:-1]]) + 1
    return np.sort(order[again])


def located(lists: Lists, others: Lists) -> tuple[Ints, Ints]:
    """The rows of ``lists`` that are in ``others``, rising, and where; no list has an item twice."""
    if len(lists) >= len(others):
        matched = match(lists, others, once=True)
        return matched.row, matched.at
    matched = match(others, lists, once=True)  # the longer side is looked up: most of its rows are not sorted
    order = np.argsort(matched.at)
    return matched.at[order], matched.row[order]


def place_in(others: Lists, query: Ints, item: Ints) -> Ints:
    """The place of each item in its query's list of the others, from 1; 0 where it is not there. Queries rise."""
    lists = Lists.of(np.bincount(query, minlength=others.n_queries), item, others.n_items)
    row, at = located(lists, others)
    place = np.zeros(len(query), np.int64)
    place[row] = at - others.start[query[row]] + 1
    return place
