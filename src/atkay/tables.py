"""Tables: read what was given, name its columns, and refuse what would give a wrong number."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import polars as pl

from atkay.columns import Columns, find
from atkay.errors import IdError, InputError, OrderError, RelevanceError, SourceError, listing
from atkay.sources import open_source

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from atkay.sources import Source


@dataclass(frozen=True)
class Table:
    """Checked columns: the query's key, the item, and what orders or grades it.

    ``key`` holds the names that the key's columns had, ``ids`` those columns followed by the item. ``text`` says that
    the ids came from a file without types. ``n_rows`` counts the users where a user is a row number.
    """

    name: str
    label: str
    key: tuple[str, ...]
    ids: tuple[pl.Series, ...]
    used: dict[str, str]
    text: bool = False
    n_rows: int | None = None
    score: pl.Series | None = None
    rank: pl.Series | None = None
    grade: pl.Series | None = None
    extra: pl.DataFrame | None = None

    def __len__(self) -> int:
        return len(self.ids[0])


def columns_of(columns: Columns | Mapping[str, Columns] | None, table: str) -> Columns:
    """The column names that hold for one table."""
    if columns is None:
        return Columns()
    if isinstance(columns, Columns):
        return columns
    if not set(columns) <= {"recs", "truth", "exclude", "candidates", "slices"}:
        raise InputError(
            f"columns: tables are 'recs', 'truth', 'exclude', 'candidates' and 'slices', given were {listing(columns)}."
        )
    return columns.get(table, Columns())


def read_recs(given: Any, columns: Columns) -> Table:
    """Recommended lists: ordered by rank, by score, or as given."""
    source = open_source(given, "recs")
    named = source.columns or columns
    roles = _ids(source, "recs", named)
    if named.rank is not None or named.score is None:
        roles["rank"] = find("recs", "rank", named.rank, source.names, needed=False)
    if named.score is not None or named.rank is None:
        roles["score"] = find("recs", "score", named.score, source.names, needed=False)
    table, frame = _load(source, "recs", roles)
    rank, score = (frame.get(role) for role in ("rank", "score"))
    return replace(table, rank=None if rank is None else _whole(rank), score=None if score is None else _finite(score))


def read_truth(given: Any, columns: Columns, extra: Sequence[str] = ()) -> Table:
    """What is relevant to whom, with grades where there are any."""
    source = open_source(given, "truth")
    named = source.columns or columns
    roles = _ids(source, "truth", named)
    roles["relevance"] = find("truth", "relevance", named.relevance, source.names, needed=False)
    extra = [name for name in extra if name not in roles.values()]
    missing = [name for name in extra if name not in source.names]
    if missing:
        raise InputError(
            f"average_over: truth has no column {listing(missing)}; columns are {listing(source.names)}. "
            "Name a column of truth that is the same for all rows of a query."
        )
    table, frame = _load(source, "truth", roles)
    relevance = frame.get("relevance")
    return replace(
        table,
        grade=None if relevance is None else _graded(relevance),
        extra=source.select(list(extra)) if extra else None,
    )


def read_items(given: Any, name: str, columns: Columns) -> Table:
    """Items per user, or items for every user where there is no user column."""
    source = open_source(given, name)
    named = source.columns or columns
    if source.names == (named.item,) or len(source.names) == 1:
        item = find(name, "item", named.item, source.names, needed=True)
        return _load(source, name, {"item": item}, empty=True)[0]
    return _load(source, name, _ids(source, name, named), empty=True)[0]


def read_slices(given: Any, columns: Columns, *keys: tuple[str, ...]) -> Table:
    """A user, named by any of the keys, and in every other column the segment it belongs to."""
    source = open_source(given, "slices")
    named = source.columns or columns
    for key in keys:
        if named.user is None and key and set(key) <= set(source.names):
            named = Columns(user=key)
    roles = _ids(source, "slices", named, item=False)
    segments = [name for name in source.names if name not in roles.values()]
    if not segments:
        raise InputError(
            f"slices: no segment; columns are {listing(source.names)}. Give each user a segment in a second column."
        )
    return replace(_load(source, "slices", roles)[0], extra=source.select(segments))


def _ids(source: Source, table: str, named: Columns, *, item: bool = True) -> dict[str, str | None]:
    user = named.user or find(table, "user", None, source.names, needed=True)
    key = (user,) if isinstance(user, str) else user or ()
    roles: dict[str, str | None] = {
        f"user {n}": find(table, "user", name, source.names, needed=True) for n, name in enumerate(key)
    }
    if item:
        roles["item"] = find(table, "item", named.item, source.names, needed=True)
    return roles


def _load(
    source: Source, table: str, roles: Mapping[str, str | None], *, empty: bool = False
) -> tuple[Table, dict[str, pl.Series]]:
    used = {role: name for role, name in roles.items() if name is not None}
    frame = source.select(list(dict.fromkeys(used.values())))
    if len(frame) == 0 and not empty:
        raise SourceError(f"{table}: {source.label} has no rows. There is nothing to evaluate.")
    columns = {role: frame.get_column(name) for role, name in used.items()}
    ids = tuple(_id(columns[role], table) for role in used if role == "item" or role.startswith("user"))
    key = tuple(name for role, name in used.items() if role.startswith("user"))
    return Table(table, source.label, key, ids, used, text=source.text, n_rows=source.n_rows), columns


def _id(ids: pl.Series, table: str) -> pl.Series:
    """Ids as integers, text or dates; whole floats, which pandas makes of integers, become integers again."""
    dtype = ids.dtype
    if dtype.is_float():
        ids = ids.fill_nan(None)
    if ids.null_count():
        row = ids.is_null().arg_max()
        raise IdError(
            f"{table}: '{ids.name}' is missing in {ids.null_count():,} of {len(ids):,} rows, first in row {row} "
            "(counting from 0). Fill in the ids, or drop these rows."
        )
    if dtype.is_float():
        whole = ids.cast(pl.Int64, strict=False)
        if whole.null_count() or not (whole == ids).all():
            odd = ids.filter((whole != ids).fill_null(True))[0]
            raise IdError(f"{table}: '{ids.name}' holds {odd}, which is no id. Ids are whole numbers or text.")
        return whole
    if isinstance(dtype, pl.Categorical | pl.Enum):
        return ids.cast(pl.String)
    if dtype in (pl.UInt64, pl.Int128, pl.UInt128):
        narrow = ids.cast(pl.Int64, strict=False)
        return ids if narrow.null_count() else narrow
    if dtype.is_integer() or dtype.is_temporal() or dtype in (pl.String, pl.Binary):
        return ids
    if len(ids) == 0:
        return ids.cast(pl.String)
    raise IdError(f"{table}: '{ids.name}' is of type {dtype}, which is no id. Ids are whole numbers or text.")


def _number(values: pl.Series, error: type[InputError], table: str, use: str) -> pl.Series:
    """Numbers without gaps; text from a file without types is read as numbers."""
    read = values.cast(pl.Float64, strict=False) if values.dtype == pl.String else values
    if values.dtype == pl.Boolean:
        read = values.cast(pl.UInt8)
    if values.dtype.is_decimal():
        read = values.cast(pl.Float64)
    if not read.dtype.is_numeric():
        raise error(f"{table}: '{values.name}' is of type {values.dtype}; {use} are numbers. Convert the column.")
    if read.null_count() == 0 and (not read.dtype.is_float() or math.isfinite(read.sum())):
        return read  # a value that is no number would have made the sum none
    bad = read.is_null() | ~read.is_finite() if read.dtype.is_float() else read.is_null()
    if bad.any():
        row = bad.arg_max() or 0
        raise error(
            f"{table}: '{values.name}' holds {values[row]!r} in row {row} (counting from 0), and {bad.sum():,} such "
            f"values in {len(values):,} rows; {use} are finite numbers. Drop these rows, or give them a number."
        )
    return read


def _finite(score: pl.Series) -> pl.Series:
    return _number(score, OrderError, "recs", "scores")


def _whole(rank: pl.Series) -> pl.Series:
    rank = _number(rank, OrderError, "recs", "ranks")
    whole = rank.cast(pl.Int64, strict=False)
    if rank.dtype.is_float() and not (whole == rank).all():
        odd = rank.filter((whole != rank).fill_null(True))[0]
        raise OrderError(f"recs: '{rank.name}' holds {odd}; ranks are the whole numbers 1, 2, 3, ... of each list.")
    return whole


def _graded(relevance: pl.Series) -> pl.Series:
    grade = _number(relevance, RelevanceError, "truth", "grades").cast(pl.Float64)
    if (negative := grade < 0).any():
        row = negative.arg_max() or 0
        raise RelevanceError(
            f"truth: '{relevance.name}' holds {relevance[row]} in row {row} (counting from 0), and {negative.sum():,} "
            "values below 0; a grade is 0 (judged, not relevant) or more. Set them to 0, or drop these rows."
        )
    return grade
