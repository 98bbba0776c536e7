"""Align: user and item ids of all tables -> integer codes that mean the same everywhere."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from atkay.errors import IdError, SourceError
from atkay.hashing import Hashes, id_hashes, scrambled
from atkay.lists import Lists, count, group, in_threads, mask, ranges

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from atkay.metrics.base import Bools, Floats, Ints
    from atkay.ranking import Array
    from atkay.tables import Table

CANONICAL = r"^(?:0|-?[1-9][0-9]{0,17})$"
"""Text that is an integer and nothing but: "7", not "007"."""


@dataclass(frozen=True, eq=False)
class Aligned:
    """The rows of all tables as codes, grouped by query.

    ``queries`` has a row per query, in ascending order of the ids; a query's code is its row's number. ``score``,
    ``rank`` and ``grade`` stand in the order of the rows of ``recs`` and ``truth``. ``exclude`` and ``candidates`` are
    lists, or a flag per item where they hold for every query.
    """

    queries: pl.DataFrame
    items: Vocabulary
    recs: Lists
    truth: Lists
    n_unknown: int = 0
    """How many listed rows name an item that the truth never mentions."""
    score: Array | None = None
    rank: Ints | None = None
    grade: Floats | None = None
    exclude: Lists | Bools | None = None
    candidates: Lists | Bools | None = None
    extra: pl.DataFrame | None = None
    """Further columns of the truth, in the order of its rows."""
    names: Mapping[str, str] = field(default_factory=dict)
    """The names of the lists' columns, for messages."""

    def who(self, query: int) -> str:
        """A query in words: user 'ann', or session_id 7, step 2."""
        ids = self.queries.row(int(query))
        if len(ids) == 1:
            return f"user {ids[0]!r}"
        return ", ".join(f"{name} {id_!r}" for name, id_ in zip(self.queries.columns, ids, strict=True))

    def query_hashes(self) -> Hashes:
        """A hash per query."""
        return scrambled(0, *(id_hashes(column) for column in self.queries.get_columns()))

    def item_hashes(self) -> Hashes:
        """A hash per item."""
        return id_hashes(self.items.ids(np.arange(self.items.size)).to_series())


def align(recs: Table, truth: Table, exclude: Table | None, candidates: Table | None) -> Aligned:
    """Codes for the queries and items of the lists and the truth; what only the other tables know is left out."""
    if len(recs.key) != len(truth.key):
        raise IdError(
            f"recs names a query by {recs.key}, truth by {truth.key}. Name as many columns with Columns(user=(...))."
        )
    if recs.n_rows is not None and truth.n_rows is not None and recs.n_rows != truth.n_rows:
        raise SourceError(
            f"recs has {recs.n_rows:,} rows and truth {truth.n_rows:,}; a user is a row number, so both need as many."
        )
    recs, truth = same_types(recs, truth)
    runs = [Runs.of(table.ids[:-1]) for table in (recs, truth)]
    users = Vocabulary.of([run.ids for run in runs], dense=True)
    items = Vocabulary.of([recs.ids[-1:], truth.ids[-1:]])
    listed, order = _lists(runs[0], items.codes(recs.ids[-1:]), users, items)
    known, truth_order = _lists(runs[1], items.codes(truth.ids[-1:]), users, items)
    if not ((listed.length > 0) & (known.length > 0)).any():
        raise _nothing_common(recs, truth, "user", slice(0, -1))
    n_unknown = len(listed) - count(mask(known.item, known.n_items), listed.item)
    if n_unknown == len(listed):
        raise _nothing_common(recs, truth, "item", slice(-1, None))
    return Aligned(
        queries=users.ids(np.arange(users.size)).rename(dict(zip(users.names, truth.key, strict=True))),
        items=items,
        recs=listed,
        truth=known,
        n_unknown=n_unknown,
        score=_in_order(recs.score, order),
        rank=_in_order(recs.rank, order),
        grade=_in_order(truth.grade, truth_order),
        exclude=_outside(exclude, truth, users, items),
        candidates=_outside(candidates, truth, users, items),
        extra=truth.extra if truth.extra is None or truth_order is None else truth.extra[truth_order],
        names=recs.used,
    )


@dataclass(frozen=True, eq=False)
class Runs:
    """Rows that follow each other with the same key: the key of each run, and how many rows it has.

    Tables mostly come with the rows of a user together, so that there are far fewer keys to look at than rows.
    """

    ids: tuple[pl.Series, ...]
    length: Ints

    @classmethod
    def of(cls, ids: tuple[pl.Series, ...]) -> Runs:
        """The runs of some columns."""
        rows = len(ids[0])
        start = np.concatenate(([0], changes(ids[0])))
        for column in ids[1:]:
            start = np.union1d(start, changes(column))
        if len(start) > rows // 4:
            return cls(ids, np.ones(rows, np.int64))
        return cls(tuple(column.gather(start) for column in ids), np.diff(start, append=rows))


