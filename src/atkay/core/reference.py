"""Reference: what each kernel computes, in plain NumPy. The oracle of the tests, and what runs without a compiler."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from atkay.core.lists import Lists, Match, ScoreSteps

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from atkay.core.native.arrow import ArrowColumn
    from atkay.core.types import Array, Bools, Floats, Hashes, Ints


def span(ids: Ints | ArrowColumn) -> tuple[int, int]:
    """The lowest and the highest of some integers."""
    ids = np.asarray(ids)
    return int(ids.min()), int(ids.max())


def changes(ids: Ints | ArrowColumn) -> Ints:
    """The rows whose integer or text is not that of the row before."""
    ids = np.asarray(ids)
    return np.flatnonzero(ids[1:] != ids[:-1]) + 1


def rising(ids: Ints) -> bool:
    """Whether no integer is below the one before."""
    return bool((ids[1:] >= ids[:-1]).all())


def number_ids(columns: Sequence[Ints | ArrowColumn], place_of: Callable[[Ints, Ints], Ints]) -> list[Ints]:
    """The codes of ids, integers or text, of several columns.

    ``place_of`` gives the code of each different id from where it stands first: its column, and its row there.
    """
    listed = [np.asarray(column) for column in columns]
    first: dict[Any, tuple[int, int]] = {}
    for at, column in enumerate(listed):
        for row, value in enumerate(column.tolist()):
            first.setdefault(value, (at, row))
    place = place_of(*np.array(list(first.values()), np.int64).reshape(-1, 2).T)
    code = dict(zip(first, place.tolist(), strict=True))
    return [np.array([code[value] for value in column.tolist()], np.int64) for column in listed]


def order_text(texts: ArrowColumn) -> Ints:
    """The rows of texts in the order of these; equal ones keep theirs."""
    words = np.asarray(texts).tolist()
    return np.array(sorted(range(len(words)), key=words.__getitem__), np.int64)


TEXT_BASE = 0x100000001B3
"""Odd, so that its powers never vanish."""


def text_numbers(texts: ArrowColumn) -> Hashes:
    """A hash per text: its bytes plus 1, each times a power of the base, added up; then mixed with the length."""
    words = np.asarray(texts).tolist()
    length = np.array([len(word.encode()) for word in words], np.int64)
    data = np.frombuffer("".join(words).encode(), np.uint8).astype(np.uint64)
    end = np.cumsum(length)
    place = np.arange(len(data)) - np.repeat(end - length, length)
    powers = np.cumprod(np.full(length.max(initial=0), TEXT_BASE, np.uint64))
    # Sums of unsigned integers wrap around and lose nothing, so a difference of running sums is exact.
    running = np.concatenate((np.zeros(1, np.uint64), np.cumsum((data + np.uint64(1)) * powers[place])))
    return mix((running[end] - running[end - length]) ^ length.astype(np.uint64))


def count(marked: Bools, item: Ints) -> int:
    """How many of the items are marked."""
    return int(np.count_nonzero(marked.take(item)))


def find(marked: Bools, item: Ints) -> Ints:
    """The rows whose item is marked."""
    return np.flatnonzero(marked.take(item))


def mark(ids: Ints | ArrowColumn, low: int, size: int) -> Bools:
    """Which ids occur in a range that starts at ``low``."""
    marks = np.zeros(size, bool)
    marks[np.asarray(ids) - low] = True
    return marks


def codes(ids: Ints | ArrowColumn, low: int, size: int, lookup: Ints | None = None) -> Ints:
    """The codes of ids in a range that starts at ``low``, -1 for others: the offset, or the entry there."""
    ids = np.asarray(ids).astype(np.int64, copy=False)
    place = np.where((ids >= low) & (ids < low + size), ids - low, -1)
    return place if lookup is None else np.where(place < 0, -1, lookup[place])


def take(values: Array, order: Ints) -> Array:
    """The values in another order."""
    return values.take(order)


def take_runs(values: Array, first: Ints, start: Ints) -> Array:
    """The values run by run: run n begins at row ``first[n]``, and then has the rows from ``start[n]`` on."""
    return values.take(np.repeat(first - start[:-1], np.diff(start)) + np.arange(start[-1]))


def match(lists: Lists, truth: Lists, numbers: Hashes | int | None = None) -> Match:
    """The listed rows that the truth has, and which of its rows they are."""
    n_items = max(lists.n_items, truth.n_items)
    pair, truth_pair = (side.owner() * np.int64(n_items) + side.item for side in (lists, truth))
    order = np.argsort(truth_pair, kind="stable")
    sorted_pair = truth_pair[order]
    place = np.searchsorted(sorted_pair, pair)
    place[place == len(order)] = 0
    row = np.flatnonzero(sorted_pair[place] == pair) if len(order) else order
    at = order[place[row]]
    repeated = len(np.unique(pair)) < len(pair), len(np.unique(truth_pair)) < len(truth_pair)
    query = truth.owner()[at]
    hashes = None if numbers is None else _ranked(lists, lists.item.astype(np.int64), numbers)
    return Match(query, row, at, row - lists.start[query] + 1, repeated, hashes)


def depth(score: Array) -> Hashes:
    """Unsigned integers in the opposite order of the scores: the best score is the least deep."""
    if score.dtype.kind == "u":
        return np.invert(score.astype(np.uint64))
    if score.dtype.kind == "i":
        rising = score.astype(np.int64)
    else:
        bits = (score.astype(np.float64) + 0.0).view(np.int64)  # adding 0 makes -0 and 0 the same
        # The bits of a positive float rise with it, those of a negative one fall.
        rising = bits ^ ((bits >> 63) & np.int64(np.iinfo(np.int64).max))
    deep: Hashes = np.invert(rising.view(np.uint64) ^ np.uint64(1 << 63))
    return deep


def steps(lists: Lists, score: Array | ArrowColumn, order: Ints | None = None) -> ScoreSteps:
    """Where scores rise or stay equal along the lists, or would once their rows are put in order."""
    score = np.asarray(score)
    deep = depth(score if order is None else score[order])
    inside = np.ones(len(deep), bool)
    inside[lists.start[:-1][lists.length > 0]] = False
    row = np.flatnonzero(inside)
    rising = row[deep[row] < deep[row - 1]]
    return ScoreSteps(int(rising[0]) if len(rising) else -1, row[deep[row] == deep[row - 1]])


def by_score(lists: Lists, score: Array, tie: Array | None = None) -> Ints:
    """The rows of each list by falling score, equal scores by the rising ``tie``, then as they stand."""
    keys = (depth(score), lists.owner())
    return np.lexsort(keys if tie is None else (tie, *keys))


def falling(lists: Lists, values: Floats) -> Floats:
    """The values of each list, the highest first."""
    return values[np.lexsort((-values, lists.owner()))]


def arrange(
    query: Ints, low: int, n_queries: int, item: Ints | None, n_items: int, score: Array | ArrowColumn | None = None
) -> tuple[Ints, Ints, Ints]:
    """Where the rows of each query start once they stand together, by falling score, and the items in that order.

    Queries count from ``low``. Without scores rows stay in their order, and without items these are the numbers of the
    rows. Last come the rows whose score is that of the row before in the same list.
    """
    start = np.concatenate(([0], np.cumsum(np.bincount(query - low, minlength=n_queries))))
    if score is None:
        order, equal = np.argsort(query, kind="stable"), np.empty(0, np.int64)
    else:
        order = np.lexsort((depth(np.asarray(score)), query))
        equal = steps(Lists(start, order, n_items), score, order).equal
    return start, order if item is None else item[order], equal


def sums(query: Ints, rank: Ints, weights: Floats | None, cutoffs: Sequence[int], n_queries: int) -> Floats:
    """The sum of weights per query, over what is ranked at most k, for each k; each counts 1 where there are none.

    Each cutoff is summed by itself and in rank order: a value depends neither on the other cutoffs that were
    asked for nor on the other queries, to the last bit.
    """
    out = np.empty((len(cutoffs), n_queries)).T  # a cutoff's values lie together
    for column, k in enumerate(cutoffs):
        inside = rank <= k
        out[:, column] = np.bincount(query[inside], None if weights is None else weights[inside], n_queries)
    return out


def along_lists(start: Ints, values: Floats, divisor: Floats, cutoffs: Sequence[int]) -> Floats:
    """Per list and cutoff, the sum of the values at the first places, each over the ``divisor`` of its place.

    The values of list n are ``values[start[n]:start[n + 1]]``; no place beyond the last divisor counts.
    """
    length = np.diff(start)
    place = np.arange(1, len(values) + 1) - np.repeat(start[:-1], length)
    inside = place <= len(divisor)
    worth = values[inside] / divisor[place[inside] - 1]
    return sums(np.repeat(np.arange(len(length)), length)[inside], place[inside], worth, cutoffs, len(length))


def within(group: Ints) -> Ints:
    """The place of each row among those with the same number, from 1; these stand together."""
    first = np.flatnonzero(np.concatenate((np.ones(min(len(group), 1), bool), group[1:] != group[:-1])))
    return np.arange(1, len(group) + 1) - np.repeat(first, np.diff(first, append=len(group)))


def group_sums(values: Floats, group: Ints, n_groups: int) -> tuple[Floats, Floats]:
    """The sum of each group's rows and how many there are, groups x columns; NaN counts nowhere, nor does group -1."""
    there = ~np.isnan(values) & (group >= 0)[:, None]
    columns = list(zip(values.T, there.T, strict=True))
    sums = [np.bincount(group[rows], column[rows], n_groups) for column, rows in columns]
    counts = [np.bincount(group[rows], minlength=n_groups) for _, rows in columns]
    shape = len(columns), n_groups
    return np.array(sums, float).reshape(shape).T, np.array(counts, float).reshape(shape).T


