"""Match: which listed items the truth knows, and which stand twice. NumPy and nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from atkay.lists import Lists, in_threads

if TYPE_CHECKING:
    from atkay.arrays import Ints


@dataclass(frozen=True, eq=False)
class Match:
    """Rows of one side whose pair of query and item stands on the other: ``row`` there is ``at`` here.

    ``row`` rises. ``repeated`` says for either side whether it has a pair twice; then the rows are not to be trusted.
    """

    row: Ints
    at: Ints
    repeated: tuple[bool, bool]


def match(asked: Lists, known: Lists) -> Match:
    """The rows of ``asked`` that are in ``known``, and where.

    For a block of queries both sides' rows are written as one number each, (query, item, side, row), and sorted: equal
    pairs then stand next to each other, a hit as asked and known, a duplicate as the same side twice.
    """

    def of_block(block: tuple[int, int]) -> tuple[Ints, Ints, bool, bool]:
        first, last = block
        sides = (asked, known)
        rows = [(side.start[first], side.start[last]) for side in sides]
        row_bits = max(int(end - begin) for begin, end in rows).bit_length()
        item_bits = int(max(asked.n_items, known.n_items)).bit_length()
        if (last - first).bit_length() + item_bits + row_bits + 1 > 63 and last - first > 1:
            middle = (first + last) // 2
            return _joined([of_block((first, middle)), of_block((middle, last))])
        parts = []
        for tag, (side, (begin, end)) in enumerate(zip(sides, rows, strict=True)):
            part = side.owner(first, last)
            part <<= item_bits
            part |= side.item[begin:end]
            part <<= row_bits + 1
            part |= np.arange(tag << row_bits, (tag << row_bits) + (end - begin))
            parts.append(part)
        packed = np.concatenate(parts)
        packed.sort()
        pair = packed >> (row_bits + 1)
        same = np.flatnonzero(pair[1:] == pair[:-1])
        ahead, behind = packed[same], packed[same + 1]
        side_of = ((ahead >> row_bits) & 1, (behind >> row_bits) & 1)
        mask = (1 << row_bits) - 1
        hit = side_of[0] != side_of[1]
        row, at = (ahead[hit] & mask) + rows[0][0], (behind[hit] & mask) + rows[1][0]
        order = np.argsort(row)
        return row[order], at[order], bool((side_of[1] == 0).any()), bool((side_of[0] == 1).any())

    row, at, twice, twice_known = _joined(in_threads(of_block, asked.blocks(known)))
    return Match(row, at, (twice, twice_known))


def _joined(parts: list[tuple[Ints, Ints, bool, bool]]) -> tuple[Ints, Ints, bool, bool]:
    row, at, twice, twice_known = zip(*parts, strict=True)
    return np.concatenate(row), np.concatenate(at), any(twice), any(twice_known)


def repeated(lists: Lists) -> Ints:
    """The rows whose item stood in the list already."""
    pair = lists.owner() * np.int64(lists.n_items) + lists.item
    order = np.argsort(pair, kind="stable")
    again = np.flatnonzero(pair[order[1:]] == pair[order[:-1]]) + 1
    return np.sort(order[again])
