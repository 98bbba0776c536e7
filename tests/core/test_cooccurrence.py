"""Which items share users, against a product of matrices."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from atkay.core.cooccurrence import Pairs
from atkay.core.lists import Lists


@given(st.lists(st.sets(st.integers(0, 149), max_size=12), max_size=12))
def test_as_the_product(users: list[set[int]]) -> None:
    seen = np.zeros((len(users), 150), np.int64)
    for row, items in zip(seen, users, strict=True):
        row[list(items)] = 1
    item = np.array([item for items in users for item in items], np.int64)
    pairs = Pairs.of(Lists.of(np.array([len(items) for items in users], np.int64), item, 150))
    one, other = np.nonzero(~np.eye(150, dtype=bool))
    assert (pairs.shared(one, other) == (seen.T @ seen)[one, other]).all()


def test_a_catalogue_of_millions() -> None:
    # Two users share the first and the last item, one has a third beside them.
    item = np.array([0, 4_999_999, 0, 4_999_999, 2_500_000])
    pairs = Pairs.of(Lists.of(np.array([2, 3]), item, 5_000_000))
    assert len(pairs.near) == 3  # no more than there is
    one, other = np.array([0, 0, 2_500_000, 1]), np.array([4_999_999, 2_500_000, 4_999_999, 0])
    assert pairs.shared(one, other).tolist() == [2, 1, 1, 0]
