"""Subtopics of pairs of query and item: found, cut and joined."""

from __future__ import annotations

import numpy as np

from atkay.core.lists import Lists
from atkay.judged.subtopics import Subtopics

# Query 0 has item 4 with subtopics 0 and 2; query 1 nothing; query 2 item 1 with 1, and item 4 with 0 and 1.
ALL = Subtopics(
    Lists.of(np.array([1, 0, 2]), np.array([4, 1, 4]), 5),
    Lists.of(np.array([2, 1, 2]), np.array([0, 2, 1, 0, 1]), 3),
    lambda: np.arange(5)[::-1],
)


def shown(some: Subtopics) -> list[dict[int, list[int]]]:
    """The subtopics of each item, query by query."""
    of_row = [
        some.of_row.item[some.of_row.start[row] : some.of_row.start[row + 1]].tolist() for row in range(len(some.items))
    ]
    return [
        {int(some.items.item[row]): of_row[row] for row in range(some.items.start[query], some.items.start[query + 1])}
        for query in range(some.items.n_queries)
    ]


def test_rows() -> None:
    assert ALL.rows(np.array([2, 0, 2]), np.array([4, 4, 1])).tolist() == [2, 0, 1]
    assert ALL.text_order.tolist() == [4, 3, 2, 1, 0]


def test_some_queries() -> None:
    assert shown(ALL) == [{4: [0, 2]}, {}, {1: [1], 4: [0, 1]}]
    assert shown(ALL.part(1, 3)) == [{}, {1: [1], 4: [0, 1]}]
    picked = ALL.pick(np.array([2, 1, 0]))
    assert shown(picked) == [{1: [1], 4: [0, 1]}, {}, {4: [0, 2]}]
    assert picked.rows(np.array([0, 2]), np.array([4, 4])).tolist() == [1, 2]


def test_parts_with_different_subtopics() -> None:
    few = Subtopics(
        Lists.of(np.array([1]), np.array([3]), 5), Lists.of(np.array([1]), np.array([0]), 1), ALL.find_text_order
    )
    joined = Subtopics.concatenate([few, ALL])
    assert shown(joined) == [{3: [0]}, {4: [0, 2]}, {}, {1: [1], 4: [0, 1]}]
    assert joined.of_row.n_items == 3
