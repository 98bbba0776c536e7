"""Overlap: how similar the lists of two runs are, user by user, without truth."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from atkay.core.kernels import match
from atkay.core.lists import Lists, Match, in_threads
from atkay.core.order import Scores
from atkay.core.types import WHOLE, Floats, Ints, is_integer, is_number
from atkay.errors import (
    IdError,
    InputError,
    NumberError,
    SpecError,
    listing,
    number_of,
    offer,
    shown,
    who,
)
from atkay.inputs.coding.ranking import Origin, rank_order, repeats
from atkay.inputs.columns import Columns
from atkay.metrics.metric import DEEPEST
from atkay.metrics.worked import printed
from atkay.results.intervals import IntervalMethod
from atkay.results.summary import HEADER, Summary, cells, mean, number_types, summarise
from atkay.tables import RUNS
from atkay.text.grid import Grid, Tables
from atkay.text.phrases import columns_argument

if TYPE_CHECKING:
    import polars as pl

    from atkay.inputs.coding.vocabulary import Vocabulary
    from atkay.inputs.table import Table

MEASURES = ("rbo", "rbo_min", "rbo_residual", "average_overlap", "jaccard", "kendall_tau")


@dataclass(frozen=True, eq=False, repr=False)
class Overlap(Tables, Mapping[str, float]):
    """The similarity of two runs: a table, and a mapping of measures to means.

    ``overlap["rbo"]`` is a mean over users; ``table`` adds intervals and counts; ``per_query`` has a row per user.
    ``only_a`` and ``only_b`` count the users of only one run, who are left out; ``tied`` counts the listed items of
    both runs that are tied and keep the input order.
    """

    _internal = "ids query_values"

    query_values: Floats
    ids: Mapping[str, Any]
    k: int | None
    p: float
    only_a: int = 0
    only_b: int = 0
    tied: int = 0

    def __getitem__(self, name: str) -> float:
        if name not in MEASURES:
            raise NumberError(f"overlap: unknown measure {name!r}. {offer(name, MEASURES)}")
        return mean(self.query_values[:, MEASURES.index(name)])

    __eq__ = object.__eq__  # two overlaps with the same means need not be the same
    __hash__ = object.__hash__

    def __iter__(self) -> Iterator[str]:
        return iter(MEASURES)

    def __len__(self) -> int:
        return len(MEASURES)

    @cached_property
    def summaries(self) -> dict[str, Summary]:
        """Each measure with its interval, SD and counts."""
        student = IntervalMethod("student")
        return {
            name: summarise(values, method=student, limits=(-1.0 if name == "kendall_tau" else 0.0, 1.0))
            for name, values in zip(MEASURES, self.query_values.T, strict=True)
        }

    @property
    def table(self) -> pl.DataFrame:
        """A row per measure: mean, 95 % CI (low, high), SD over users (deviation), users counted and undefined."""
        import polars as pl

        rows = [(name, *summary) for name, summary in self.summaries.items()]
        return pl.DataFrame(rows, schema={"measure": pl.String, **number_types()}, orient="row").fill_nan(None)

    @property
    def per_query(self) -> pl.DataFrame:
        """A row per user of both runs."""
        import polars as pl

        values = pl.DataFrame(dict(zip(MEASURES, self.query_values.T, strict=True))).fill_nan(None)
        return pl.DataFrame(dict(self.ids)).hstack(values)

    def to_dict(self) -> dict[str, float]:
        """Measures and means."""
        return dict(self)

    def to_polars(self) -> pl.DataFrame:
        """The table."""
        return self.table

    def _parts(self, *, bold: bool) -> list[Grid | Sequence[str]]:
        rows = [(name, *cells(summary)) for name, summary in self.summaries.items()]
        users = [f"{number_of(len(self.query_values), 'user')} in both runs"]
        users += [
            f"{count:,} only in {run} (left out)"
            for count, run in zip((self.only_a, self.only_b), RUNS, strict=True)
            if count
        ]
        lists = "whole lists" if self.k is None else f"the top {self.k} of each list"
        tied = [f"{self.tied:,} tied (input order kept)"] if self.tied else []
        notes = ["; ".join(users), "; ".join([f"{lists}, p = {printed(self.p)}", *tied])]
        return [Grid(("measure", *HEADER), rows, right=HEADER), notes]


def overlap(
    run_a: Any,
    run_b: Any,
    k: int | None = None,
    p: float = 0.9,
    columns: Columns | Mapping[str, Columns] | None = None,
) -> Overlap:
    """Compare the lists of two runs, user by user.

    X_d is the number of items that the first d places of both lists have in common, s and l are the lengths of the
    shorter and the longer list.

    ``rbo``
        Rank-biased overlap, extrapolated beyond the end of the lists at their final agreement: (1 - p)/p (Σ_{d≤l} p^d
        X_d / d + Σ_{s<d≤l} p^d X_s (d - s) / (s d)) + ((X_l - X_s) / l + X_s / s) p^l.
    ``rbo_min``, ``rbo_residual``
        Its lower bound, whatever follows below the lists, and the distance to the upper bound: (1 - p)/p (Σ_{d≤l} p^d
        X_d / d + Σ_{d>l} p^d X_l / d), and the difference to the same sum for the best continuation.
    ``average_overlap``
        The mean of X_d / d over the depths d = 1 ... l.
    ``jaccard``
        The items in both lists, divided by the items in either.
    ``kendall_tau``
        Over the common items: concordant minus discordant pairs, divided by all pairs. Undefined for a user with fewer
        than two common items.

    Parameters
    ----------
    run_a, run_b
        Lists in any form that ``evaluate`` takes. Equal scores keep the input order.
    k
        Cut lists off at k.
    p
        The persistence of rank-biased overlap: most of its weight is in the first 1 / (1 - p) ranks.
    columns
        The names of the columns, for both runs or as ``{"run_a": Columns(...), "run_b": Columns(...)}``.

    References
    ----------
    Webber, Moffat and Zobel, A similarity measure for indefinite rankings, 2010.
    Kendall, A new measure of rank correlation, 1938.

    Examples
    --------
    At depths 1, 2 and 3 the lists have 1, 1 and 3 items in common. The average overlap is (1 + 1/2 + 1) / 3. Only at
    depth 2, which weighs 0.1 * 0.9, half is missing: rank-biased overlap is 1 - 0.09 / 2. Of the three pairs (b, c) is
    turned round: (2 - 1) / 3.

    >>> shared = atkay.overlap({"ann": ["a", "b", "c"]}, {"ann": ["a", "c", "b"]})
    >>> [round(shared[name], 4) for name in ("average_overlap", "rbo", "kendall_tau")]
    [0.8333, 0.955, 0.3333]
    """
    from atkay.inputs.read import read_recs

    if k is not None and not is_integer(k, 1, DEEPEST):
        raise SpecError(
            f"overlap: k must be a positive integer up to {DEEPEST:,}, or None for whole lists; got {shown(k)}."
        )
    if not is_number(p, 0, 1):
        raise SpecError(f"overlap: p must be a number between 0 and 1, got {shown(p)}.")
    tables = [
        read_recs(given, columns_of_run(columns, name), name) for name, given in zip(RUNS, (run_a, run_b), strict=True)
    ]
    ids, items, (one, other), tied = _settled(*tables)
    both = np.flatnonzero((one.length > 0) & (other.length > 0))
    if not len(both):
        raise apart(*([column[0] for column in table.ids[:-1]] for table in tables))
    alone = int((other.length == 0).sum()), int((one.length == 0).sum())
    matched = match(one, other)
    if any(matched.repeated):
        run, lists = (RUNS[0], one) if matched.repeated[0] else (RUNS[1], other)
        raise repeats(lists, items, lambda query: f"the list of {who(ids, query)}", run, "Drop them.")
    return Overlap(
        query_values=similarity(one, other, matched, WHOLE if k is None else int(k), float(p))[both],
        ids={name: column[both] for name, column in ids.items()},
        k=None if k is None else int(k),
        p=float(p),
        only_a=alone[0],
        only_b=alone[1],
        tied=tied,
    )


def columns_of_run(columns: Columns | Mapping[str, Columns] | None, name: str) -> Columns:
    """The column names that hold for one run."""
    if columns is None or isinstance(columns, Columns):
        return columns or Columns()
    of_run = columns.get(name, Columns()) if isinstance(columns, Mapping) and set(columns) <= set(RUNS) else None
    if not isinstance(of_run, Columns):
        raise InputError(f"columns: pass Columns(...), or a dict of them for {listing(RUNS)}; got {shown(columns)}.")
    return of_run


def same_ids(one: Table, other: Table) -> tuple[Table, Table]:
    """Both runs with ids of the same types; refused where their users cannot be the same."""
    from atkay.inputs.checks import check_shapes
    from atkay.inputs.coding.types import same_types

    if len(one.key) != len(other.key):
        raise IdError(
            f"run_a names a user by {listing(one.key)}, run_b by {listing(other.key)}. Name the same number of "
            f"columns with {columns_argument(user=(...,))}."
        )
    check_shapes(one, other)
    return same_types(one, other)


def apart(one: Sequence[Any], other: Sequence[Any]) -> IdError:
    """The error of two runs without a user in common: the first user of each is its example."""
    first, second = (user[0] if len(user) == 1 else tuple(user) for user in (one, other))
    return IdError(
        f"run_a and run_b have no user in common: run_a has {first!r}, run_b has {second!r}, for example. "
        "Are these the ids of the same users?"
    )


def _settled(one: Table, other: Table) -> tuple[dict[str, pl.Series], Vocabulary, list[Lists], int]:
    """The ids of all users, the codes of all items, the lists of either run, and how many rows are tied."""
    from atkay.inputs.coding.lookup import grouped, in_order
    from atkay.inputs.coding.vocabulary import Vocabulary

    tables = same_ids(one, other)
    users, user_codes = Vocabulary.of([table.ids[:-1] for table in tables], dense=True)
    items, item_codes = Vocabulary.of([table.ids[-1:] for table in tables])
    named = users.ids(np.arange(users.size)).rename(dict(zip(users.names, one.key, strict=True)))
    ids = {column.name: column for column in named.get_columns()}
    rankings, tied = [], 0
    for table, user, item in zip(tables, user_codes, item_codes, strict=True):
        lists, moved = grouped(user, None, item, users.size, items.size)
        score = None if table.score is None else Scores(table.score.to_numpy(), moved)
        origin = Origin(table.name, table.used, lambda query: who(ids, query))
        order, n_tied = rank_order(lists, in_order(table.rank, moved), score, origin)
        rankings.append(lists.reordered(order))
        tied += n_tied
    return ids, items, rankings, tied


@dataclass(frozen=True, eq=False)
class CommonItems:
    """The items that two lists share, ordered by query and rank in the first: ``rank`` there, ``other`` in the second.

    ``length`` and ``other_length`` are the lists' own, cut like the ranks.
    """

    query: Ints
    rank: Ints
    other: Ints
    length: Ints
    other_length: Ints


def common_items(one: Lists, other: Lists, matched: Match, block: tuple[int, int], cutoff: int = WHOLE) -> CommonItems:
    """The items that both lists of the queries of a block have up to the cutoff; queries count from its first."""
    first, last = block
    rows = slice(*np.searchsorted(matched.row, one.start[[first, last]]))
    query = one.owner(first, last).take(matched.row[rows] - one.start[first])
    rank = matched.row[rows] - one.start[first:last].take(query) + 1
    rank_there = matched.at[rows] - other.start[first:last].take(query) + 1
    if cutoff < WHOLE:
        inside = np.flatnonzero(np.maximum(rank, rank_there) <= cutoff)
        query, rank, rank_there = (each.take(inside) for each in (query, rank, rank_there))
    lengths = (np.minimum(each.length[first:last], cutoff) for each in (one, other))
    return CommonItems(query, rank, rank_there, *lengths)


def similarity(one: Lists, other: Lists, matched: Match, cutoff: int, p: float) -> Floats:
    """All measures of every query, block by block; what they say of a query that has one list only means nothing."""
    lengths = np.minimum(one.length, cutoff), np.minimum(other.length, cutoff)
    deepest = int(lengths[0].max() + lengths[1].max())
    depth = np.arange(1, deepest + 1)
    biased, harmonic = (np.concatenate(([0.0], np.cumsum(each))) for each in (p**depth / depth, 1 / depth))
    out = np.empty((one.n_queries, len(MEASURES)))

    def of_block(block: tuple[int, int]) -> None:
        shared = common_items(one, other, matched, block, cutoff)
        measured = *_weighted(shared, p, biased, harmonic), _jaccard(shared), _kendall(shared)
        out[slice(*block)] = np.column_stack(measured)

    in_threads(of_block, one.blocks(other))
    return out


def _weighted(shared: CommonItems, p: float, biased: Floats, harmonic: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """Rank-biased overlap (extrapolated, minimum, residual) and average overlap.

    ``biased[d]`` and ``harmonic[d]`` are the sums of p^i / i and of 1 / i for i up to d. An item that both lists have
    counts at every depth from the deeper of its ranks on, so that a sum over depths is one over common items.
    """
    n = len(shared.length)
    short, long = np.minimum(shared.length, shared.other_length), np.maximum(shared.length, shared.other_length)
    depth = np.maximum(shared.rank, shared.other)

    def total(weights: Floats) -> Floats:
        summed: Floats = np.bincount(shared.query, weights=weights, minlength=n).astype(float, copy=False)
        return summed

    every = -math.log1p(-p)  # the sum of p^d / d over all depths
    end_short, end_long = (np.power(p, each.astype(float)) for each in (short, long))
    x_long, x_short = total(np.ones(len(depth))), total((depth <= short[shared.query]).astype(float))
    least = (1 - p) / p * total(every - biased[depth - 1])
    seen = (1 - p) / p * total(biased[long][shared.query] - biased[depth - 1])
    # The shorter list is taken to go on at the rate of its end; Σ p^d (d - s) / d is Σ p^d - s Σ p^d / d.
    at_short = x_short / np.maximum(short, 1)
    assumed = at_short * (end_short - end_long - (1 - p) / p * short * (biased[long] - biased[short]))
    extrapolated = seen + assumed + ((x_long - x_short) / long + at_short) * end_long
    # From this depth on the best continuation agrees in everything.
    full = short + long - x_long.astype(np.int64)
    open_places = short * (biased[full] - biased[short]) + long * (biased[full] - biased[long])
    residual = end_short + end_long - np.power(p, full.astype(float))
    residual -= (1 - p) / p * (open_places + x_long * (every - biased[full]))
    average = total(harmonic[long][shared.query] - harmonic[depth - 1]) / long
    # Rounding may leave the bounds in the last digit.
    bounded = (np.clip(each, 0, 1) for each in (extrapolated, least, residual, average))
    return next(bounded), next(bounded), next(bounded), next(bounded)


def _jaccard(shared: CommonItems) -> Floats:
    common = np.bincount(shared.query, minlength=len(shared.length))
    return common / (shared.length + shared.other_length - common)


def _kendall(shared: CommonItems) -> Floats:
    """Kendall's tau, NaN below two common items."""
    n = np.bincount(shared.query, minlength=len(shared.length)).astype(float)
    pairs = n * (n - 1) / 2
    with np.errstate(invalid="ignore"):
        tau: Floats = (pairs - 2 * inversions(shared.query, shared.other, len(n))) / pairs
    return tau


def inversions(group: Ints, value: Ints, n_groups: int) -> Floats:
    """How many pairs of each group stand with the higher value first; the elements of a group stand together.

    Two values differ first at one bit. Bit by bit from the highest, the elements stand by group and higher bits, then
    as given: those with 1 that stand before one with 0 are the pairs that differ here the wrong way. Each bit costs
    one pass.
    """
    out = np.zeros(n_groups)
    for bit in range(int(value.max(initial=0)).bit_length() - 1, -1, -1):
        key = (group << 32) | (value >> (bit + 1))
        fresh = np.flatnonzero(np.diff(key, prepend=-1))
        size = np.diff(fresh, append=len(key))
        one = (value >> bit) & 1
        before = np.cumsum(one) - one  # ones before each element, of all groups
        ones = before - np.repeat(before[fresh], size)
        zero = np.flatnonzero(one == 0)
        out += np.bincount(group[zero], ones[zero].astype(float), minlength=n_groups)
        # Zeros go before ones, either in the order in which they stand.
        n_zero = size - np.add.reduceat(one, fresh)
        place = np.where(one == 1, np.repeat(fresh + n_zero, size) + ones, np.arange(len(key)) - ones)
        moved = np.empty_like(value)
        moved[place] = value
        value = moved
    return out
