"""Vocabulary: ids of any kind and their integer codes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from atkay.core import kernels
from atkay.core.fingerprint import Numbers, id_numbers, numbers_of
from atkay.core.lists import in_threads, ranges
from atkay.core.native.arrow import ArrowColumn
from atkay.inputs.in_place import in_place, take_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from atkay.core.types import Array, Bools, Hashes, Ints

Ids = tuple[pl.Series, ...]

CODED = frozenset({pl.String, pl.Int64, pl.Int32})
"""The usual types of ids, which a kernel numbers."""
WIDE = frozenset({pl.UInt64, pl.Int128, pl.UInt128})
"""Integers that need not fit into 64 bits with a sign."""
FEW_ROWS = 2000
"""Python numbers fewer ids than this before a kernel has been told where they lie."""
LEAST_ROOM = 1 << 16
"""A range of codes may be this long for a handful of ids: to look through it takes less than to number them."""
ROWS_PER_SLICE = 1 << 20
"""Rows of a column that a thread looks up at a time."""


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """Ids and their codes, which keep the ids' order.

    Integers that are close together need no hashing: a code is the id less ``low``, or stands at that place in
    ``lookup`` where the codes must have no gaps. Everything else is numbered in a ``table``.
    """

    size: int
    names: tuple[str, ...]
    dtype: pl.DataType | None = None
    low: int = 0
    first: int = 0
    """The lowest code that is in use."""
    lookup: Ints | None = None
    table: pl.DataFrame | None = None

    @classmethod
    def of(
        cls, tables: Sequence[Ids], *, dense: bool = False, room: int | None = None
    ) -> tuple[Vocabulary, list[Ints]]:
        """All ids of the tables, and each table's codes.

        With ``dense`` each code belongs to an id that occurs. Integers may leave so much ``room`` between the lowest
        and the highest to be codes as they are; usually about four times their number.
        """
        names = tuple(f"id {n}" for n in range(len(tables[0])))
        columns = [_common_type(ids) for ids in zip(*tables, strict=True)]
        tables = list(zip(*columns, strict=True))
        if len(columns) == 1 and columns[0][0].dtype.is_integer() and any(map(len, columns[0])):
            coded = cls._of_integers(columns[0], names, room, dense=dense)
            if coded is not None:
                return coded
        if len(columns) == 1 and is_coded(columns[0][0].dtype):
            return cls._of_one(columns[0], names)
        return cls._of_any(tables, names)

    @classmethod
    def _of_one(cls, columns: list[pl.Series], names: tuple[str, ...]) -> tuple[Vocabulary, list[Ints]]:
        """Text, or integers that are far apart."""
        if sum(map(len, columns)) <= FEW_ROWS:
            lists = [column.to_list() for column in columns]
            ids = sorted(set().union(*lists))
            code_of = dict(zip(ids, range(len(ids)), strict=True))
            table = pl.Series(names[0], ids, columns[0].dtype).to_frame()
            codes = [np.fromiter(map(code_of.__getitem__, each), np.int32, len(each)) for each in lists]
            return cls(len(table), names, table=table), codes  # type: ignore[return-value]  # narrow
        return cls._of_many(columns, names)

    @classmethod
    def _of_many(cls, columns: list[pl.Series], names: tuple[str, ...]) -> tuple[Vocabulary, list[Ints]]:
        """The same by a kernel."""
        table: pl.DataFrame | None = None

        def place_of(of: Ints, row: Ints) -> Ints:
            nonlocal table
            seen = [np.flatnonzero(of == at) for at in range(len(columns))]
            ids = pl.concat([take_rows(each, row[new]) for each, new in zip(columns, seen, strict=True)]).alias(
                names[0]
            )
            order = np.concatenate(seen)
            by_id = _sorting(ids)
            table = take_rows(ids, by_id).to_frame()
            place = np.empty(len(order), np.int64)
            place[order[by_id]] = np.arange(len(order))
            return place

        codes = kernels.number_ids([in_place(column) for column in columns], place_of)
        assert table is not None
        return cls(len(table), names, table=table), codes

    @classmethod
    def _of_any(cls, tables: Sequence[Ids], names: tuple[str, ...]) -> tuple[Vocabulary, list[Ints]]:
        """Ids of any kind: those of the shortest table are numbered, then what else the others have."""
        by_length = sorted(range(len(tables)), key=lambda n: len(tables[n][0]))
        table = _distinct(tables[by_length[0]], names)
        codes: dict[int, Ints] = {}
        for at in by_length:
            codes[at] = cls(len(table), names, table=table).codes(tables[at])
            if len(new := np.flatnonzero(codes[at] < 0)):
                rest = tuple(column.gather(new) for column in tables[at])
                table = pl.concat((table, _distinct(rest, names)))
                codes[at][new] = cls(len(table), names, table=table).codes(rest)
        table = table.with_row_index("number").sort(names)
        place = np.empty(len(table), np.int32 if len(table) < 1 << 31 else np.int64)
        place[table.get_column("number").to_numpy()] = np.arange(len(table))
        numbered = cls(len(table), names, table=table.drop("number"))
        return numbered, [kernels.take(place, codes[at].astype(np.int64)) for at in range(len(tables))]

    @classmethod
    def _of_integers(
        cls, columns: list[pl.Series], names: tuple[str, ...], room: int | None, *, dense: bool
    ) -> tuple[Vocabulary, list[Ints]] | None:
        """Integers as their own codes; None where they are too far apart."""
        dtype = columns[0].dtype
        wide = dtype in WIDE
        ids = [] if wide else [in_place(column) for column in columns]
        low, high = _span_of_wide(columns) if wide else _span(ids)
        room = 4 * sum(map(len, columns)) + LEAST_ROOM if room is None else room
        if high - low >= room or not fits(low) or not fits(high):
            return None
        ids = [in_place(_narrow(column)) for column in columns] if wide else ids
        if not dense:
            base = min(low, 0) if low <= high - low else low  # ids that start near 0 are codes as they are
            vocabulary = cls(high - base + 1, names, dtype, base, first=low - base)
        else:
            present = np.zeros(high - low + 1, bool)
            for column in ids:
                present |= kernels.mark(column, low, len(present))
            lookup = None if present.all() else np.where(present, np.cumsum(present) - 1, -1)
            vocabulary = cls(int(np.count_nonzero(present)), names, dtype, low, lookup=lookup)
        return vocabulary, [vocabulary._codes_of_integers(column) for column in ids]

    def codes(self, ids: Ids) -> Ints:
        """The codes of ids, and something that is no code where an id is unknown."""
        if not len(ids[0]):  # of any type
            return np.empty(0, np.int64)
        if self.table is not None:
            column = self.table.get_column(self.names[0])
            if len(ids) == 1 and column.dtype == ids[0].dtype and is_coded(column.dtype):
                of_table = (column, ids[0])
                return kernels.number_ids([in_place(each) for each in of_table], _place_in_first)[1]
            slices = ranges(len(ids[0]), ROWS_PER_SLICE)
            parts = in_threads(lambda b: self._codes_of_any(tuple(each[slice(*b)] for each in ids)), slices)
            return np.concatenate(parts)
        return self._codes_of_integers(in_place(_narrow(ids[0], self.low - 1)))

    def _codes_of_integers(self, ids: Array | ArrowColumn) -> Ints:
        if self.lookup is None and self.low == 0 and isinstance(ids, np.ndarray):
            return ids
        span = self.size if self.lookup is None else len(self.lookup)
        return kernels.codes(ids, self.low, span, self.lookup)

    def _codes_of_any(self, ids: Ids) -> Ints:
        assert self.table is not None
        frame = _frame(ids, self.names).cast({name: self.table.schema[name] for name in self.names}, strict=False)
        return self._narrow(frame.join(self._coded, on=self.names, how="left", maintain_order="left"))

    @cached_property
    def _coded(self) -> pl.DataFrame:
        assert self.table is not None
        return self.table.with_row_index("code")

    def _narrow(self, coded: pl.DataFrame) -> Ints:
        """The codes that were found, -1 for none, in no wider integers than it takes."""
        wide = pl.Int32 if self.size < 1 << 31 else pl.Int64
        return coded.get_column("code").cast(wide).fill_null(-1).to_numpy()

    def known(self, codes: Ints) -> Bools:
        """Which codes are codes."""
        return (codes >= 0) & (codes < self.size)

    def text_order(self) -> Ints:
        """The place of each code's id among all of them, as text."""
        return self.all_ids().to_series().cast(pl.String).rank("ordinal").cast(pl.Int64).to_numpy()

    def numbers(self, codes: Ints) -> Hashes:
        """A number for each id of codes, for a single column."""
        return numbers_of(codes, self.numbering)

    @cached_property
    def numbering(self) -> Numbers:
        """The number of each code's id, for a single column; that of code 0 where the others follow."""
        if self.table is None and self.lookup is None:
            return self.low
        return id_numbers(self.all_ids().to_series())

    def all_ids(self) -> pl.DataFrame:
        """The ids of all codes."""
        return self.ids(np.arange(self.size)) if self.table is None else self.table

    def ids(self, codes: Ints) -> pl.DataFrame:
        """The ids of codes."""
        if self.table is not None:
            return pl.DataFrame([self.table.get_column(name)[codes] for name in self.names])
        place = codes if self.lookup is None else np.flatnonzero(self.lookup >= 0)[codes]
        wide = place.astype(np.int64, copy=False) + self.low  # codes may be of 32 bits, and ids beyond them
        return pl.DataFrame([pl.Series(self.names[0], wide).cast(self.dtype or pl.Int64)])


