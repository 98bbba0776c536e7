"""Kernels: the functions of :mod:`atkay.core.reference`, compiled."""

from __future__ import annotations

import mmap
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from atkay.core import reference
from atkay.core.lists import Lists, Match, ScoreSteps
from atkay.core.native.arrow import CHUNK, KINDS, ArrowColumn, chunks_of
from atkay.core.native.library import address, begin, call
from atkay.core.threads import threads

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from atkay.core.types import Array, Bools, Floats, Hashes, Ints

MOST_CUTOFFS = 64
SUM_DIGITS = 134

NARROW_AND_WIDE = (np.dtype(np.int64), np.dtype(np.int32))

SUFFIXES = {np.dtype(object): "text", np.dtype(np.int32): "i32"}
"""What the kernels of a type of ids are called; those of any other type take integers of 8 bytes."""

SMALL_SIZE = 4096
"""NumPy copies or divides fewer values than this sooner than a kernel is called."""

FEW_IDS = 4096
"""NumPy looks through fewer integers than this sooner than a kernel is called."""

ROWS_IN_SMALL_PAGES = 1 << 17
"""Smaller arrays are allocated as usual."""


def span(ids: Ints | ArrowColumn) -> tuple[int, int]:
    if ids.dtype == np.uint64 or _few(ids):
        return reference.span(ids)
    ends = np.empty(2, np.int64)
    _call_ids("span", ids, threads(), address(ends, np.int64))
    return int(ends[0]), int(ends[1])


def changes(ids: Ints | ArrowColumn) -> Ints:
    rows = _room(len(ids))
    return rows[: _call_ids("changes", ids, threads(), address(rows, np.int64))].copy()


def rising(ids: Ints) -> bool:
    return reference.rising(ids) if _few(ids) else bool(_call_ids("rising", ids, threads()))


def number_ids(columns: Sequence[Ints | ArrowColumn], place_of: Callable[[Ints, Ints], Ints]) -> list[Ints]:
    kept = [_integers(column) for column in columns]
    codes = [np.empty(len(column), np.int32) for column in kept]
    by_column = [chunks_of(column) for column in kept]
    chunks = np.concatenate([each.view(np.int64) for each in by_column]).view(CHUNK)
    of = np.repeat(np.arange(len(kept)), [len(each) for each in by_column])
    first = np.concatenate([each["rows"].cumsum() - each["rows"] for each in by_column])
    outs = np.array([address(each, np.int32) for each in codes], np.int64)[of] + 4 * first
    numbering = call("number_ids", address(chunks, CHUNK), address(outs, np.int64), len(chunks), threads())
    if not numbering:
        raise MemoryError("number_ids: there is not enough memory")
    try:
        chunk, row = np.empty((2, call("numbered", numbering)), np.int64)
        call("first_seen", numbering, address(chunk, np.int64), address(row, np.int64))
        place = np.ascontiguousarray(place_of(of[chunk], first[chunk] + row), np.int32)
        call("write_codes", numbering, address(place, np.int32), threads())
    finally:
        call("forget_numbering", numbering)
    return codes  # type: ignore[return-value]  # narrow


def order_text(texts: ArrowColumn) -> Ints:
    order = np.empty(len(texts), np.int64)
    call("order_text", address(texts.chunks, CHUNK), len(texts.chunks), address(order, np.int64))
    return order


def text_numbers(texts: ArrowColumn) -> Hashes:
    numbers = np.empty(len(texts), np.uint64)
    chunks = texts.chunks
    call(
        "text_numbers", address(chunks, CHUNK), len(chunks), reference.TEXT_BASE, threads(), address(numbers, np.uint64)
    )
    return numbers


def count(marked: Bools, item: Ints) -> int:
    return reference.count(marked, item) if _few(item) else _call_ids("count", item, threads(), marked=marked)


def find(marked: Bools, item: Ints) -> Ints:
    rows = _room(len(item))
    return rows[: _call_ids("find", item, threads(), address(rows, np.int64), marked=marked)].copy()


