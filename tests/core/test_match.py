"""Match, both ways, against plain loops."""

from __future__ import annotations

from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from atkay.core.lists import Lists
from atkay.core.match import located, match, repeated

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


@given(
    pairs=queries | same_length,
    far=st.booleans(),
    few=st.sampled_from([-1, 2, 10**9]),
    block=st.sampled_from([4, 17, 10**6]),
)
def test_match(pairs: list[tuple[list[int], list[int]]], far: bool, few: int, block: int) -> None:
    recs, truth = ([[ITEMS[i] if far else i for i in pair[side]] for pair in pairs] for side in (0, 1))
    n_items = 2**58 if far else 12
    with patch("atkay.core.match.ROWS_PER_TRUTH_ROW", few), patch("atkay.core.lists.ROWS_PER_BLOCK", block):
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
        assert list(zip(matched.row, matched.at, strict=True)) == [
            (n, at.index(pair)) for n, pair in enumerate(row) if pair in at
        ]


@pytest.mark.parametrize("few", [-1, 10**9])
def test_many_rows_match_in_threads(few: int) -> None:
    """Query q lists the 40 items from q on and wants those from q + 30 to before q + 35: ranks 31 to 35 are hits."""
    n = 20_000
    first = np.arange(n)[:, None]
    recs = Lists.of(np.full(n, 40), (first + np.arange(40)).ravel(), n + 40)
    truth = Lists.of(np.full(n, 5), (first + np.arange(34, 29, -1)).ravel(), n + 40)
    with patch("atkay.core.match.ROWS_PER_TRUTH_ROW", few):
        matched = match(recs, truth)
    assert (matched.row.reshape(n, 5) == first * 40 + np.arange(30, 35)).all()
    assert (matched.at.reshape(n, 5) == first * 5 + np.arange(4, -1, -1)).all()
    assert matched.repeated == (False, False)


def test_match_with_more_items_than_one_number_has_room_for() -> None:
    """Queries of a block that leave no bits for the items are split, not run together."""
    n = 64
    even, odd = np.arange(n) % 2 == 0, np.arange(n) % 2 == 1
    recs = Lists.of(even.astype(int), np.full(n // 2, 3), 2**58)
    truth = Lists.of(odd.astype(int), np.full(n // 2, 3), 2**58)
    assert not len(match(recs, truth).row)
    assert match(recs, truth).repeated == (False, False)
    assert match(recs, recs).row.tolist() == list(range(n // 2))


@given(seed=st.integers(0, 200), few=st.integers(0, 3), many=st.integers(0, 60))
def test_items_are_located_whichever_side_is_longer(seed: int, few: int, many: int) -> None:
    rng = np.random.default_rng(seed)

    def lists(longest: int) -> Lists:
        rows = [rng.permutation(70)[: rng.integers(0, longest + 1)] for _ in range(5)]
        return Lists.of(np.array([len(row) for row in rows]), np.concatenate(rows), 70)

    for recs, truth in ((lists(few), lists(many)), (lists(many), lists(few))):
        pairs = list(zip(truth.owner().tolist(), truth.item.tolist(), strict=True))
        here = list(zip(recs.owner().tolist(), recs.item.tolist(), strict=True))
        row, at = located(recs, truth)
        assert row.tolist() == [n for n, pair in enumerate(here) if pair in pairs]
        assert at.tolist() == [pairs.index(pair) for pair in here if pair in pairs]
