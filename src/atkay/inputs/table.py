"""Table: the checked columns of one input; Source: named columns that are loaded when chosen."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import polars as pl

from atkay.errors import number_of
from atkay.inputs.columns import Columns
from atkay.tables import KINDS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from atkay.inputs.pairs import PerhapsPairs


@dataclass(frozen=True)
class Pieces:
    """A table that need not be read as a whole."""

    scan: Callable[[Sequence[str]], pl.LazyFrame]
    skips: bool = False
    """Rows can be passed over without reading them, and are the same rows each time."""
    reading: Callable[[], AbstractContextManager[None]] = nullcontext
    """What turns an error of reading into one that says which file."""


@dataclass(frozen=True)
class Source:
    """Named columns that are loaded when chosen."""

    names: tuple[str, ...]
    select: Callable[[Sequence[str]], pl.DataFrame]
    label: str
    text: bool = False
    """All columns are text, because the file has no types."""
    headless: bool = False
    """The file has no header: columns are column_1, column_2, ..."""
    columns: Columns | None = None
    """The roles of the columns, where the kind of object settles them."""
    n_rows: int | None = None
    """How many users there are, where a user is a row number."""
    n_items: int | None = None
    """How many items there are, where an item is a column number."""
    ordered: bool = True
    """Whether the order of the rows means anything."""
    other_columns: tuple[str, ...] | None = None
    """The columns of the tables that are named together with this one, where there are any."""
    pieces: Pieces | None = None
    """Where it is not in memory."""
    labelled: bool = False
    """The rows have labels that are no column, as the index of a pandas frame without a name."""
    dtype: Callable[[str], pl.DataType] | None = None
    """The type of a column, where it can be told without reading all of it."""
    roles: Mapping[str, str] = field(default_factory=dict)
    """The columns whose roles their place tells, such as the items of a list per user."""
    top: Callable[[Any, str], Source] | None = None
    """Where there is a score of every item: the same with the top of each list, as deep and precise as asked for."""
    pairs: PerhapsPairs | None = None
    """Where a user is a row number: what its rows may be instead."""
    kept: object = None
    """What must not be removed while the source is in use."""
    readings: Sequence[str] = ()
    """How it was read, where that could be otherwise; complete when it has been."""


@dataclass(frozen=True)
class Table:
    """Checked columns: the query's key, the item, and what orders or grades it.

    ``key`` holds the names that the key's columns had, ``ids`` those columns followed by the item (slices have none).
    ``used`` tells which column was taken for what. ``text`` says that the ids came from a file without types, and
    ``n_rows`` and ``n_items`` count the users and items where these are numbers of rows and columns.
    """

    name: str
    label: str
    key: tuple[str, ...]
    ids: tuple[pl.Series, ...]
    used: dict[str, str]
    text: bool = False
    n_rows: int | None = None
    n_items: int | None = None
    score: pl.Series | None = None
    rank: pl.Series | None = None
    grade: pl.Series | None = None
    subtopic: pl.Series | None = None
    extra: pl.DataFrame | None = None
    readings: tuple[str, ...] = ()
    """How it was read, where that could be otherwise."""
    first_rank: int | None = None
    """From where ranks are numbered, 0 or 1, in the whole table of which these are some rows."""

    def __len__(self) -> int:
        return len(self.ids[0])

    @property
    def queries(self) -> pl.DataFrame:
        """The columns of the key."""
        return pl.DataFrame([column.alias(name) for name, column in zip(self.key, self.ids, strict=False)])

    @property
    def described(self) -> str:
        """How many rows of what it has."""
        return f"{number_of(len(self), 'row')} of {self.label}"


def roles_of(table: str, columns: Iterable[str], key: tuple[str, ...] = ("user",)) -> Columns:
    """The roles of columns that are named after them."""
    value = KINDS[table].value
    named: dict[str, Any] = {value: value} if value in columns else {}
    return Columns(user=key or None, item="item", **named)


def source_of(
    columns: Mapping[str, Any], roles: Columns, label: str, n_rows: int | None = None, n_items: int | None = None
) -> Source:
    """Columns that are in memory, with their roles."""
    series = {
        name: values.alias(name) if isinstance(values, pl.Series) else pl.Series(name, values)
        for name, values in columns.items()
    }
    return Source(
        tuple(series),
        lambda names: pl.DataFrame([series[name] for name in names]),
        label,
        columns=roles,
        n_rows=n_rows,
        n_items=n_items,
    )


def frame_source(frame: pl.DataFrame, label: str = "a Polars frame", **about: Any) -> Source:
    """The columns of a frame, which are there already: a query for them would take longer than the rest of a call."""
    return Source(
        tuple(frame.columns),
        lambda names: pl.DataFrame([frame.get_column(name) for name in names]),
        label,
        dtype=lambda name: frame.get_column(name).dtype,
        **about,
    )


def as_text(source: Source) -> Source:
    """The same with its numbers as text, as from a file without types: keys of JSON are text whatever they mean."""

    def select(names: Sequence[str]) -> pl.DataFrame:
        frame = source.select(names).fill_nan(None)  # which would be the text "NaN"
        return frame.with_columns(pl.selectors.numeric().cast(pl.String))

    return replace(source, select=select, text=True)
