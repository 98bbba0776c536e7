"""The order of rows in their lists, against NumPy's own sort."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from atkay.core.kernels import by_score, steps
from atkay.core.lists import Lists
from atkay.core.order import Moved, by_rank, together

close = st.integers(0, 5).map(lambda n: float(np.nextafter(1.0, 2.0, dtype=float)) if n == 0 else 1.0 + n * 2.0**-52)
floats = st.floats(allow_nan=False, allow_infinity=False) | close | st.sampled_from([0.0, -0.0, 5e-324, -5e-324, 1e308])
lengths = st.lists(st.integers(0, 6), min_size=1, max_size=8)


def lists_of(length: list[int], item: Any = None) -> Lists:
    item = np.arange(sum(length)) if item is None else np.asarray(item)
    return Lists.of(np.array(length), item, int(item.max(initial=0)) + 1)


@given(
    length=lengths,
    data=st.data(),
    kind=st.sampled_from(["float64", "float32", "int64", "int8", "uint64"]),
    tie=st.booleans(),
)
def test_by_score(length: list[int], data: st.DataObject, kind: str, tie: bool) -> None:
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
    order = by_score(lists, score, breaker)
    score_steps = steps(lists, score[order])
    assert order.tolist() == np.lexsort(keys).tolist()
    assert score_steps.rising == -1
    ordered, owner = score[order], lists.owner()
    assert score_steps.equal.tolist() == [
        row for row in range(1, n) if owner[row] == owner[row - 1] and ordered[row] == ordered[row - 1]
    ]


@given(length=lengths, seed=st.integers(0, 999))
def test_only_ties_move(length: list[int], seed: int) -> None:
    rng = np.random.default_rng(seed)
    lists = lists_of(length)
    score = np.concatenate([np.empty(0), *(-np.sort(rng.integers(0, 3, n)).astype(float) for n in length)])
    breaker = rng.integers(-2, 3, len(lists))
    order, equal = by_score(lists, score, breaker), steps(lists, score).equal
    if len(equal):
        moved = Moved.among_equal(equal, breaker.take)
        assert moved.take(lists.item).tolist() == lists.item[order].tolist()
        assert moved.take(lists.item)[moved.places(np.arange(len(lists)))].tolist() == lists.item.tolist()


@given(length=lengths, seed=st.integers(0, 999))
def test_by_rank(length: list[int], seed: int) -> None:
    rng = np.random.default_rng(seed)
    lists = lists_of(length)
    rank = np.concatenate([np.empty(0, int), *(rng.permutation(n) + 1 for n in length)])
    order, wrong = by_rank(lists, rank)
    straight, _ = by_rank(lists, np.concatenate([np.empty(0, int), *(np.arange(n) + 1 for n in length)]))
    assert wrong == -1
    assert straight is None
    expected = np.lexsort((rank, lists.owner()))
    from_zero, none_wrong = by_rank(lists, rank - 1)
    assert (none_wrong, from_zero is None) == (-1, order is None)
    assert from_zero is None or from_zero.tolist() == expected.tolist()
    assert (order if order is not None else np.arange(len(rank))).tolist() == expected.tolist()


@pytest.mark.parametrize(
    ("rank", "query"), [([1, 2, 1, 3], 2), ([1, 1, 1, 2], 0), ([1, 2, 0, 1], 0), ([0, 1, 1, 2], 2), ([1, 2, 2, 2], 2)]
)
def test_by_rank_names_a_query_whose_ranks_are_wrong(rank: list[int], query: int) -> None:
    assert by_rank(lists_of([2, 0, 2]), np.array(rank)) == (None, query)


@given(
    rows=st.lists(st.tuples(st.integers(0, 5), st.sampled_from([-0.0, 0.0, 0.5, 1.0])), max_size=20),
    scored=st.booleans(),
)
def test_together(rows: list[tuple[int, float]], scored: bool) -> None:
    query, score = np.array([q for q, _ in rows], dtype=int), np.array([score for _, score in rows])
    order, start, equal = together(query, 6, score if scored else None)
    assert start.tolist() == [sum(q < code for q, _ in rows) for code in range(7)]
    keys = (-score, query) if scored else (query,)
    assert order.tolist() == np.lexsort(keys).tolist()
    ordered = [rows[n] for n in order]
    assert equal.tolist() == [n for n in range(1, len(rows)) if scored and ordered[n] == ordered[n - 1]]


def test_together_tells_scores_apart_that_differ_in_their_last_bit() -> None:
    """Beside 2^20 queries and rows 64 bits have no room for all of a float."""
    n, near = 1 << 20, np.nextafter(1.1, 2.0)
    score = np.concatenate((np.zeros(n), [1.1, near, 2.0, 1.1, near], [1.1, 1.1, 3.0]))
    query = np.concatenate((np.arange(n), [7] * 5, [8] * 3))
    order, start, equal = together(query, n, score)
    assert equal.tolist() == [start[7] + 2, start[7] + 4, start[8] + 2]
    assert order[start[7] : start[8]].tolist() == [n + 2, n + 1, n + 4, n, n + 3, 7]
    assert order[start[8] : start[9]].tolist() == [n + 7, n + 5, n + 6, 8]
    assert order.tolist() == np.lexsort((-score, query)).tolist()


def test_only_and_concatenate() -> None:
    lists = lists_of([2, 0, 3])
    left = lists.only(np.array([True, False, False, True, True]))
    assert (left.length.tolist(), left.item.tolist()) == ([1, 0, 2], [0, 3, 4])
    both = Lists.concatenate([left, lists_of([1])])
    assert (both.start.tolist(), both.item.tolist()) == ([0, 1, 1, 3, 4], [0, 3, 4, 0])
