"""The order of rows in their lists, against NumPy's own sort."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from atkay.lists import Lists, group
from atkay.match import match, repeated
from atkay.ranking import by_rank, by_score, steps

close = st.integers(0, 5).map(lambda n: float(np.nextafter(1.0, 2.0, dtype=float)) if n == 0 else 1.0 + n * 2.0**-52)
floats = st.floats(allow_nan=False, allow_infinity=False) | close | st.sampled_from([0.0, -0.0, 5e-324, -5e-324, 1e308])
lengths = st.lists(st.integers(0, 6), min_size=1, max_size=8)
blocks = st.sampled_from([1, 4, 1 << 15])


def lists_of(length: list[int], item: Any = None) -> Lists:
    item = np.arange(sum(length)) if item is None else np.asarray(item)
    return Lists.of(np.array(length), item, int(item.max(initial=0)) + 1)


@given(
    length=lengths,
    data=st.data(),
    kind=st.sampled_from(["float64", "float32", "int64", "int8", "uint64"]),
    block=blocks,
    tie=st.booleans(),
)
def test_by_score(length: list[int], data: st.DataObject, kind: str, block: int, tie: bool) -> None:
    dtype, n = np.dtype(kind), sum(length)
    info = None if dtype.kind == "f" else np.iinfo(dtype)
    values = floats if info is None else st.integers(int(info.min), int(info.max)) | st.integers(0, 3)
    drawn = data.draw(st.lists(values, min_size=n, max_size=n))
    with np.errstate(over="ignore"):
        score = np.array(drawn).astype(dtype) if dtype.kind == "f" else np.array(drawn, dtype=dtype)
    score = np.where(np.isfinite(score), score, 0) if dtype.kind == "f" else score
    breaker = np.array(data.draw(st.lists(st.integers(-2, 2), min_size=n, max_size=n)), dtype=int) if tie else None
    lists = lists_of(length)
    falling = np.unique(score, return_inverse=True)[1] * -1  # dense ranks, so that nothing is lost by negating
    keys = (falling, lists.owner()) if breaker is None else (breaker, falling, lists.owner())
    with patch("atkay.lists.BLOCK", block):
        order = by_score(lists, score, breaker)
        found = steps(lists, score[order])
    assert order.tolist() == np.lexsort(keys).tolist()
    assert not len(found.rising)
    ordered, owner = score[order], lists.owner()
    assert found.equal.tolist() == [
        row for row in range(1, n) if owner[row] == owner[row - 1] and ordered[row] == ordered[row - 1]
    ]


@given(length=lengths, seed=st.integers(0, 999), block=blocks)
def test_by_rank(length: list[int], seed: int, block: int) -> None:
    rng = np.random.default_rng(seed)
    lists = lists_of(length)
    rank = np.concatenate([np.empty(0, int), *(rng.permutation(n) + 1 for n in length)])
    with patch("atkay.lists.BLOCK", block):
        order, wrong = by_rank(lists, rank)
        straight, _ = by_rank(lists, np.concatenate([np.empty(0, int), *(np.arange(n) + 1 for n in length)]))
    assert wrong == -1
    assert straight is None
    expected = np.lexsort((rank, lists.owner()))
    assert (order if order is not None else np.arange(len(rank))).tolist() == expected.tolist()


@pytest.mark.parametrize("block", [1, 1 << 15])
@pytest.mark.parametrize(
    ("rank", "query"), [([1, 2, 1, 3], 2), ([1, 1, 1, 2], 0), ([1, 2, 0, 1], 2), ([1, 2, 2, 2], 2)]
)
def test_by_rank_names_a_query_whose_ranks_are_wrong(rank: list[int], query: int, block: int) -> None:
    with patch("atkay.lists.BLOCK", block):
        assert by_rank(lists_of([2, 0, 2]), np.array(rank)) == (None, query)


@given(query=st.lists(st.integers(0, 5), max_size=20))
def test_group(query: list[int]) -> None:
    codes = np.array(query, dtype=int)
    length, order = group(codes, 6)
    assert length.tolist() == [query.count(code) for code in range(6)]
    expected = np.argsort(codes, kind="stable").tolist()
    assert (list(range(len(query))) if order is None else order.tolist()) == expected
    assert (order is None) == (query == sorted(query))


pairs = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 6)), max_size=25)


@given(asked=pairs, known=pairs, block=blocks, unique=st.booleans(), n_items=st.sampled_from([7, 2**58, 2**40]))
def test_match(
    asked: list[tuple[int, int]], known: list[tuple[int, int]], block: int, unique: bool, n_items: int
) -> None:
    if unique:
        asked, known = list(dict.fromkeys(asked)), list(dict.fromkeys(known))
    asked, known = (sorted(side, key=lambda pair: pair[0]) for side in (asked, known))

    def as_lists(side: list[tuple[int, int]]) -> Lists:
        owner = np.array([query for query, _ in side], dtype=int)
        return Lists.of(np.bincount(owner, minlength=5), np.array([item for _, item in side], dtype=int), n_items)

    with patch("atkay.lists.BLOCK", block):
        found = match(as_lists(asked), as_lists(known))
    assert found.repeated == (len(set(asked)) < len(asked), len(set(known)) < len(known))
    assert repeated(as_lists(asked)).tolist() == [n for n, pair in enumerate(asked) if pair in asked[:n]]
    if not any(found.repeated):
        hits = [(n, known.index(pair)) for n, pair in enumerate(asked) if pair in known]
        assert list(zip(found.row.tolist(), found.at.tolist(), strict=True)) == hits


def test_only_and_concatenate() -> None:
    lists = lists_of([2, 0, 3])
    left = lists.only(np.array([True, False, False, True, True]))
    assert (left.length.tolist(), left.item.tolist()) == ([1, 0, 2], [0, 3, 4])
    both = Lists.concatenate([left, lists_of([1])])
    assert (both.start.tolist(), both.item.tolist()) == ([0, 1, 1, 3, 4], [0, 3, 4, 0])


def test_match_with_more_items_than_one_number_has_room_for() -> None:
    """Queries of a block that leave no bits for the items are split, not run together."""
    n = 64
    even, odd = np.arange(n) % 2 == 0, np.arange(n) % 2 == 1
    asked = Lists.of(even.astype(int), np.full(n // 2, 3), 2**58)
    known = Lists.of(odd.astype(int), np.full(n // 2, 3), 2**58)
    assert not len(match(asked, known).row)
    assert match(asked, known).repeated == (False, False)
    assert match(asked, asked).row.tolist() == list(range(n // 2))