def _frame(ids: Ids, names: tuple[str, ...]) -> pl.DataFrame:
    return pl.DataFrame([column.alias(name) for name, column in zip(names, ids, strict=True)])


def _distinct(ids: Ids, names: tuple[str, ...]) -> pl.DataFrame:
    """Each id once."""
    frame = _frame(ids, names)
    return pl.concat(in_threads(lambda b: frame[slice(*b)].unique(), ranges(len(frame), ROWS_PER_SLICE))).unique()


def _sorting(ids: pl.Series) -> Ints:
    """The rows of different ids in the order of the ids."""
    if len(ids) > ROWS_PER_SLICE:
        return ids.arg_sort().to_numpy().astype(np.int64)  # in threads
    return kernels.order_text(ArrowColumn(ids)) if ids.dtype == pl.String else np.argsort(ids.to_numpy())


def is_coded(dtype: pl.DataType) -> bool:
    """Whether a kernel numbers ids of this type."""
    return dtype in CODED or (dtype.is_integer() and dtype not in (pl.Int128, pl.UInt128))


def _place_in_first(column: Ints, row: Ints) -> Ints:
    """The rows of ids in the first column, -1 for ids that it does not have."""
    return np.where(column == 0, row, -1)


def fits(value: int) -> bool:
    """Whether a code can be made of an id by taking off another."""
    return -(2**62) < value < 2**62