def finite(values: Array | ArrowColumn) -> bool:
    """Whether all numbers are finite."""
    return bool(np.isfinite(np.asarray(values)).all())


def assign(target: Floats, source: Floats) -> None:
    """Write numbers to their place in a larger array."""
    target[...] = source


def divide(numerator: Array, denominator: Array, empty: float = 0.0, out: Floats | None = None) -> Floats:
    """The quotient, and ``empty`` where the denominator is 0; written to ``out`` where that is given."""
    with np.errstate(divide="ignore", invalid="ignore"):
        if out is not None and np.count_nonzero(denominator) == denominator.size:
            return np.divide(numerator, denominator, out)
        quotient: Floats = np.where(denominator == 0, empty, numerator / denominator)
    if out is None:
        return quotient
    out[...] = quotient
    return out


EXACT_POWER = 2148
"""Exact sums are integers in units of 2 to minus this power: no product of two floats is finer."""


def exact_sums(one: Floats, other: Floats | None = None) -> list[int]:
    """The exact sum of each row's values, or of the products of both rows' values, in units of 2^-2148."""
    if not all(side is None or np.isfinite(side).all() for side in (one, other)):
        raise OverflowError("a value is not finite: the sum is undefined")
    return [
        sum(map(_exact, row)) << (EXACT_POWER // 2)
        if other is None
        else sum(_exact(a) * _exact(b) for a, b in zip(row, other[at], strict=True))
        for at, row in enumerate(one.tolist())
    ]


def _exact(value: float) -> int:
    """A float in units of 2^-1074."""
    numerator, denominator = value.as_integer_ratio()
    return numerator * ((1 << EXACT_POWER // 2) // denominator)


def mix(bits: Hashes) -> Hashes:
    """The finishing steps of splitmix64: every bit of the input moves about half the bits of the output."""
    bits = bits + np.uint64(0x9E3779B97F4A7C15)
    bits ^= bits >> np.uint64(30)
    bits *= np.uint64(0xBF58476D1CE4E5B9)
    bits ^= bits >> np.uint64(27)
    bits *= np.uint64(0x94D049BB133111EB)
    bits ^= bits >> np.uint64(31)
    return bits


def place_numbers(lists: Lists) -> Hashes:
    """A number for each place of the longest list."""
    return mix(np.arange(int(lists.length.max(initial=0)), dtype=np.uint64))


def _ranked(lists: Lists, item: Ints, numbers: Hashes | int) -> Hashes:
    """Per list the sum of its items' numbers, each times that of its place; the items themselves without a table."""
    number = item.view(np.uint64) if isinstance(numbers, int) else numbers.take(item)
    place = np.arange(len(item)) - np.repeat(lists.start[:-1], lists.length)
    running = np.concatenate((np.zeros(1, np.uint64), np.cumsum(number * place_numbers(lists).take(place))))
    hashes: Hashes = running[lists.start[1:]] - running[lists.start[:-1]]
    return hashes


def fingerprint(
    lists: Lists,
    query: Hashes,
    numbers: Hashes | int,
    grade: Floats | None = None,
    *,
    ranked: bool = False,
    hashes: Hashes | None = None,
) -> int:
    """A hash of all rows: their order counts within a list where it is ranked, that of the lists never.

    ``query`` has a number per query, ``numbers`` that of each item's code, or what a code is less than its id. A ranked
    list is the sum of its items' numbers, each times a number of its place; any other the sum of its rows' hashes, in
    which a grade of 1 is the same as none. Unsigned sums wrap around, losing nothing. ``hashes``: those of ranked
    lists, as :func:`match` has them, which need not be computed again.
    """
    filled = np.flatnonzero(lists.length)
    if not len(filled):
        return 0
    item = lists.item.astype(np.int64)
    item = item + numbers if isinstance(numbers, int) else item
    if ranked:
        of_list = _ranked(lists, item, numbers)[filled]
    else:
        number = item.view(np.uint64) if isinstance(numbers, int) else numbers.take(item)
        rows = mix(number ^ np.uint64(1))
        if grade is not None:
            rows = np.where(grade == 1, rows, mix(rows ^ grade.astype(float).view(np.uint64)))
        of_list = np.add.reduceat(rows, lists.start[filled])
    return int(mix(mix(mix(query[filled] ^ np.uint64(2)) ^ of_list) ^ lists.length[filled].astype(np.uint64)).sum())


CODES_PER_WORD = 8
MOST_TIMES = 3
GOLDEN = 0x9E3779B97F4A7C15
"""By what the state of splitmix64 moves on."""


def units_per_code(base: int) -> int:
    """How many units, each with this number of choices, fit into a code of one byte."""
    return max(n for n in range(1, 9) if base**n <= 256)


def choice_sums(rows: Floats, base: int, codes: Hashes, sums: Floats) -> None:
    """Add up one of several rows of each unit, for many resamples: ``sums`` (resamples x columns) is added to.

    ``rows`` is units x choices x columns; or units x columns, of which a choice takes none, one, two, ... times. Units
    come in groups, the choices of which are the digits of a code, the first unit's the highest. A code is a byte; eight
    make a word, the lowest first; ``codes`` is words x resamples. A group's rows are added up at first.
    """
    group = units_per_code(base)
    for at in range(len(codes) * CODES_PER_WORD):
        word, place = divmod(at, CODES_PER_WORD)
        table = np.zeros((1, rows.shape[-1]))
        for unit in range(at * group, (at + 1) * group):
            choices = rows[unit] if unit < len(rows) else np.zeros(rows.shape[1:])
            choices = np.arange(base)[:, None] * choices if rows.ndim == 2 else choices
            table = (table[:, None] + choices).reshape(-1, rows.shape[-1])
        sums += table[(codes[word] >> np.uint64(8 * place)) & np.uint64(255)]


def random_codes(key: int, first: int, shape: tuple[int, int], limit: int) -> Hashes:
    """Random codes below a limit, words x resamples, as :func:`choice_sums` takes them.

    Each row has the numbers of splitmix64 from its own start on, four for each resample, counted from ``first``; a
    number has two codes, its halves times the limit over 2^32.
    """
    start = mix(np.uint64(key) + np.arange(shape[0], dtype=np.uint64))
    place = (np.arange(shape[1] * 4, dtype=np.uint64) + np.uint64(4 * first)) * np.uint64(GOLDEN)
    bits = mix(start[:, None] + place)
    low, high = (
        (half * np.uint64(limit)) >> np.uint64(32) for half in (bits & np.uint64(2**32 - 1), bits >> np.uint64(32))
    )
    pairs = ((high << np.uint64(8)) | low).reshape(*shape, 4) << np.arange(0, 64, 16, dtype=np.uint64)
    codes: Hashes = np.bitwise_or.reduce(pairs, axis=2)
    return codes


def drawn(key: int, resample: int, units: int) -> Ints:
    """Numbers of units, as many as there are, drawn with replacement: the same for a key and a resample's number.

    The numbers are those of splitmix64, of which each word has two halves, the lower one first; a half times the units
    has the unit in its upper 32 bits. All have the same chance, as a few of the lower 32 bits are left out.

    Lemire, Fast random integer generation in an interval, 2019.
    """
    start = int(mix(np.array([key + resample], np.uint64))[0])
    drawn_units = np.empty(0, np.int64)
    while len(drawn_units) < units:
        words = units // 2 + 64
        wide = mix(np.uint64(start) + np.arange(words, dtype=np.uint64) * np.uint64(GOLDEN))
        product = np.stack([wide & np.uint64(2**32 - 1), wide >> np.uint64(32)], axis=1).ravel() * np.uint64(units)
        kept = product[(product & np.uint64(2**32 - 1)) >= 2**32 % units]
        drawn_units = np.concatenate([drawn_units, (kept >> np.uint64(32)).astype(np.int64)])
        start = (start + words * GOLDEN) % 2**64
    return drawn_units[:units]


def resampled_sums(key: int, resamples: Ints, values: Floats, small: Array) -> tuple[Floats, Array]:
    """The sums of the rows of units that are drawn with replacement: resamples x columns of both tables.

    ``small`` has unsigned integers of 16 bits, the sum of as many of which as there are units is below 2^32. Four units
    are added up at first; after 32 units come the rows that are drawn more than three times.
    """
    units = len(values)
    times = np.array([np.bincount(drawn(key, int(each), units), minlength=units) for each in resamples], np.int64)
    times = times.reshape(len(resamples), units)
    sums = np.zeros((len(resamples), values.shape[1]))
    for first in range(0, units, 4 * CODES_PER_WORD):
        last = min(first + 4 * CODES_PER_WORD, units)
        for four in range(first, last, 4):
            part = np.zeros_like(sums)
            for unit in range(four, min(four + 4, last)):
                part += np.minimum(times[:, unit, None], MOST_TIMES) * values[unit]
            sums += part
        for unit in range(first, last):
            for more in range(MOST_TIMES, int(times[:, unit].max(initial=0))):
                sums += np.where(times[:, unit, None] > more, values[unit], 0.0)
    return sums, (times @ small.astype(np.int64)).astype(np.uint32)


def number_pairs(start: Ints, row: Ints, item: Ints, n_items: int) -> tuple[Ints, int]:
    """A number for each row, the same for the same list and item; and how many there are.

    The rows of list n are ``row[start[n]:start[n + 1]]``. Numbers are 0, 1, 2, ... from list to list, and within a list
    by where an item comes first.
    """
    pair = np.repeat(np.arange(len(start) - 1), np.diff(start)) * n_items + item[row]
    _, first, place = np.unique(pair, return_index=True, return_inverse=True)
    number, of_row = np.empty(len(first), np.int64), np.empty(len(row), np.int64)
    number[np.argsort(first)] = np.arange(len(first))
    of_row[row] = number[place]
    return of_row, len(first)


def cooccurrence(lists: Lists) -> tuple[Ints, Array, Array]:
    """For each item the higher items that share lists with it, rising, and how many lists; and where each item starts.

    A list has an item once.
    """
    item = lists.item[by_score(lists, -lists.item.astype(np.int64))]  # rising in each list
    last = np.repeat(lists.start[1:], lists.length)
    of_item, row, _ = arrange(item, 0, lists.n_items, None, 0)
    length, near, shared_lists = np.zeros(lists.n_items, np.int64), [item[:0]], [last[:0]]
    for code in np.flatnonzero(np.diff(of_item)):
        rows = row[of_item[code] : of_item[code + 1]]
        higher, count = np.unique(np.concatenate([item[r + 1 : last[r]] for r in rows]), return_counts=True)
        length[code] = len(higher)
        near.append(higher)
        shared_lists.append(count)
    return np.concatenate(([0], np.cumsum(length))), np.concatenate(near), np.concatenate(shared_lists)


def shared(start: Ints, near: Array, lists: Array, one: Ints, other: Ints) -> Ints:
    """How many lists two items share, pair by pair: what :func:`cooccurrence` has found. The two are different."""
    n_items = len(start) - 1
    pair = np.repeat(np.arange(n_items), np.diff(start)) * n_items + near
    searched = np.minimum(one, other) * np.int64(n_items) + np.maximum(one, other)
    place = np.searchsorted(pair, searched)
    return np.where(np.append(pair, -1)[place] == searched, np.append(lists, 0)[place], 0)
