"""Whatever can be a table, as named columns: frames, Arrow, dicts, arrays, sparse matrices, paths."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from itertools import chain
from operator import attrgetter, methodcaller
from typing import Any

import numpy as np
import polars as pl

from atkay.core.forks import check_threads
from atkay.core.types import Floats, is_tensor, tensor_array
from atkay.errors import ColumnError, IdError, InputError, OrderError, RelevanceError, SourceError, shown
from atkay.inputs.columns import ITEM, USER, Columns

PADDING = -1
"""Where a user is a row number, what fills the places of a list that is shorter than the others."""

VALUE = {"recs": "score", "truth": "relevance", "reference": "score", "run_a": "score", "run_b": "score"}
RANKED = ("recs", "run_a", "run_b")
"""Tables whose lists must have an order."""
MIXED: dict[str, type[InputError]] = {"score": OrderError, "relevance": RelevanceError}
"""Columns of numbers, and the error of one that holds something else, too."""
EXACT = {np.dtype(np.float16): 2**11, np.dtype(np.float32): 2**24, np.dtype(np.float64): 2**53}
"""Below which a float tells whole numbers apart."""


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
    columns: Columns | None = None
    """The roles of the columns, where the kind of object settles them."""
    n_rows: int | None = None
    """How many users there are, where a user is a row number."""
    n_items: int | None = None
    """How many items there are, where an item is a column number."""
    ordered: bool = True
    """Whether the order of the rows means anything."""
    pieces: Pieces | None = None
    """Where it is not in memory."""
    kept: object = None
    """What must not be removed while the source is in use."""


def open_source(given: Any, table: str) -> Source:
    """The columns of whatever was given."""
    check_threads()
    if isinstance(given, Source):
        return given
    if is_spark(given):
        return _spark(given, table)
    if isinstance(given, pl.LazyFrame):
        return _lazy(given, table)
    if isinstance(given, pl.DataFrame):
        return Source(tuple(given.columns), given.select, "a Polars frame")
    if _is_from("pandas", "DataFrame", given):
        return _pandas(given, table)
    if _is_from("pandas", "Series", given):
        lists = table != "slices" and not any(map(_is_list, set(map(type, given))))
        return _lists(given.to_numpy(), table) if lists else _mapping(dict(given), table)
    if isinstance(given, str | os.PathLike):
        from atkay.inputs.files import open_file

        return open_file(given, table)
    if hasattr(given, "tocsr"):
        return _sparse(given, table)
    if is_tensor(given):
        given = tensor_array(given, table)
    if isinstance(given, np.matrix):
        given = np.asarray(given)  # a row of a matrix is a matrix again
    if isinstance(given, np.ndarray) and (given.ndim != 1 or given.dtype.names):
        return _features(given) if table == "features" and given.ndim == 2 else _array(given, table)
    if isinstance(given, Mapping):
        return _mapping(given, table)
    if hasattr(given, "__arrow_c_stream__") and not isinstance(given, pl.Series):
        return _arrow(given, table)
    if _is_list(type(given)):
        return _lists(given, table)
    raise SourceError(
        f"{table}: a {type(given).__name__} is no table. Pass a Polars, pandas or Arrow table, {{user: items}}, "
        "an array of users x items, a SciPy sparse matrix, or a file's path."
    )


def _lazy(given: pl.LazyFrame, table: str) -> Source:
    """A query of the user's, which may fail when it is run."""

    @contextmanager
    def reading() -> Iterator[None]:
        try:
            yield
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
            cause = str(error).strip().split("\n")[0].rstrip(".")
            raise SourceError(
                f"{table}: the Polars lazy frame cannot be collected: {cause}. Does frame.collect() work?"
            ) from error

    def select(chosen: Sequence[str]) -> pl.DataFrame:
        with reading():
            return given.select(chosen).collect()

    with reading():
        names = tuple(given.collect_schema().names())
    return Source(names, select, "a Polars frame", pieces=Pieces(given.select, reading=reading))


def _is_from(package: str, name: str, given: Any) -> bool:
    module = sys.modules.get(package)
    return module is not None and isinstance(given, getattr(module, name))


def is_spark(given: Any) -> bool:
    """Whether it is a frame of Spark, which then has been imported already."""
    return _is_from("pyspark.sql", "DataFrame", given)


