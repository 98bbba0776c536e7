"""Match: which listed items the truth knows, and which stand twice. NumPy and nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from atkay.core.lists import Lists, in_threads

if TYPE_CHECKING:
    from atkay.core.types import Ints


ROWS_PER_TRUTH_ROW = 2
"""From so many rows per known row on, most cannot be known."""
SLOTS_PER_TRUTH_ROW = 16
"""Places in the table per known row: a row that is not known then finds one of them marked in about one of 20 cases."""
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
    twice_known: bool


def match(asked: Lists, known: Lists, *, once: bool = False) -> Match:
    """The rows of ``asked`` that are in ``known``, and where; ``once``: it is known that no list has an item twice.

    Where most rows cannot be among the known ones, a table finds those that may be, and only they are sorted.
    """
    item_bits = int(max(asked.n_items, known.n_items)).bit_length()

    def of_block(block: tuple[int, int]) -> BlockMatch:
        first, last = block
        rows, known_rows = (int(side.start[last] - side.start[first]) for side in (asked, known))
        if (last - first).bit_length() + item_bits + max(rows, known_rows).bit_length() + 1 > 63 and last - first > 1:
            middle = (first + last) // 2
            return _joined([of_block((first, middle)), of_block((middle, last))])
        if rows <= ROWS_PER_TRUTH_ROW * known_rows:
            return by_sorting(asked, known, block)
        found = by_sorting(asked, known, block, candidates(asked, known, block))
        return found if once else found._replace(twice=_twice(asked, block))

    row, at, twice, twice_known = _joined(in_threads(of_block, asked.blocks(known)))
    return Match(row, at, (twice, twice_known))


def candidates(asked: Lists, known: Lists, block: tuple[int, int]) -> Ints:
    """The rows of a block that may be among the known ones: all that are, and a few more.

    Every known row marks a place in a table that fits into the cache: its item, moved on by a distance of the query's
    own. Only rows whose place is marked can be known.
    """
    first, last = block
    begin, end, known_begin, known_end = (int(side.start[at]) for side in (asked, known) for at in block)
    places = 1 << (SLOTS_PER_TRUTH_ROW * (known_end - known_begin)).bit_length()
    distance = np.arange(last - first) * int(places * GOLDEN_RATIO) % places
    n_items = max(asked.n_items, known.n_items)

    def place(side: Lists, items: Ints) -> Ints:
        out = np.repeat(distance, side.length[first:last])
        out += items if n_items <= places else items & (places - 1)
        return out

    marked = np.zeros(places + min(n_items, places), bool)
    marked[place(known, known.item[known_begin:known_end])] = True
    return np.flatnonzero(marked.take(place(asked, asked.item[begin:end])))


def by_sorting(asked: Lists, known: Lists, block: tuple[int, int], chosen: Ints | None = None) -> BlockMatch:
    """The match of a block, or of the ``chosen`` rows in it.

    Both sides' rows are written as one number each, (query, item, side, row), and sorted: equal pairs then stand next
    to each other, a hit as asked and known, a duplicate as the same side twice.
    """
    first, last = block
    begin, end, known_begin, known_end = (int(side.start[at]) for side in (asked, known) for at in block)
    row_bits = max(end - begin, known_end - known_begin).bit_length()
    item_bits = int(max(asked.n_items, known.n_items)).bit_length()

    def packed(owner: Ints, item: Ints, side: int, row: Ints) -> Ints:
        out = owner << item_bits
        out |= item
        out <<= row_bits + 1
        out |= row if side == 0 else row + (1 << row_bits)
        return out

    item = asked.item[begin:end]
    if chosen is None:
        owner, row = asked.owner(first, last), np.arange(end - begin)
    else:
        owner = np.searchsorted(asked.start[first + 1 : last + 1] - begin, chosen, side="right")
        item, row = item.take(chosen), chosen
    known_row = np.arange(known_end - known_begin)
    both = np.concatenate(
        (packed(owner, item, 0, row), packed(known.owner(first, last), known.item[known_begin:known_end], 1, known_row))
    )
    both.sort()
    same = np.flatnonzero((both[1:] ^ both[:-1]) < 1 << (row_bits + 1))
    ahead, behind = both.take(same), both.take(same + 1)
    side, side_behind = ((of >> row_bits) & 1 for of in (ahead, behind))
    hit, only_row = side != side_behind, (1 << row_bits) - 1
    row, at = (ahead[hit] & only_row) + begin, (behind[hit] & only_row) + known_begin
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
    row, at, twice, twice_known = zip(*parts, strict=True)
    return BlockMatch(np.concatenate(row), np.concatenate(at), any(twice), any(twice_known))


def repeated(lists: Lists) -> Ints:
    """The rows whose item stood in the list already."""
    pair = lists.owner() * np.int64(lists.n_items) + lists.item
    order = np.argsort(pair, kind="stable")
    again = np.flatnonzero(pair[order[1:]] == pair[order[:-1]]) + 1
    return np.sort(order[again])


def located(asked: Lists, known: Lists) -> tuple[Ints, Ints]:
    """The rows of ``asked`` that are in ``known``, rising, and where; no list has an item twice."""
    if len(asked) >= len(known):
        found = match(asked, known, once=True)
        return found.row, found.at
    found = match(known, asked, once=True)  # the longer side is looked up: most of its rows are not sorted
    order = np.argsort(found.at)
    return found.at[order], found.row[order]


def place_in(known: Lists, query: Ints, item: Ints) -> Ints:
    """The place of each item in its query's list of known ones, from 1; 0 where it is not there. Queries rise."""
    asked = Lists.of(np.bincount(query, minlength=known.n_queries), item, known.n_items)
    row, at = located(asked, known)
    place = np.zeros(len(query), np.int64)
    place[row] = at - known.start[query[row]] + 1
    return place
