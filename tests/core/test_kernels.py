"""The compiled kernels against their twins in NumPy, on one thread and on several, bit by bit."""

from __future__ import annotations

import inspect
import itertools
import os
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from atkay.core import reference
from atkay.core.lists import Lists
from atkay.core.native import kernels
from atkay.core.native.arrow import ArrowColumn
from atkay.core.native.library import LIBRARY, VARIABLE, address
from kernel_threads import on

pytestmark = pytest.mark.skipif(LIBRARY is None, reason="the kernels are not built: no C compiler was there")

THREAD_SANITIZER = "tsan" in os.environ.get(VARIABLE, "")
"""Polars does not load next to it."""

seeds = st.integers(0, 2**32 - 1)
workers = st.sampled_from([1, 2, 5])


def drawn(rng: np.random.Generator, queries: int, *, n_items: int = 40, once: bool = True) -> Lists:
    """Lists of random length, with each item at most once, or often."""
    rows = [rng.choice(min(n_items, 40), rng.integers(0, 16), replace=not once) for _ in range(queries)]
    item = np.concatenate([np.empty(0, np.int64), *rows]).astype(rng.choice(["i4", "i8"]))
    return Lists.of(np.array([len(row) for row in rows], np.int64), item + (n_items - min(n_items, 40)), n_items)


def chunked(rng: np.random.Generator, values: Any) -> Any:
    """The same values in some chunks, some of them empty, or as they are where kernels take no chunks of them."""
    if len(values) == 0 or rng.random() < 0.3 or THREAD_SANITIZER:
        return values
    import polars as pl

    series = pl.Series(values)
    if series.dtype not in (pl.Int32, pl.Int64, pl.Float32, pl.Float64, pl.String):
        return values
    edges = [0, *np.sort(rng.integers(0, len(series) + 1, rng.integers(0, 9))).tolist(), len(series)]
    # Each chunk has memory of its own: slices would lie one behind the other, and reading past an end would go unseen.
    chunks = [pl.Series(series[a:b].to_list(), dtype=series.dtype) for a, b in itertools.pairwise(edges)]
    return ArrowColumn(pl.concat(chunks, rechunk=False))


def scores(rng: np.random.Generator, rows: int) -> Any:
    """Scores of any type, with ties, zeros of both signs, and some that differ in their last bit alone."""
    kind = rng.choice(["f8", "f4", "f2", "g", ">f8", "i8", "i4", ">i4", "u8", "u1"])
    if np.dtype(kind).kind == "f":
        near = np.array([0.0, -0.0, 1.0, np.nextafter(1.0, 2.0), -1.0, 5e-324, 1e300, -1e300])
        with np.errstate(over="ignore"):
            score = np.where(rng.random(rows) < 0.5, rng.choice(near, rows), rng.normal(size=rows)).astype(kind)
        return np.where(np.isfinite(score), score, np.asarray(7, kind))
    info = np.iinfo(kind)
    return rng.choice(np.array([info.min, info.max, 0, 1, 2], kind), rows)


def test_every_kernel_has_a_twin() -> None:
    own = [each for each in vars(kernels).values() if getattr(each, "__module__", "") == kernels.__name__]
    public = {each.__name__: each for each in own if not each.__name__.startswith("_")}
    assert len(public) > 20
    for name, kernel in public.items():
        assert list(inspect.signature(kernel).parameters) == list(
            inspect.signature(getattr(reference, name)).parameters
        )