def mark(ids: Ints | ArrowColumn, low: int, size: int) -> Bools:
    if _few(ids):
        return reference.mark(ids, low, size)
    marks = np.zeros(size, bool)
    _call_ids("mark", ids, low, size, threads(), address(marks, np.bool_))
    return marks


def codes(ids: Ints | ArrowColumn, low: int, size: int, lookup: Ints | None = None) -> Ints:
    if size >= 1 << 31 or ids.dtype == np.uint64:
        return reference.codes(ids, low, size, lookup)
    out = np.empty(len(ids), np.int32)
    places = None if lookup is None else np.ascontiguousarray(lookup, np.int32)
    at = 0 if places is None else address(places, np.int32)
    _call_ids("codes", ids, low, size, at, threads(), address(out, np.int32))
    return out  # type: ignore[return-value]  # narrow


def _few(ids: Ints | ArrowColumn) -> bool:
    """Whether NumPy is done with integers before a kernel is called."""
    return isinstance(ids, np.ndarray) and ids.size < FEW_IDS


def _call_ids(name: str, ids: Ints | ArrowColumn, *arguments: int, marked: Bools | None = None) -> int:
    """Call a kernel for a column of ids."""
    ids = _integers(ids)
    chunks = chunks_of(ids)
    before = () if marked is None else (address(marked, np.bool_),)
    return call(f"{name}_{SUFFIXES.get(ids.dtype, 'i64')}", *before, address(chunks, CHUNK), len(chunks), *arguments)


def take(values: Array, order: Ints) -> Array:
    if not values.flags.c_contiguous or values.ndim != 1 or values.dtype.hasobject:
        return reference.take(values, order)
    order, out = np.ascontiguousarray(order, np.int64), np.empty(len(order), values.dtype)
    arguments = address(order, np.int64), len(order), threads(), address(out, out.dtype)
    call("take", address(values, values.dtype), values.itemsize, *arguments)
    return out


def take_runs(values: Array, first: Ints, start: Ints) -> Array:
    values, out = np.ascontiguousarray(values), np.empty(int(start[-1]), values.dtype)
    arguments = address(first, np.int64), address(start, np.int64), len(first), threads(), address(out, out.dtype)
    call("take_runs", address(values, values.dtype), values.itemsize, *arguments)
    return out


def match(lists: Lists, truth: Lists, numbers: Hashes | int | None = None) -> Match:
    n_items = max(lists.n_items, truth.n_items)
    item, truth_item = _integers(lists.item), _integers(truth.item)
    if item.dtype != truth_item.dtype:
        narrow = np.int32 if n_items <= 1 << 31 and item.dtype == np.int32 else np.int64
        item, truth_item = item.astype(narrow, copy=False), truth_item.astype(narrow, copy=False)
    out, repeated = np.empty(4 * len(truth), np.int64), np.empty(2, np.int64)
    hashes = None if numbers is None else np.empty(lists.n_queries, np.uint64)
    places = None if numbers is None else reference.place_numbers(lists)
    hits = call(
        f"match_{_suffix(item)}",
        _start(lists),
        address(item, item.dtype),
        _start(truth),
        address(truth_item, item.dtype),
        lists.n_queries,
        n_items,
        address(numbers, np.uint64) if isinstance(numbers, np.ndarray) else 0,
        0 if places is None else address(places, np.uint64),
        threads(),
        address(out, np.int64),
        address(repeated, np.int64),
        0 if hashes is None else address(hashes, np.uint64),
    )
    # Pages of the rest were not written to, and take no memory.
    query, row, at, rank = out[: 4 * hits].reshape(4, hits)
    return Match(query, row, at, rank, (bool(repeated[0]), bool(repeated[1])), hashes)