def _spark(given: Any, table: str) -> Source:
    """A table beside lists and truth, brought here whole."""
    if table in RANKED:
        raise SourceError(
            f"{table}: lists in a Spark frame are taken by evaluate and compare alone, which leave them where they "
            "are. Pass polars.from_arrow(frame.toArrow()) if they fit into memory."
        )
    return Source(
        tuple(given.columns), lambda names: collect_spark(given, table, names), "a Spark frame", ordered=False
    )


def collect_spark(frame: Any, table: str, names: Sequence[str]) -> pl.DataFrame:
    """Some columns of a frame, brought here; in an order that is always the same where it could matter."""
    if type(frame).__module__.startswith("pyspark.sql.connect"):
        raise SourceError(
            f"{table}: a frame of Spark Connect. Frames of a session with a driver of its own are taken: "
            "SparkSession.builder.master(...).getOrCreate()."
        )
    for name in names:
        if frame.columns.count(name) > 1:
            raise ColumnError(f"{table}: there are {frame.columns.count(name)} columns '{name}'. Rename all but one.")
    chosen = frame.select(*map(spark_column, names))
    found = as_polars((chosen.distinct() if table == "train" else chosen).toArrow())
    return found.sort(pl.all()) if table == "reference" else found


def as_polars(table: Any) -> pl.DataFrame:
    """An Arrow table of Spark; instants in one zone, which Spark writes here in one and there in another."""
    frame = pl.from_arrow(table)
    assert isinstance(frame, pl.DataFrame)
    return frame.with_columns(pl.selectors.datetime(time_zone="*").dt.convert_time_zone("UTC"))


def spark_column(name: str) -> Any:
    from pyspark.sql import functions as f

    return f.col("`" + name.replace("`", "``") + "`")


def _pandas(given: Any, table: str) -> Source:
    if any(name is not None for name in given.index.names):
        given = given.reset_index()  # a named index is a column like the others
    names = [str(name) for name in given.columns]

    def select(chosen: Sequence[str]) -> pl.DataFrame:
        for name in chosen:
            if names.count(name) > 1:
                raise ColumnError(f"{table}: there are {names.count(name)} columns '{name}'. Rename all but one.")
        return pl.DataFrame([_series(name, given.iloc[:, names.index(name)], table) for name in chosen])

    return Source(tuple(dict.fromkeys(names)), select, "a pandas frame")


def _arrow(given: Any, table: str) -> Source:
    try:
        frame = pl.DataFrame(given)
    except (TypeError, ValueError, pl.exceptions.PolarsError) as error:
        cause = str(error).strip().split("\n")[0]
        raise SourceError(f"{table}: cannot read a {type(given).__name__} as an Arrow table: {cause}") from error
    return Source(tuple(frame.columns), frame.select, "an Arrow table")


def _series(name: str, values: Any, table: str) -> pl.Series:
    """A column out of any values; mixed types are refused rather than guessed, unless all are numbers."""
    if isinstance(values, np.ndarray) and values.dtype == object:
        values = values.tolist()
    wide = False
    if name in ("user", "item") and isinstance(values, list) and any(map(_is_list, set(map(type, values)))):
        raise IdError(
            f"{table}: '{name}' holds {shown(next(filter(_is_nested, values)))}. Ids are whole numbers or text."
        )
    try:
        column = pl.Series(name, values)
        # Next to numbers True would be 1.
        if name in MIXED or not isinstance(values, list) or not column.dtype.is_numeric() or not _has_bools(values):
            return column
    except (TypeError, ValueError, OverflowError, AttributeError, RuntimeError, pl.exceptions.PolarsError):
        kinds = set(map(type, values))
        if all(issubclass(kind, int | float | np.number | np.bool_) for kind in kinds):
            wide = any(int(value).bit_length() > 53 for value in values if isinstance(value, int | np.integer))
            if not wide and (name in MIXED or not _has_bools(values)):
                return pl.Series(name, np.array(values, dtype=float))
    types = sorted({kind.__name__ for kind in map(type, values)})
    raise mixed_types(table, name, "integers that no column holds exactly" if wide else ", ".join(types)) from None


def _has_bools(values: Iterable[object]) -> bool:
    return any(kind in (bool, np.bool_) for kind in set(map(type, values)))


def mixed_types(table: str, name: str, types: str) -> InputError:
    """What is said of a column that does not hold values of one type."""
    error = MIXED.get(name, IdError)
    what = "only numbers" if name in MIXED else "only numbers or only text"
    return error(f"{table}: '{name}' must hold {what}; found {types}. Convert the values to one type.")


