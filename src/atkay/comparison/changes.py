"""Changes: what differs between the top k of two runs, for each user and each item. NumPy only."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from atkay.comparison.overlap import common_items
from atkay.core.kernels import within
from atkay.core.lists import Lists, in_threads, mask, rows_between

if TYPE_CHECKING:
    from atkay.comparison.overlap import CommonItems
    from atkay.core.lists import Match
    from atkay.core.types import Bools, Ints

COUNTS = ("kept", "entered", "left", "up", "down")
"""What is counted for each user and each item: items that both top k have, which may have moved up or down, and items
that one of them has."""


class Changes(NamedTuple):
    """What changed in the top k.

    ``of_users`` has a row per user and the columns of :data:`COUNTS`; ``of_relevant`` the same of relevant items alone,
    where there is truth; ``of_items`` has a row per item. ``first`` is the first rank at which the lists differ, 0
    where they do not.
    """

    of_users: Ints
    of_relevant: Ints | None
    of_items: Ints
    first: Ints


def find_changes(one: Lists, other: Lists, matched: Match, k: int, relevant: tuple[Bools, Bools] | None) -> Changes:
    """What changed from the top k of one run to that of the other; ``relevant`` flags the rows of both."""
    n = one.n_queries
    of_users, differ = np.zeros((n, len(COUNTS)), np.int64), np.zeros(n, np.int64)
    of_relevant = None if relevant is None else np.zeros_like(of_users)

    def of_block(block: tuple[int, int]) -> list[Ints]:
        here, shared = slice(*block), common_items(one, other, matched, block)
        row = one.start[here].take(shared.query) + shared.rank - 1
        at = other.start[here].take(shared.query) + shared.other - 1
        both = np.maximum(shared.rank, shared.other) <= k
        kinds = (
            (one, row[both]),
            (other, _without(_top(other, block, k), at[both])),
            (one, _without(_top(one, block, k), row[both])),
            (one, row[both & (shared.other < shared.rank)]),
            (one, row[both & (shared.other > shared.rank)]),
        )
        of_users[here] = np.column_stack([_per_query(lists, block, rows) for lists, rows in kinds])
        if of_relevant is not None and relevant is not None:
            flags = [relevant[lists is other] for lists, _ in kinds]
            of_relevant[here] = np.column_stack(
                [_per_query(lists, block, rows[flag[rows]]) for (lists, rows), flag in zip(kinds, flags, strict=True)]
            )
        differ[here] = _first_difference(shared, k)
        return [lists.item[rows] for lists, rows in kinds]

    blocks = in_threads(of_block, one.blocks(other))
    of_items = np.column_stack(
        [np.bincount(np.concatenate(codes), minlength=one.n_items) for codes in zip(*blocks, strict=True)]
    )
    return Changes(of_users, of_relevant, of_items, differ)


def _top(lists: Lists, block: tuple[int, int], k: int) -> Ints:
    """The rows of the top k."""
    here = slice(*block)
    return rows_between(lists.start[:-1][here], np.minimum(lists.length[here], k))


def _without(rows: Ints, others: Ints) -> Ints:
    """The rows but for some of them; they rise."""
    if not len(rows):
        return rows
    place = rows - rows[0]
    kept: Ints = rows[~mask(others - rows[0], int(place[-1]) + 1)[place]]
    return kept


def _per_query(lists: Lists, block: tuple[int, int], rows: Ints) -> Ints:
    """How many of the rows each query of the block has."""
    owner = np.searchsorted(lists.start, rows, side="right") - 1 - block[0]
    return np.bincount(owner, minlength=block[1] - block[0])


def _first_difference(shared: CommonItems, k: int) -> Ints:
    """The first rank at which the lists of each query differ, 0 where there is none."""
    fixed = shared.rank == shared.other
    query, rank = shared.query[fixed], shared.rank[fixed]
    same = np.bincount(query[within(query) == rank], minlength=len(shared.length))
    ends = np.minimum(np.maximum(shared.length, shared.other_length), k)
    return np.where(same < ends, same + 1, 0)