def changes(column: pl.Series) -> Ints:
    """The rows whose value is not that of the row before."""
    if not column.dtype.is_integer() or column.dtype in (pl.Int128, pl.UInt128):
        return (column != column.shift(1)).fill_null(False).arg_true().cast(pl.Int64).to_numpy()
    values = column.to_numpy()

    def of_block(block: tuple[int, int]) -> Ints:
        first, last = block[0], min(block[1] + 1, len(values))
        return np.flatnonzero(values[first + 1 : last] != values[first : last - 1]) + first + 1

    return np.concatenate(in_threads(of_block, ranges(len(values))))


def _lists(runs: Runs, item: Ints, users: Vocabulary, items: Vocabulary) -> tuple[Lists, Ints | None]:
    """The items by query, and the order of the rows that this took; None where they stand so."""
    code = users.codes(runs.ids)
    if (code[1:] > code[:-1]).all():
        length = np.zeros(users.size, np.int64)
        length[code] = runs.length
        return Lists.of(length, item, items.size), None
    length, order = group(code if len(code) == len(item) else np.repeat(code, runs.length), users.size)
    return Lists.of(length, item if order is None else item[order], items.size), order


def _in_order(column: pl.Series | None, order: Ints | None) -> Any:
    if column is None:
        return None
    return column.to_numpy() if order is None else column.to_numpy()[order]


@dataclass(frozen=True)
class Vocabulary:
    """Ids and their codes, which keep the ids' order.

    Integers that are close together need no hashing: a code is the id less ``low``, or stands at that place in
    ``lookup`` where the codes must have no gaps. Everything else is numbered in a ``table``.
    """

    size: int
    names: tuple[str, ...]
    dtype: pl.DataType | None = None
    low: int = 0
    lookup: Ints | None = None
    table: pl.DataFrame | None = None

    @classmethod
    def of(cls, tables: Sequence[tuple[pl.Series, ...]], *, dense: bool = False) -> Vocabulary:
        """All ids of the tables. With ``dense`` each code belongs to an id that occurs."""
        names = tuple(f"id {n}" for n in range(len(tables[0])))
        columns = [_common_type(ids) for ids in zip(*tables, strict=True)]
        first = columns[0]
        if len(columns) == 1 and first[0].dtype.is_integer():
            low, high = _span(first)
            if high - low < 4 * sum(map(len, first)) + 1024:
                return cls._of_integers(first, names, low, high, dense=dense)
        frames = [
            pl.DataFrame([column[at].alias(name) for name, column in zip(names, columns, strict=True)]).unique()
            for at in range(len(tables))
        ]
        table = pl.concat(frames).unique().sort(names).with_row_index("code")
        return cls(len(table), names, table=table)

    @classmethod
    def _of_integers(
        cls, columns: list[pl.Series], names: tuple[str, ...], low: int, high: int, *, dense: bool
    ) -> Vocabulary:
        dtype = columns[0].dtype
        if not dense:
            low = min(low, 0) if low <= high - low else low  # ids that start near 0 are codes as they are
            return cls(high - low + 1, names, dtype, low)
        present = np.zeros(high - low + 1, bool)
        for column in columns:
            present[_less(column, low)] = True
        if present.all():
            return cls(len(present), names, dtype, low)
        lookup = np.where(present, np.cumsum(present) - 1, -1)
        return cls(int(present.sum()), names, dtype, low, lookup)

    def codes(self, ids: tuple[pl.Series, ...]) -> Ints:
        """The codes of ids, and something that is no code where an id is unknown."""
        if self.table is not None:
            asked = pl.DataFrame([column.alias(name) for name, column in zip(self.names, ids, strict=True)])
            asked = asked.cast({name: self.table.schema[name] for name in self.names}, strict=False)
            found = asked.join(self.table, on=self.names, how="left", maintain_order="left").get_column("code")
            return found.cast(pl.Int64).fill_null(-1).to_numpy()
        code = _less(ids[0], self.low)
        if self.lookup is None:
            return code
        inside = (code >= 0) & (code < len(self.lookup))
        if inside.all():
            return self.lookup[code]
        return np.where(inside, self.lookup[np.where(inside, code, 0)], -1)

    def known(self, codes: Ints) -> Bools:
        """Which codes are codes."""
        return (codes >= 0) & (codes < self.size)

    def ids(self, codes: Ints) -> pl.DataFrame:
        """The ids of codes."""
        if self.table is not None:
            return self.table.select(self.names)[codes]
        place = codes if self.lookup is None else np.flatnonzero(self.lookup >= 0)[codes]
        return pl.DataFrame({self.names[0]: pl.Series(place + self.low).cast(self.dtype or pl.Int64)})