def _frame(
    columns: Mapping[str, pl.Series],
    roles: Columns,
    label: str,
    n_rows: int | None = None,
    n_items: int | None = None,
) -> Source:
    frame = pl.DataFrame([series.alias(name) for name, series in columns.items()])
    return Source(tuple(columns), frame.select, label, columns=roles, n_rows=n_rows, n_items=n_items)


def _roles(table: str, columns: Iterable[str], key: tuple[str, ...] = ("user",)) -> Columns:
    value = VALUE.get(table, "")
    return Columns(user=key or None, item="item", **({value: value} if value in columns else {}))


def _mapping(given: Mapping[Any, Any], table: str) -> Source:
    keys, lists = list(given), list(given.values())
    if set(keys) & set(USER) and set(keys) & set(ITEM):
        raise SourceError(
            f"{table}: a dict is {{user: items}}, and this one seems to hold columns ({', '.join(map(repr, keys))}). "
            "Make it a table: polars.DataFrame(...)."
        )
    widths = {len(key) if isinstance(key, tuple) else 0 for key in keys}
    if len(widths) > 1:
        raise IdError(f"{table}: some users are tuples of {sorted(widths)} parts. Name every user by as many parts.")
    if widths and 0 not in widths:
        parts = list(zip(*keys, strict=True))
        key = {f"user_{n}": _series(f"user_{n}", list(part), table) for n, part in enumerate(parts, start=1)}
    else:
        key = {"user": _series("user", keys, table)}
    if table == "slices":
        segment = _series("segment", lists, table)
        return _frame({**key, "segment": segment}, Columns(user=tuple(key)), "a dict")
    if table == "features":
        lists = [one if isinstance(one, str) or not _is_list(type(one)) else _same_numbers(one) for one in lists]
        features = _series("features", lists, table)
        return _frame({"item": _series("item", keys, table), "features": features}, Columns(item="item"), "a dict")
    return _from_lists(key, lists, table, "a dict")


def _lists(given: Any, table: str) -> Source:
    """A list per user, the user being its number; or, where users do not matter, plain items."""
    lists = list(given)
    if table == "reference" and isinstance(given, set | frozenset):
        raise SourceError("reference: a set has no order, and a reference list has one. Pass a list, the best first.")
    if table in ("exclude", "candidates", "catalog", "reference") and not any(map(_is_list, set(map(type, lists)))):
        return _frame({"item": _series("item", lists, table)}, _roles(table, (), key=()), "items")
    if isinstance(given, set | frozenset):
        raise SourceError(
            f"{table}: a set has no order, so its elements cannot be users. Write {{user: [items]}}, or a table."
        )
    key = {"user": pl.Series("user", np.arange(len(lists)))}
    return _from_lists(key, lists, table, "lists", n_rows=len(lists))


def _same_numbers(values: Any) -> list[Any]:
    """Whole numbers beside floats as floats: a column holds one type."""
    plain = list(values)
    floats = any(isinstance(one, float) for one in plain) and all(isinstance(one, int | float) for one in plain)
    return [float(one) for one in plain] if floats else plain


def _is_nested(value: object) -> bool:
    return _is_list(type(value))


def _is_list(kind: type) -> bool:
    return issubclass(kind, Collection) and not issubclass(kind, str | bytes)


def _from_lists(
    key: Mapping[str, pl.Series], lists: list[Any], table: str, label: str, n_rows: int | None = None
) -> Source:
    lists = [tensor_array(one, table) if is_tensor(one) else one for one in lists]
    kinds = set(map(type, lists))
    wrong = {kind for kind in kinds if not _is_list(kind) or (table in RANKED and issubclass(kind, set | frozenset))}
    if wrong:
        at, one = next((at, one) for at, one in enumerate(lists) if type(one) in wrong)
        who = ", ".join(repr(series[at]) for series in key.values())
        why = "a set has no order" if isinstance(one, set | frozenset) else "a list of items is needed"
        raise SourceError(
            f"{table}: what is given for user {who} is a {type(one).__name__}; {why}. "
            f"Write {{user: [items]}}, or {{user: {{item: {VALUE.get(table, 'score')}}}}}."
        )
    mappings = {kind for kind in kinds if issubclass(kind, Mapping)}
    if mappings and kinds != mappings:
        raise SourceError(f"{table}: some users have a dict and some a list; write them all in the same way.")
    if any(issubclass(kind, np.ma.MaskedArray) for kind in kinds):
        lists = [one.compressed() if isinstance(one, np.ma.MaskedArray) else one for one in lists]
    try:
        lengths = np.fromiter(map(len, lists), dtype=np.int64, count=len(lists))
    except TypeError as error:  # an array without dimensions has no length
        raise SourceError(f"{table}: a user's items must be a list, not one value. Write {{user: [items]}}.") from error
    row = np.repeat(np.arange(len(lists)), lengths)
    columns = {name: series.gather(row) for name, series in key.items()}
    columns["item"] = _chained("item", lists, table)
    if mappings and (value := VALUE.get(table)):
        columns[value] = _chained(value, list(map(methodcaller("values"), lists)), table)
    if n_rows is not None and columns["item"].dtype.is_integer():
        there = columns["item"] != PADDING
        columns = {name: series.filter(there) for name, series in columns.items()}
    return _frame(columns, _roles(table, columns, tuple(key)), label, n_rows)


