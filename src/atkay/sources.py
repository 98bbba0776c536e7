"""Whatever can be a table, as named columns: frames, Arrow, dicts, arrays, sparse matrices, paths."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from atkay.columns import Columns
from atkay.errors import IdError, SourceError

PADDING = -1
"""In an array of users x k, what fills the places of a list that is shorter than k."""

VALUE = {"recs": "score", "truth": "relevance"}


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


def open_source(given: Any, table: str) -> Source:
    """The columns of whatever was given."""
    if isinstance(given, pl.LazyFrame):
        return Source(
            tuple(given.collect_schema().names()),
            lambda names: given.select(names).collect(),
            "a Polars frame",
        )
    if isinstance(given, pl.DataFrame):
        return Source(tuple(given.columns), given.select, "a Polars frame")
    if _is_from("pandas", "DataFrame", given):
        return _pandas(given, table)
    if isinstance(given, str | os.PathLike):
        from atkay.formats import open_file

        return open_file(Path(given), table)
    if isinstance(given, pl.Series) or _is_from("pandas", "Series", given):
        return _lists(given.to_numpy(), table)
    if hasattr(given, "__arrow_c_stream__"):
        frame = pl.DataFrame(given)
        return Source(tuple(frame.columns), frame.select, "an Arrow table")
    if hasattr(given, "tocsr"):
        return _sparse(given, table)
    if isinstance(given, np.ndarray) and given.ndim == 2:
        return _array(given, table)
    if isinstance(given, Mapping):
        return _mapping(given, table)
    if _is_list(type(given)):
        return _lists(given, table)
    raise SourceError(
        f"{table}: a {type(given).__name__} is no table. Pass a Polars, pandas or Arrow table, {{user: items}}, "
        "an array of users x items, a SciPy sparse matrix, or a file's path."
    )


def _is_from(package: str, name: str, given: Any) -> bool:
    module = sys.modules.get(package)
    return module is not None and isinstance(given, getattr(module, name))


def _pandas(given: Any, table: str) -> Source:
    names = {str(name): name for name in given.columns}

    def select(chosen: Sequence[str]) -> pl.DataFrame:
        return pl.DataFrame([_series(name, given[names[name]], table) for name in chosen])

    return Source(tuple(names), select, "a pandas frame")


def _series(name: str, values: Any, table: str) -> pl.Series:
    """A column out of any values; mixed types are refused rather than guessed."""
    if isinstance(values, np.ndarray) and values.dtype == object:
        values = values.tolist()
    try:
        return pl.Series(name, values)
    except (TypeError, ValueError, pl.exceptions.PolarsError) as error:
        types = sorted({type(value).__name__ for value in values})
        raise IdError(
            f"{table}: '{name}' mixes values of different types ({', '.join(types)}). "
            "Make them all numbers or all text."
        ) from error


def _frame(columns: Mapping[str, pl.Series], roles: Columns, label: str, n_rows: int | None = None) -> Source:
    frame = pl.DataFrame([series.alias(name) for name, series in columns.items()])
    return Source(tuple(columns), frame.select, label, columns=roles, n_rows=n_rows)


def _roles(table: str, columns: Iterable[str], key: tuple[str, ...] = ("user",)) -> Columns:
    value = VALUE.get(table, "")
    return Columns(user=key or None, item="item", **({value: value} if value in columns else {}))


def _mapping(given: Mapping[Any, Any], table: str) -> Source:
    keys, lists = list(given), list(given.values())
    if keys and isinstance(keys[0], tuple):
        parts = list(zip(*keys, strict=True))
        key = {f"user_{n}": _series(f"user_{n}", list(part), table) for n, part in enumerate(parts, start=1)}
    else:
        key = {"user": _series("user", keys, table)}
    if table == "slices":
        segment = _series("segment", lists, table)
        return _frame({**key, "segment": segment}, Columns(user=tuple(key)), "a dict")
    return _from_lists(key, lists, table, "a dict")


def _lists(given: Any, table: str) -> Source:
    """A list per user, the user being its number; or, where users do not matter, plain items."""
    lists = list(given)
    if table in ("exclude", "candidates") and not any(map(_is_list, set(map(type, lists)))):
        return _frame({"item": _series("item", lists, table)}, _roles(table, (), key=()), "items")
    key = {"user": pl.Series("user", np.arange(len(lists)))}
    return _from_lists(key, lists, table, "lists", n_rows=len(lists))


def _is_list(kind: type) -> bool:
    return issubclass(kind, Collection) and not issubclass(kind, str | bytes)


def _from_lists(
    key: Mapping[str, pl.Series], lists: list[Any], table: str, label: str, n_rows: int | None = None
) -> Source:
    kinds = set(map(type, lists))
    wrong = {kind for kind in kinds if not _is_list(kind) or (table == "recs" and issubclass(kind, Set))}
    if wrong:
        at, one = next((at, one) for at, one in enumerate(lists) if type(one) in wrong)
        who = ", ".join(repr(series[at]) for series in key.values())
        why = "a set has no order" if isinstance(one, Set) else "a list of items is needed"
        raise SourceError(
            f"{table}: what is given for user {who} is a {type(one).__name__}; {why}. "
            f"Write {{user: [items]}}, or {{user: {{item: {VALUE.get(table, 'score')}}}}}."
        )
    mappings = {kind for kind in kinds if issubclass(kind, Mapping)}
    if mappings and kinds != mappings:
        raise SourceError(f"{table}: some users have a dict and some a list; write them all in the same way.")
    lengths = np.fromiter(map(len, lists), dtype=np.int64, count=len(lists))
    row = np.repeat(np.arange(len(lists)), lengths)
    columns = {name: series.gather(row) for name, series in key.items()}
    columns["item"] = _chained("item", lists, table)
    if mappings and (value := VALUE.get(table)):
        columns[value] = _chained(value, [one.values() for one in lists], table)
    return _frame(columns, _roles(table, columns, tuple(key)), label, n_rows)


def _chained(name: str, lists: list[Any], table: str) -> pl.Series:
    if lists and all(isinstance(one, np.ndarray) for one in lists):
        return _series(name, np.concatenate(lists), table)
    return _series(name, list(chain.from_iterable(lists)), table)


def _array(given: np.ndarray[Any, Any], table: str) -> Source:
    users, width = given.shape
    values = np.ma.getdata(given).ravel()
    if values.dtype.kind == "f":
        whole = values == np.floor(values)
        if not (whole | np.isnan(values)).all():
            raise SourceError(
                f"{table}: an array of users x k holds item ids, and {values[~whole][0]!r} is none. "
                "Pass scores of all items as a SciPy sparse matrix, or as {user: {item: score}}."
            )
    there = ~np.ma.getmaskarray(given).ravel() & (values != (None if values.dtype.kind == "O" else PADDING))
    if values.dtype.kind == "f":
        there &= ~np.isnan(values)
    user = np.repeat(np.arange(users), width)[there]
    item = values[there]
    columns = {
        "user": pl.Series("user", user),
        "item": _series("item", item.astype(np.int64) if item.dtype.kind == "f" else item, table),
    }
    return _frame(columns, _roles(table, columns), "an array", n_rows=users)


def _sparse(given: Any, table: str) -> Source:
    rows = given.tocsr()
    columns = {
        "user": pl.Series("user", np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))),
        "item": pl.Series("item", rows.indices),
    }
    if value := VALUE.get(table):
        columns[value] = pl.Series(value, rows.data)
    return _frame(columns, _roles(table, columns), "a sparse matrix", n_rows=rows.shape[0])