def steps(lists: Lists, score: Array | ArrowColumn, order: Ints | None = None) -> ScoreSteps:
    score = _scores(score if order is None else np.asarray(score))
    chunks, equal, rising = chunks_of(score), _room(len(lists)), np.empty(1, np.int64)
    n = call(
        "steps",
        _start(lists, score if order is None else order),
        lists.n_queries,
        address(chunks, CHUNK),
        len(chunks),
        0 if order is None else address(order, np.int64),
        threads(),
        address(equal, np.int64),
        address(rising, np.int64),
    )
    return ScoreSteps(int(rising[0]), equal[:n].copy())


def by_score(lists: Lists, score: Array, tie: Array | None = None) -> Ints:
    score, order = _scores(score), np.empty(len(lists), np.int64)
    rising = None if tie is None else _rising(tie)
    call(
        "by_score",
        _start(lists, score, *(() if rising is None else (rising,))),
        lists.n_queries,
        address(score, score.dtype),
        KINDS[score.dtype],
        0 if rising is None else address(rising, np.uint64),
        threads(),
        address(order, np.int64),
    )
    return order


def falling(lists: Lists, values: Floats) -> Floats:
    out = np.array(values, np.float64)
    call("falling", _start(lists, out), lists.n_queries, threads(), address(out, np.float64))
    return out


def arrange(
    query: Ints, low: int, n_queries: int, item: Ints | None, n_items: int, score: Array | ArrowColumn | None = None
) -> tuple[Ints, Ints, Ints]:
    bits = max(1, (len(query) if item is None else n_items).bit_length())
    if bits > 31 or not n_queries:
        return reference.arrange(query, low, n_queries, item, n_items, score)
    query, item = _integers(query), None if item is None else _integers(item)
    score = None if score is None else _scores(score)
    chunks = np.empty(0, CHUNK) if score is None else chunks_of(score)
    start, items = np.empty(n_queries + 1, np.int64), np.empty(len(query), np.int32)
    equal = _room(0 if score is None else len(query))
    n = call(
        "arrange",
        *_column(query),
        low,
        len(query),
        n_queries,
        *_column(item),
        bits,
        0 if score is None else address(chunks, CHUNK),
        len(chunks),
        threads(),
        address(start, np.int64),
        address(items, np.int32),
        address(equal, np.int64),
    )
    return start, items, equal[:n].copy()  # type: ignore[return-value]  # codes may be narrow


def sums(query: Ints, rank: Ints, weights: Floats | None, cutoffs: Sequence[int], n_queries: int) -> Floats:
    if len(cutoffs) > MOST_CUTOFFS:
        return reference.sums(query, rank, weights, cutoffs, n_queries)
    (cutoff, column), out = _rising_cutoffs(tuple(cutoffs)), np.empty((len(cutoffs), n_queries))
    query, rank = np.ascontiguousarray(query, np.int64), np.ascontiguousarray(rank, np.int64)
    weights = None if weights is None else np.ascontiguousarray(weights, np.float64)
    unsorted = call(
        "sums",
        address(query, np.int64),
        address(rank, np.int64),
        0 if weights is None else address(weights, np.float64),
        len(query),
        address(cutoff, np.int64),
        address(column, np.int64),
        len(cutoff),
        n_queries,
        threads(),
        address(out, np.float64),
    )
    return reference.sums(query, rank, weights, cutoffs, n_queries) if unsorted else out.T


@lru_cache(maxsize=64)
def _rising_cutoffs(cutoffs: tuple[int, ...]) -> tuple[Ints, Ints]:
    """The cutoffs in rising order, and which of the given ones each is."""
    cutoff = np.array(cutoffs, np.int64)
    column = np.argsort(cutoff)
    return cutoff[column], column