@given(seed=seeds, threads=workers)
def test_ids(seed: int, threads: int) -> None:
    rng = np.random.default_rng(seed)
    ids = np.repeat(rng.integers(-5, 5, 30), rng.integers(0, 40, 30)).astype(rng.choice(["i4", "i8", "i2", "u4"]))
    marked, code = rng.random(10) < 0.5, (ids.astype(np.int64) % 10).astype(rng.choice(["i4", "i8"]))
    order = rng.permutation(len(ids))
    with on(threads):
        column = chunked(rng, ids)
        if len(ids):
            assert kernels.span(column) == reference.span(ids)
            low, high = reference.span(ids)
        if len(ids) and high < 9:
            size = high - low + 1
            assert kernels.mark(column, low, size).tolist() == reference.mark(ids, low, size).tolist()
        for lookup in (None, rng.permutation(6)):
            wide = chunked(rng, ids.astype(np.int64))
            assert kernels.codes(wide, -2, 6, lookup).tolist() == reference.codes(wide, -2, 6, lookup).tolist()
        assert kernels.changes(column).tolist() == reference.changes(ids).tolist()
        assert kernels.count(marked, code) == reference.count(marked, code)
        assert kernels.find(marked, code).tolist() == reference.find(marked, code).tolist()
        start = np.unique(np.concatenate(([0, len(ids)], rng.integers(0, len(ids) + 1, 5))))
        shuffled = rng.permutation(len(start) - 1)
        first, after = start[:-1][shuffled], np.concatenate(([0], np.cumsum(np.diff(start)[shuffled])))
        for values in (ids, ids.astype(bool), ids.astype("c16")):
            native, plain = (of.take_runs(values, first, after).tolist() for of in (kernels, reference))
            assert native == plain
            assert kernels.take(values, order).tolist() == reference.take(values, order).tolist()


def test_ids_at_the_ends_of_their_range() -> None:
    for low, kind in ((-(2**63), np.int64), (2**63 - 4, np.int64), (-(2**31), np.int32), (2**31 - 4, np.int32)):
        ids: Any = np.array([low, low + 3, low], kind)
        with on(2):
            assert kernels.span(ids) == (low, low + 3)
            assert kernels.mark(ids, low, 4).tolist() == [True, False, False, True]
            assert kernels.codes(ids, low, 3).tolist() == [0, -1, 0]


@given(seed=seeds, threads=workers, n_items=st.sampled_from([40, 300_000, 2**40]), once=st.booleans())
def test_match(seed: int, threads: int, n_items: int, once: bool) -> None:
    rng = np.random.default_rng(seed)
    queries = int(rng.integers(0, 200))
    lists, truth = (drawn(rng, queries, n_items=min(n_items, 2**30), once=once) for _ in range(2))
    lists, truth = (Lists(each.start, each.item, n_items) for each in (lists, truth))
    names = rng.integers(0, 2**63, n_items).astype(np.uint64) if n_items == 40 else None
    numbers = (names, 3, None)[seed % 3]
    with on(threads):
        native = kernels.match(lists, truth, numbers)
    plain = reference.match(lists, truth, numbers)
    assert native.repeated == plain.repeated
    if native.hashes is not None and plain.hashes is not None:
        assert native.hashes.tolist() == plain.hashes.tolist()
    if not any(plain.repeated):
        for one, other in zip(native[:4], plain[:4], strict=True):
            assert one.tolist() == other.tolist()


@given(seed=seeds, threads=workers)
def test_order_within_lists(seed: int, threads: int) -> None:
    rng = np.random.default_rng(seed)
    lists = drawn(rng, 9, once=False)
    score = scores(rng, len(lists))
    tie = (None, rng.integers(-3, 3, len(lists)), rng.random(len(lists)).round(1))[seed % 3]
    with on(threads):
        order = kernels.by_score(lists, score, tie)
        assert order.tolist() == reference.by_score(lists, score, tie).tolist()
        column = chunked(rng, score)
        assert column.take(order).tolist() == score[order].tolist()
        for given_order in (None, order, rng.permutation(len(lists))):
            native, plain = (of.steps(lists, column, given_order) for of in (kernels, reference))
            assert (native.rising, native.equal.tolist()) == (plain.rising, plain.equal.tolist())