def _span(columns: Sequence[Array | ArrowColumn]) -> tuple[int, int]:
    """The lowest and the highest of integer ids."""
    lows, highs = zip(*[kernels.span(column) for column in columns if len(column)], strict=True)
    return min(lows), max(highs)


def _span_of_wide(columns: Sequence[pl.Series]) -> tuple[int, int]:
    columns = [column for column in columns if len(column)]
    return min(int(c.min()) for c in columns), max(int(c.max()) for c in columns)  # type: ignore[arg-type]  # not null


def _narrow(ids: pl.Series, other: int = 0) -> pl.Series:
    """Integer ids in 64 bits with a sign, and another number for those that do not fit."""
    return ids.cast(pl.Int64, strict=False).fill_null(other) if ids.dtype in WIDE else ids


def _common_type(columns: tuple[pl.Series, ...]) -> list[pl.Series]:
    """Columns of the same type: integers of different widths become the widest that is needed."""
    dtypes = [column.dtype for column in columns]
    if all(dtype == dtypes[0] for dtype in dtypes[1:]):
        return list(columns)
    if all(dtype.is_integer() for dtype in dtypes):
        wide = pl.Int128 if any(dtype in (pl.Int128, pl.UInt64) for dtype in dtypes) else pl.Int64
        return [column.cast(wide) for column in columns]
    raise AssertionError(f"unchecked ids of types {dtypes}")  # same_types has refused them