def along_lists(start: Ints, values: Floats, divisor: Floats, cutoffs: Sequence[int]) -> Floats:
    cutoff = np.unique(np.minimum(cutoffs, len(divisor)))
    values, divisor = np.ascontiguousarray(values, np.float64), np.ascontiguousarray(divisor, np.float64)
    out = np.empty((len(cutoff), len(start) - 1))
    call(
        "along_lists",
        address(start, np.int64),
        len(start) - 1,
        address(values, np.float64),
        address(divisor, np.float64),
        address(cutoff, np.int64),
        len(cutoff),
        threads(),
        address(out, np.float64),
    )
    places = np.searchsorted(cutoff, np.minimum(cutoffs, len(divisor)))
    return out.T if len(cutoff) == len(cutoffs) and (np.diff(places) == 1).all() else out[places].T


def within(group: Ints) -> Ints:
    group = np.ascontiguousarray(group, np.int64)
    out = np.empty(len(group), np.int64)
    call("within", address(group, np.int64), len(group), threads(), address(out, np.int64))
    return out


def group_sums(values: Floats, group: Ints, n_groups: int) -> tuple[Floats, Floats]:
    columns, group = _rows_in_one_piece(values.T), np.ascontiguousarray(group, np.int64)
    sums, counts = np.empty((len(columns), n_groups)), np.empty((len(columns), n_groups))
    call(
        "group_sums",
        begin(columns),
        columns.strides[0] // 8,
        len(columns),
        address(group, np.int64),
        len(group),
        n_groups,
        threads(),
        address(sums, np.float64),
        address(counts, np.float64),
    )
    return sums.T, counts.T


def finite(values: Array | ArrowColumn) -> bool:
    if values.dtype != np.float64 or _few(values) or not (isinstance(values, ArrowColumn) or values.flags.c_contiguous):
        return reference.finite(values)
    chunks = chunks_of(values)
    return bool(call("all_finite", address(chunks, CHUNK), len(chunks), threads()))