def _chained(name: str, lists: list[Any], table: str) -> pl.Series:
    if set(map(type, lists)) == {np.ndarray}:
        some = list(filter(len, lists)) or lists[:1]  # an empty array is of floats, and would make all so
        if len(set(map(attrgetter("dtype.kind"), some))) == 1 and set(map(np.ndim, some)) == {1}:
            return _series(name, np.concatenate(some), table)
    return _series(name, list(chain.from_iterable(lists)), table)


def _features(given: np.ndarray[Any, Any]) -> Source:
    """A row of numbers per item."""
    if given.dtype.kind not in "biuf" or not given.shape[1]:
        raise InputError(
            f"features: an array must hold a row of numbers per item, got {given.dtype} of shape {given.shape}. Pass "
            "categories as {item: [words]}."
        )
    numbers: Floats = np.ma.filled(np.ma.asarray(given, dtype=float), np.nan)
    columns = {"item": pl.Series("item", np.arange(len(given))), "features": pl.Series("features", numbers)}
    return _frame(columns, Columns(item="item"), "an array", n_items=len(given))


def _array(given: np.ndarray[Any, Any], table: str) -> Source:
    if given.dtype.names:
        raise SourceError(
            f"{table}: cannot read an array with named fields ({', '.join(given.dtype.names)}) as a table. Pass "
            "polars.DataFrame({name: array[name] for name in array.dtype.names})."
        )
    if given.ndim != 2:
        raise SourceError(
            f"{table}: an array has a row per user and a column per rank, this one has shape {given.shape}."
        )
    users, width = given.shape
    values = np.ma.getdata(given).ravel()
    if values.dtype == np.longdouble:
        values = values.astype(float)
    there = ~np.ma.getmaskarray(given).ravel()
    if values.dtype.kind == "O":
        there &= (values != np.array(None)) & (values != PADDING)
    if values.dtype.kind in "iuf":
        there &= values != PADDING
    if values.dtype.kind == "f":
        there &= ~np.isnan(values)
        odd = values[there & ~((values == np.floor(values)) & (np.abs(values) < EXACT[values.dtype]))]
        if len(odd):
            raise SourceError(
                f"{table}: an array of users x k holds item ids, and {odd[0]} is none. "
                "Pass scores of all items as a SciPy sparse matrix, or as {user: {item: score}}."
            )
    item = values[there]
    columns = {
        "user": pl.Series("user", np.repeat(np.arange(users), width)[there]),
        "item": _series("item", item.astype(np.int64) if item.dtype.kind == "f" else item, table),
    }
    return _frame(columns, _roles(table, columns), "an array", n_rows=users)


def _sparse(given: Any, table: str) -> Source:
    if given.ndim != 2:
        raise SourceError(
            f"{table}: a sparse matrix has a row per user and a column per item, this one is of shape {given.shape}."
        )
    if table in ("features", "catalog", "slices"):
        what = {"features": "matrix.toarray(), a row per item", "catalog": "a list of items"}.get(table, "a table")
        raise SourceError(f"{table}: cannot read a sparse matrix of users x items as {table}. Pass {what}.")
    rows = given.tocsr()
    if not rows.has_canonical_format:
        rows = rows.copy()
        rows.sum_duplicates()  # what entries of the same place mean in a matrix
    columns = {
        "user": pl.Series("user", np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))),
        "item": pl.Series("item", rows.indices),
    }
    if value := VALUE.get(table):
        columns[value] = pl.Series(value, rows.data)
    else:
        columns = {name: series.filter(rows.data != 0) for name, series in columns.items()}
    return _frame(columns, _roles(table, columns), "a sparse matrix", *rows.shape)
