"""Match against plain loops."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from atkay.core.kernels import match
from atkay.core.lists import Lists
from atkay.core.match import place_in, repeated

Queries = list[list[int]]

queries = st.lists(st.tuples(*(st.lists(st.integers(0, 11), max_size=12) for _ in range(2))), max_size=9)
same_length = st.integers(1, 6).flatmap(
    lambda n: st.lists(
        st.tuples(st.lists(st.integers(0, 11), min_size=n, max_size=n), st.lists(st.integers(0, 11), max_size=4)),
        max_size=9,
    )
)
ITEMS = [0, 1, 2, 3, 4096, 4097, 65535, 65536, 2**31, 2**32 + 5, 2**40, 2**40 + 1]
"""Far apart, and equal in their last bits, so that they meet in the table."""


def lists(of_queries: Queries, n_items: int) -> Lists:
    item = [item for one in of_queries for item in one]
    return Lists.of(np.array([len(one) for one in of_queries], np.int64), np.array(item, np.int64), n_items)


@given(pairs=queries | same_length, far=st.booleans())
def test_match(pairs: list[tuple[list[int], list[int]]], far: bool) -> None:
    recs, truth = ([[ITEMS[i] if far else i for i in pair[side]] for pair in pairs] for side in (0, 1))
    n_items = 2**58 if far else 12
    matched = match(lists(recs, n_items), lists(truth, n_items))
    twice = [any(len(set(one)) < len(one) for one in side) for side in (recs, truth)]
    assert list(matched.repeated) == twice
    places = [(n, item, one) for one in recs for n, item in enumerate(one)]
    assert repeated(lists(recs, n_items)).tolist() == [
        row for row, (n, item, one) in enumerate(places) if item in one[:n]
    ]
    if not any(twice):
        row = [(q, item) for q, one in enumerate(recs) for item in one]
        at = [(q, item) for q, one in enumerate(truth) for item in one]
        assert matched.query.tolist() == [row[n][0] for n in matched.row]
        assert list(zip(matched.row, matched.at, strict=True)) == [
            (n, at.index(pair)) for n, pair in enumerate(row) if pair in at
        ]


def test_many_rows_match_in_threads() -> None:
    """Query q lists the 40 items from q on and wants those from q + 30 to before q + 35: ranks 31 to 35 are hits."""
    n = 20_000
    first = np.arange(n)[:, None]
    recs = Lists.of(np.full(n, 40), (first + np.arange(40)).ravel(), n + 40)
    truth = Lists.of(np.full(n, 5), (first + np.arange(34, 29, -1)).ravel(), n + 40)
    matched = match(recs, truth)
    assert (matched.row.reshape(n, 5) == first * 40 + np.arange(30, 35)).all()
    assert (matched.at.reshape(n, 5) == first * 5 + np.arange(4, -1, -1)).all()
    assert matched.repeated == (False, False)


@given(seed=st.integers(0, 200), few=st.integers(0, 3), many=st.integers(0, 60))
def test_the_place_of_items_in_other_lists(seed: int, few: int, many: int) -> None:
    rng = np.random.default_rng(seed)

    def lists(longest: int) -> Lists:
        rows = [rng.permutation(70)[: rng.integers(0, longest + 1)] for _ in range(5)]
        return Lists.of(np.array([len(row) for row in rows]), np.concatenate(rows), 70)

    for one, other in ((lists(few), lists(many)), (lists(many), lists(few))):
        of_other = [other.part(q, q + 1).item.tolist() for q in range(5)]
        assert place_in(other, one.owner(), one.item).tolist() == [
            of_other[q].index(item) + 1 if item in of_other[q] else 0
            for q, item in zip(one.owner().tolist(), one.item.tolist(), strict=True)
        ]