def assign(target: Floats, source: Floats) -> None:
    if target.size < SMALL_SIZE:
        return reference.assign(target, source)
    rows, to = source.T, target.T
    in_rows = rows.dtype == to.dtype == np.float64 and {side.strides[1] for side in (rows, to)} == {8}
    if not in_rows or rows.shape != to.shape or not to.size:
        return reference.assign(target, source)
    places = [begin(side) for side in (rows, to)]
    call("copy_rows", places[0], rows.strides[0] // 8, *rows.shape, to.strides[0] // 8, threads(), places[1])


def divide(numerator: Array, denominator: Array, empty: float = 0.0, out: Floats | None = None) -> Floats:
    if numerator.size < SMALL_SIZE and denominator.size < SMALL_SIZE:
        return reference.divide(numerator, denominator, empty, out)
    above, below, shape = numerator, denominator, numerator.shape
    if denominator.shape != shape:
        shape = np.broadcast_shapes(shape, denominator.shape)
        above, below = np.broadcast_to(numerator, shape), np.broadcast_to(denominator, shape)
    if len(shape) != 2 or above.dtype != np.float64 or below.dtype not in (np.float64, np.int64):
        return reference.divide(numerator, denominator, empty, out)
    rows, other = np.empty(shape[::-1]) if out is None else out.T, np.array(empty)
    if rows.shape != shape[::-1] or rows.dtype != np.float64 or rows.strides[1] != 8:
        return reference.divide(numerator, denominator, empty, out)
    call(
        "divide",
        *_steps(above),
        begin(below),
        int(below.dtype == np.int64),
        *_steps(below)[1:],
        *shape[::-1],
        address(other, np.float64),
        rows.strides[0] // 8,
        threads(),
        begin(rows),
    )
    return rows.T


def exact_sums(one: Floats, other: Floats | None = None) -> list[int]:
    sides = [_rows_in_one_piece(side) for side in (one, *(() if other is None else (other,)))]
    digits = np.zeros((len(one), SUM_DIGITS), np.int64)
    arguments = [(begin(side), side.strides[0] // 8) for side in sides] + [(0, 0)]
    if call("exact_sums", *arguments[0], *arguments[1], *one.shape, threads(), address(digits, np.int64)):
        raise OverflowError("a value is not finite: the sum is undefined")
    lower, width = digits[:, :-1].astype("<u4").tobytes(), 4 * (SUM_DIGITS - 1)
    return [
        int.from_bytes(lower[row * width : (row + 1) * width], "little") + (last << 8 * width)
        for row, last in enumerate(digits[:, -1].tolist())
    ]


def fingerprint(
    lists: Lists,
    query: Hashes,
    numbers: Hashes | int,
    grade: Floats | None = None,
    *,
    ranked: bool = False,
    hashes: Hashes | None = None,
) -> int:
    item, query, out = _integers(lists.item), np.ascontiguousarray(query), np.empty(1, np.uint64)
    places = reference.place_numbers(lists) if ranked else None
    if hashes is not None and places is not None:
        places = np.concatenate((np.zeros(1, np.uint64), np.cumsum(places)))
    grade = None if grade is None or ranked else np.ascontiguousarray(grade, np.float64)
    call(
        "fingerprint",
        _start(lists, *(() if grade is None else (grade,))),
        lists.n_queries,
        address(item, item.dtype),
        int(item.dtype == np.int64),
        numbers if isinstance(numbers, int) else 0,
        0 if isinstance(numbers, int) else address(numbers, np.uint64),
        address(query, np.uint64),
        0 if places is None else address(places, np.uint64),
        0 if hashes is None else address(hashes, np.uint64),
        0 if grade is None else address(grade, np.float64),
        threads(),
        address(out, np.uint64),
    )
    return int(out[0])


def _room(rows: int) -> Ints:
    """A buffer for values of some of the rows. Pages not written to take no memory.

    NumPy asks for large pages, of which a few numbers here and there would fill most.
    """
    if rows < ROWS_IN_SMALL_PAGES:
        return np.empty(rows, np.int64)
    return np.frombuffer(mmap.mmap(-1, 8 * rows), np.int64)


def _start(lists: Lists, *columns: Array | ArrowColumn) -> int:
    """Where the starts of lists lie, which are as long as they say."""
    rows = len(lists.item)
    if lists.start[-1] != rows or [column for column in columns if len(column) != rows]:
        raise ValueError(f"lists of {lists.start[-1]} rows have {len(lists.item)} items, and columns as long as these")
    return address(lists.start, np.int64)


def _rising(tie: Array) -> Hashes:
    """Unsigned integers in the order of the ties."""
    if tie.dtype.kind != "i":
        return np.invert(reference.depth(tie))
    bits = tie.astype(np.int64).view(np.uint64)
    bits ^= np.uint64(1 << 63)
    return bits


def _integers(values: Any) -> Any:
    """Integers of 4 or 8 bytes in one piece; a column where it lies."""
    if isinstance(values, ArrowColumn):
        return values
    return np.ascontiguousarray(values, values.dtype if values.dtype in NARROW_AND_WIDE else np.int64)


def _scores(values: Any) -> Any:
    """Scores of a type that kernels know, in the same order."""
    if isinstance(values, ArrowColumn):
        return values
    if values.dtype == np.uint64:
        values = (values ^ np.uint64(1 << 63)).view(np.int64)
    elif values.dtype not in KINDS:
        values = values.astype(np.float64 if values.dtype.kind == "f" else np.int64)
    return np.ascontiguousarray(values)


def _steps(values: Array) -> tuple[int, int, int]:
    """Where a matrix of numbers of 8 bytes begins, and how far it is to the next column, and to the next row."""
    place: int = begin(values)
    return place, values.strides[1] // 8, values.strides[0] // 8


def _column(values: Array | None) -> tuple[int, int]:
    """Address and type of a column; none is 0."""
    return (0, 0) if values is None else (address(values, values.dtype), KINDS[values.dtype])


def _suffix(values: Ints) -> str:
    return "i32" if values.dtype == np.int32 else "i64"


def _rows_in_one_piece(values: Floats) -> Floats:
    """Floats whose rows, each by itself, lie in one piece."""
    rows = values.astype(np.float64, copy=False)
    return rows if rows.shape[1] < 2 or rows.strides[1] == 8 else np.ascontiguousarray(rows)


def choice_sums(rows: Floats, base: int, codes: Hashes, sums: Floats) -> None:
    rows, codes = np.ascontiguousarray(rows), np.ascontiguousarray(codes)
    call(
        "choice_sums",
        address(rows, np.float64),
        len(rows),
        1 if rows.ndim == 2 else base,
        rows.shape[-1],
        base,
        reference.units_per_code(base),
        address(codes, np.uint64),
        *codes.shape,
        threads(),
        address(sums, np.float64),
    )


def random_codes(key: int, first: int, shape: tuple[int, int], limit: int) -> Hashes:
    codes = np.empty(shape, np.uint64)
    call("random_codes", key, first, *shape, limit, threads(), address(codes, np.uint64))
    return codes


def resampled_sums(key: int, resamples: Ints, values: Floats, small: Array) -> tuple[Floats, Array]:
    values, small = np.ascontiguousarray(values), np.ascontiguousarray(small)
    sums = np.zeros((len(resamples), values.shape[1]))
    small_sums = np.zeros((len(resamples), small.shape[1]), np.uint32)
    call(
        "resampled_sums",
        key,
        address(resamples, np.int64),
        len(resamples),
        len(values),
        address(values, np.float64),
        values.shape[1],
        address(small, np.uint16),
        small.shape[1],
        threads(),
        address(sums, np.float64),
        address(small_sums, np.uint32),
    )
    return sums, small_sums


def number_pairs(start: Ints, row: Ints, item: Ints, n_items: int) -> tuple[Ints, int]:
    if max(len(row), n_items) >= 1 << 31:
        return reference.number_pairs(start, row, item, n_items)
    rows, items = (np.ascontiguousarray(each, np.int32) for each in (row, item))
    number = np.empty(len(row), np.int32)
    n = call(
        "number_pairs",
        address(start, np.int64),
        len(start) - 1,
        address(rows, np.int32),
        address(items, np.int32),
        n_items,
        threads(),
        address(number, np.int32),
    )
    return number, n  # type: ignore[return-value]  # narrow


def cooccurrence(lists: Lists) -> tuple[Ints, Array, Array]:
    n_items = lists.n_items
    if not n_items or max(len(lists), n_items) >= 1 << 31:
        return reference.cooccurrence(lists)
    item = take(lists.item, by_score(lists, -lists.item.astype(np.int64))).astype(np.int32)
    last = np.repeat(lists.start[1:], lists.length).astype(np.int32)
    of_item, row, _ = arrange(item, 0, n_items, None, 0)  # type: ignore[arg-type]  # codes may be narrow
    given = [address(item, np.int32), address(last, np.int32), address(of_item, np.int64), address(row, np.int32)]
    start = np.zeros(n_items + 1, np.int64)
    call("cooccurrence", *given, n_items, threads(), address(start[1:], np.int64), 0, 0)
    np.cumsum(start, out=start)
    near, shared_lists = (np.empty(start[-1], np.int32) for _ in range(2))
    out = [address(start, np.int64), address(near, np.int32), address(shared_lists, np.int32)]
    call("cooccurrence", *given, n_items, threads(), *out)
    return start, near, shared_lists


def shared(start: Ints, near: Array, lists: Array, one: Ints, other: Ints) -> Ints:
    if near.dtype != np.int32 or lists.dtype != np.int32:
        return reference.shared(start, near, lists, one, other)
    one, other = (np.ascontiguousarray(each, np.int64) for each in (one, other))
    out = np.empty(len(one), np.int64)
    call(
        "shared",
        address(start, np.int64),
        address(near, np.int32),
        address(lists, np.int32),
        address(one, np.int64),
        address(other, np.int64),
        len(one),
        threads(),
        address(out, np.int64),
    )
    return out