@given(seed=seeds, threads=workers)
def test_rows_that_stand_anywhere(seed: int, threads: int) -> None:
    rng = np.random.default_rng(seed)
    rows, queries, low, n_items = int(rng.integers(0, 400)), int(rng.integers(1, 90)), int(rng.integers(-9, 9)), 77
    query = (low + rng.integers(0, queries, rows) ** 2 // queries).astype(rng.choice(["i4", "i8"]))
    item = (None, rng.integers(0, n_items, rows).astype(rng.choice(["i4", "i8"])))[seed % 2]
    score = (None, scores(rng, rows))[seed // 2 % 2]
    with on(threads):
        native = kernels.arrange(query, low, queries, item, n_items, None if score is None else chunked(rng, score))
    plain = reference.arrange(query, low, queries, item, n_items, score)
    for one, other in zip(native, plain, strict=True):
        assert one.tolist() == other.tolist()


def test_many_scores_that_differ_in_later_bits() -> None:
    """One list of 100,000 rows: the leading bits say nothing, and sorting must not take a quadratic time."""
    score = 1.0 + np.random.default_rng(0).permutation(100_000) * 2.0**-52
    score[7] = -1e300
    with on(2):
        start, order, _ = kernels.arrange(np.zeros(len(score), np.int64), 0, 1, None, 0, score)
    assert order.tolist() == np.argsort(-score, kind="stable").tolist()
    assert start.tolist() == [0, 100_000]


@given(seed=seeds, threads=workers)
def test_sums(seed: int, threads: int) -> None:
    rng = np.random.default_rng(seed)
    queries = int(rng.integers(1, 60))
    query = np.sort(rng.integers(0, queries, rng.integers(0, 300)))
    query = query if rng.random() < 0.9 else rng.permutation(query)
    rank, weights = rng.integers(1, 20, len(query)), (None, rng.normal(size=len(query)))[seed % 2]
    cutoffs = rng.integers(1, 25, rng.integers(1, 7)).tolist()
    with on(threads):
        native = kernels.sums(query, rank, weights, cutoffs, queries)
    assert native.tolist() == reference.sums(query, rank, weights, cutoffs, queries).tolist()


@given(seed=seeds, threads=workers, whole=st.booleans(), wide=st.booleans())
def test_divide(seed: int, threads: int, whole: bool, wide: bool) -> None:
    rng = np.random.default_rng(seed)
    queries, columns = int(rng.integers(0, 50)), int(rng.integers(1, 5))
    above = rng.normal(size=(columns, queries)).T
    below = rng.integers(0, 3, (queries, columns if wide else 1)).astype(int if whole else float)
    with on(threads):
        for denominator in (below, np.broadcast_to(below, above.shape), np.broadcast_to(2.0, above.shape)):
            native, plain = (of.divide(above, denominator, np.nan) for of in (kernels, reference))
            for of in (kernels, reference):
                whole_matrix = np.ones((queries, columns + 2), order="F")
                assert of.divide(above, denominator, np.nan, whole_matrix[:, 1:-1]).base is not None
                assert np.array_equal(whole_matrix[:, 1:-1], plain, True)
                assert (whole_matrix[:, [0, -1]] == 1).all()
            assert native.tobytes() == np.ascontiguousarray(plain).tobytes() or np.array_equal(native, plain, True)


@given(seed=seeds, threads=workers, in_order=st.sampled_from("CF"))
def test_group_sums(seed: int, threads: int, in_order: Any) -> None:
    rng = np.random.default_rng(seed)
    rows, columns, groups = int(rng.integers(0, 50)), int(rng.integers(0, 11)), int(rng.integers(1, 5))
    values = np.where(rng.random((rows, columns)) < 0.2, np.nan, rng.normal(size=(rows, columns)))
    values, group = np.asarray(values, order=in_order), rng.integers(-1, groups, rows)
    with on(threads):
        for native, plain in zip(*(of.group_sums(values, group, groups) for of in (kernels, reference)), strict=True):
            assert native.shape == plain.shape == (groups, columns)
            assert native.tobytes() == plain.tobytes()


def test_group_sums_by_hand() -> None:
    # Group 1: 2 + 8, with one number less in the second column; group 0 has no row; the row of group -1 is left out.
    values = np.array([[2.0, np.nan], [4.0, 5.0], [8.0, 16.0]])
    for of in (kernels, reference):
        sums, counts = of.group_sums(values, np.array([1, -1, 1]), 2)
        assert sums.tolist() == [[0, 0], [10, 16]]
        assert counts.tolist() == [[0, 0], [2, 1]]


@given(seed=seeds, threads=workers)
def test_exact_sums(seed: int, threads: int) -> None:
    rng = np.random.default_rng(seed)
    shape = int(rng.integers(1, 4)), int(rng.integers(0, 60))
    extreme = np.array([0.0, -0.0, 5e-324, -5e-324, 1.7e308, -1.7e308, 1.0, 0.1])
    one, other = (
        np.where(rng.random(shape) < 0.5, rng.choice(extreme, shape), rng.normal(size=shape)) for _ in range(2)
    )
    with on(threads):
        assert kernels.exact_sums(one) == reference.exact_sums(one)
        assert kernels.exact_sums(one, other) == reference.exact_sums(one, other)
        assert kernels.exact_sums(one.T.copy().T, one) == reference.exact_sums(one, one)


def test_calls_at_the_same_time() -> None:
    """Several threads of Python share the threads of the kernels."""
    groups = [np.repeat(np.arange(500) + nth, 1 + nth) for nth in range(8)]

    def of(group: Any) -> tuple[Any, Any]:
        for _ in range(20):
            result = kernels.within(group).tolist(), kernels.span(group)
        return result

    with on(5), ThreadPoolExecutor(4) as pool:
        native = list(pool.map(of, groups))
    assert native == [(reference.within(group).tolist(), reference.span(group)) for group in groups]


def test_what_is_not_finite_has_no_sum() -> None:
    for odd in (np.nan, np.inf, -np.inf):
        for of in (kernels, reference):
            with pytest.raises(OverflowError):
                of.exact_sums(np.array([[1.0, odd]]))
            with pytest.raises(OverflowError):
                of.exact_sums(np.array([[1.0, 2.0]]), np.array([[1.0, odd]]))


@given(seed=seeds, threads=workers, ranked=st.booleans(), graded=st.booleans(), named=st.booleans())
def test_fingerprint(seed: int, threads: int, ranked: bool, graded: bool, named: bool) -> None:
    rng = np.random.default_rng(seed)
    lists = drawn(rng, int(rng.integers(0, 60)))
    query, names = (rng.integers(0, 2**63, n).astype(np.uint64) for n in (lists.n_queries, lists.n_items))
    grade = rng.integers(0, 3, len(lists)).astype(float) if graded else None
    numbers = names if named else int(rng.integers(-5, 5))
    with on(threads):
        native = kernels.fingerprint(lists, query, numbers, grade, ranked=ranked)
        of_lists = kernels.match(lists, lists, numbers).hashes
        assert kernels.fingerprint(lists, query, numbers, ranked=True) == kernels.fingerprint(
            lists, query, numbers, ranked=True, hashes=of_lists
        )
    assert native == reference.fingerprint(lists, query, numbers, grade, ranked=ranked)


def test_what_a_kernel_does_not_take() -> None:
    with pytest.raises(TypeError, match="a kernel takes int64 in one piece, not float64"):
        address(np.zeros(3), np.int64)
    with pytest.raises(TypeError, match="in one piece"):
        address(np.zeros(6, np.int64)[::2], np.int64)


@given(seed=seeds, threads=workers)
def test_columns_and_lists_of_numbers(seed: int, threads: int) -> None:
    rng = np.random.default_rng(seed)
    lists = drawn(rng, int(rng.integers(0, 60)))
    values = rng.integers(0, 4, len(lists)) * rng.choice([1.0, 0.5, 40.0])
    divisor, cutoffs = 1 + rng.random(int(rng.integers(1, 20))), rng.integers(1, 25, 3).tolist()
    source = rng.normal(size=(3, len(values))).T
    targets = [np.zeros((5, len(values))).T for _ in range(2)]
    with on(threads):
        assert kernels.falling(lists, values).tolist() == reference.falling(lists, values).tolist()
        native, plain = (of.along_lists(lists.start, values, divisor, cutoffs) for of in (kernels, reference))
        assert native.tolist() == plain.tolist()
        for of, target in zip((kernels, reference), targets, strict=True):
            of.assign(target[:, 1:4], source)
        assert targets[0].tolist() == targets[1].tolist()
        group = np.repeat(rng.integers(0, 9, 30), rng.integers(0, 40, 30))
        assert kernels.within(group).tolist() == reference.within(group).tolist()
        for ids in (np.sort(lists.item), lists.item):
            assert kernels.rising(ids) == reference.rising(ids)
        for odd in ([], [np.nan], [np.inf], [-np.inf]):
            mixed = rng.permutation(np.concatenate((values, odd)))
            assert kernels.finite(chunked(rng, mixed)) == reference.finite(mixed) == (not odd)


@pytest.mark.parametrize("form", ["views", "large", "int64", "int32"])
@given(seed=seeds, threads=workers)
def test_numbering(seed: int, threads: int, form: str) -> None:
    rng = np.random.default_rng(seed)
    near = ["", "a", "b" * 12, "b" * 13, "b" * 13 + "c", "ünïcode", "x" * 40 + "1", "x" * 40 + "2", "x" * 12 + "\0"]
    columns = []
    for rows in rng.integers(0, 200, 2):
        number = rng.integers(0, 30, rows) * 10**9 // (1 if form == "int64" else 10**9)
        texts = [near[n] if n < len(near) else f"user-{n}" for n in number.tolist()]
        if form == "views":
            pl = pytest.importorskip("polars")
            text = chunked(rng, pl.Series(texts, dtype=pl.String).slice(rows // 3))
            columns.append(ArrowColumn(text) if isinstance(text, pl.Series) else text)
        elif form == "large":
            pa = pytest.importorskip("pyarrow")
            columns.append(ArrowColumn(_Arrow(pa.array(texts, pa.large_string()).slice(rows // 3))))
        else:
            columns.append(chunked(rng, number.astype(form)))

    def place_of(column: Any, row: Any) -> Any:
        return 1000 * column + row

    with on(threads):
        native, plain = (of.number_ids(columns, place_of) for of in (kernels, reference))
        assert [each.tolist() for each in native] == [each.tolist() for each in plain]
        assert kernels.changes(columns[0]).tolist() == reference.changes(columns[0]).tolist()


@pytest.mark.parametrize("prefix", ["", "item-", "a prefix of more than 12 letters "])
@pytest.mark.parametrize("form", ["views", "large"])
@given(seed=seeds, threads=workers)
def test_order_and_numbers_of_text(seed: int, threads: int, form: str, prefix: str) -> None:
    rng = np.random.default_rng(seed)
    near = [
        "",
        "a",
        "a\0",
        "a\0\0b",
        "b" * 8,
        "b" * 9,
        "b" * 8 + "a",
        "ß",
        "\ud7ff",
        "\U00010000",
        "\uffff",
        "x" * 30,
        "x" * 31,
    ]
    texts = [prefix + near[n] if n < len(near) else f"{prefix}{n}" for n in rng.integers(0, 300, rng.integers(0, 90))]
    if form == "views":
        pl = pytest.importorskip("polars")
        text = chunked(rng, pl.Series(texts, dtype=pl.String))
        column = ArrowColumn(text) if isinstance(text, pl.Series) else text
    else:
        pa = pytest.importorskip("pyarrow")
        column = ArrowColumn(_Arrow(pa.array(texts, pa.large_string())))
    by_bytes = sorted(range(len(texts)), key=lambda row: texts[row].encode())
    hashes = [sum((byte + 1) * 0x100000001B3 ** (at + 1) for at, byte in enumerate(each.encode())) for each in texts]
    length = [len(each.encode()) for each in texts]
    mixed = reference.mix(np.array([hashed % 2**64 ^ n for hashed, n in zip(hashes, length, strict=True)], np.uint64))
    for of in (kernels, reference):
        with on(threads):
            assert of.order_text(column).tolist() == by_bytes
            assert of.text_numbers(column).tolist() == mixed.tolist()


class _Arrow:
    """An array of Arrow as the stream that frames give."""

    def __init__(self, array: Any) -> None:
        self.array = array

    def __arrow_c_stream__(self) -> Any:
        import pyarrow as pa

        return pa.chunked_array([self.array]).__arrow_c_stream__()

    def to_list(self) -> Any:
        return self.array.to_pylist()


def test_what_is_no_column() -> None:
    import polars as pl

    with pytest.raises(TypeError, match="not a column of numbers or text"):
        ArrowColumn(pl.Series([True, False]))