def _span(columns: Sequence[pl.Series]) -> tuple[int, int]:
    """The lowest and the highest of integer ids."""
    if any(column.dtype in (pl.Int128, pl.UInt128) for column in columns):
        return min(int(c.min()) for c in columns), max(int(c.max()) for c in columns)  # type: ignore[arg-type]

    def of_column(values: Array) -> list[tuple[int, int]]:
        blocks = ranges(len(values))
        return in_threads(lambda b: (int(values[b[0] : b[1]].min()), int(values[b[0] : b[1]].max())), blocks)

    found = [ends for column in columns for ends in of_column(column.to_numpy())]
    return min(low for low, _ in found), max(high for _, high in found)


def _less(ids: pl.Series, low: int) -> Ints:
    """Integer ids less the lowest, never overflowing; the column itself where there is nothing to take off."""
    if low == 0 and ids.dtype != pl.UInt64:
        return ids.to_numpy()
    return ids.cast(pl.Int64).to_numpy() - low


def _common_type(columns: tuple[pl.Series, ...]) -> list[pl.Series]:
    """Columns of the same type: integers of different widths become the widest that is needed."""
    dtypes = [column.dtype for column in columns]
    if len(set(dtypes)) == 1:
        return list(columns)
    if all(dtype.is_integer() for dtype in dtypes):
        wide = pl.Int128 if any(dtype in (pl.Int128, pl.UInt64) for dtype in dtypes) else pl.Int64
        return [column.cast(wide) for column in columns]
    return [column.cast(dtypes[0]) for column in columns]  # dates of different resolution


def same_types(one: Table, other: Table) -> tuple[Table, Table]:
    """Both tables with ids of the same types; text from a file without types follows the other side."""
    pairs = [_same(one, other, at) for at in range(min(len(one.ids), len(other.ids)))]
    return replace(one, ids=tuple(a for a, _ in pairs)), replace(other, ids=tuple(b for _, b in pairs))


def _same(one: Table, other: Table, at: int) -> tuple[pl.Series, pl.Series]:
    ids = [one.ids[at], other.ids[at]]
    if one.text and other.text:
        if all(column.str.contains(CANONICAL).all() for column in ids):
            ids = [column.cast(pl.Int64) for column in ids]
        return ids[0], ids[1]
    for here, there in ((0, 1), (1, 0)):
        text = (one, other)[here].text
        if text and ids[there].dtype.is_integer() and ids[here].str.contains(CANONICAL).all():
            ids[here] = ids[here].cast(pl.Int64)
    kinds = ["integer" if column.dtype.is_integer() else str(column.dtype.base_type()) for column in ids]
    if kinds[0] != kinds[1]:
        raise IdError(
            f"{one.name} and {other.name} have ids of different types: '{ids[0].name}' is {ids[0].dtype}, such as "
            f"{ids[0][0]!r}, and '{ids[1].name}' is {ids[1].dtype}, such as {ids[1][0]!r}. Nothing would match. "
            "Convert one of them, for instance with frame.with_columns(pl.col(name).cast(pl.String))."
        )
    return ids[0], ids[1]


def _nothing_common(recs: Table, truth: Table, what: str, part: slice) -> IdError:
    here, there = (tuple(column[0] for column in table.ids[part]) for table in (recs, truth))
    first, second = (one[0] if len(one) == 1 else one for one in (here, there))
    return IdError(
        f"recs and truth have no {what} in common: recs has {first!r}, truth has {second!r}, for example. "
        f"Are these the ids of the same {what}s?"
    )


def _outside(table: Table | None, truth: Table, users: Vocabulary, items: Vocabulary) -> Lists | Bools | None:
    """The rows of another table that the vocabularies know; a flag per item where it has no users."""
    if table is None:
        return None
    if len(table) == 0:
        return np.zeros(items.size, bool)
    if not table.key:
        item = items.codes(same_types(table, replace(truth, ids=truth.ids[-1:]))[0].ids)
        return mask(item[items.known(item)], items.size)
    if len(table.ids) != len(truth.ids):
        raise IdError(f"{table.name} names a query by {table.key}, truth by {truth.key}. Use the same columns.")
    table = same_types(table, truth)[0]
    query, item = users.codes(table.ids[:-1]), items.codes(table.ids[-1:])
    known = users.known(query) & items.known(item)
    length, order = group(query[known], users.size)
    return Lists.of(length, item[known] if order is None else item[known][order], items.size)
