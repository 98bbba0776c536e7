"""Mappings and lists: {user: items}, {user: {item: number}}, {user: [(item, number)]}, a list of items per user."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import chain
from operator import attrgetter, methodcaller
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from atkay.errors import IdError, SourceError, a_type, shown
from atkay.inputs.checks import is_list, series
from atkay.inputs.columns import Columns
from atkay.inputs.in_place import take_rows
from atkay.inputs.item_rows import PADDING, as_array
from atkay.inputs.pairs import perhaps_pairs, unclear_rows
from atkay.inputs.table import Source, roles_of, source_of
from atkay.tables import ITEM, KINDS, OF_USERS, USER

if TYPE_CHECKING:
    from collections.abc import Callable

PLAIN = {dict, list, tuple, set, frozenset}
"""Types of collections that are no arrays."""


def is_table(kind: type) -> bool:
    """Whether objects of a type are frames or tables of a library, which have a length but are not lists."""
    return issubclass(kind, pl.DataFrame) or hasattr(kind, "__dataframe__")


def read_mapping(given: Mapping[Any, Any], table: str) -> Source:
    """A dict of users and their items, segments, or of items and their features."""
    keys, lists = list(given), list(given.values())
    if set(keys) & set(USER[0]) and set(keys) & set(ITEM[0]):
        raise SourceError(
            f"a dict must be {{user: items}}, but this one seems to hold columns ({', '.join(map(repr, keys))})",
            advice="Pass polars.DataFrame(...) instead.",
            table=table,
        )
    widths = {len(key) if isinstance(key, tuple) else 0 for key in keys}
    if len(widths) > 1:
        raise IdError(
            f"users are tuples of different lengths ({sorted(widths)})",
            advice="Give every user the same number of parts.",
            table=table,
        )
    if widths and 0 not in widths:
        parts = list(zip(*keys, strict=True))
        key = {f"user_{n}": series(f"user_{n}", list(part), table) for n, part in enumerate(parts, start=1)}
    else:
        key = {"user": series("user", keys, table)}
    if table in OF_USERS:
        name = OF_USERS[table]
        return source_of({**key, name: series(name, lists, table)}, Columns(user=tuple(key)), "a dict")
    if KINDS[table].extra:
        lists = [one if isinstance(one, str) or not is_list(type(one)) else _same_numbers(one) for one in lists]
        extra = series(table, lists, table)
        return source_of({"item": series("item", keys, table), table: extra}, Columns(item="item"), "a dict")
    return _from_lists(key, lists, table, "a dict")


def read_by_row(given: Any, table: str) -> Source:
    """A weight or a cluster per user, the user being its number."""
    name = OF_USERS[table]
    if not isinstance(given, np.ndarray) and any(map(is_list, set(map(type, given)))):
        raise SourceError(
            f"holds {shown(next(each for each in given if is_list(type(each))))}",
            advice=f"Pass one {'number' if name == 'weight' else name} per user, or {{user: {name}}}.",
            table=table,
        )
    columns = {"user": np.arange(len(given)), name: series(name, given, table)}
    return source_of(columns, Columns(user="user"), "an array", n_rows=len(given))


def read_lists(given: Any, table: str) -> Source:
    """A list per user, the user being its number; or, where users do not matter, plain items."""
    lists = list(given)
    if table == "reference" and isinstance(given, set | frozenset):
        raise SourceError(
            "a set has no order, but a reference list needs one",
            advice="Pass a list, best item first.",
            table="reference",
        )
    if KINDS[table].for_everybody and not any(map(is_list, set(map(type, lists)))):
        return source_of({"item": series("item", lists, table)}, roles_of(table, (), key=()), "items")
    if isinstance(given, set | frozenset):
        raise SourceError(
            "a set has no order, so its elements cannot be users",
            advice="Pass {user: [items]}, or a table.",
            table=table,
        )
    widths = set(map(len, lists)) if set(map(type, lists)) == {tuple} else set()
    if widths in ({2}, {3}):
        raise unclear_rows("tuples", widths.pop(), table)
    key = {"user": pl.Series("user", np.arange(len(lists)))}
    source = _from_lists(key, lists, table, "lists", n_rows=len(lists))
    return replace(source, pairs=perhaps_pairs(lists, table, "lists"))


def _same_numbers(values: Any) -> list[Any]:
    """Integers mixed with floats as floats: a column holds one type."""
    plain = list(values)
    floats = any(isinstance(one, float) for one in plain) and all(isinstance(one, int | float) for one in plain)
    return [float(one) for one in plain] if floats else plain


def _from_lists(
    key: Mapping[str, pl.Series], lists: list[Any], table: str, label: str, n_rows: int | None = None
) -> Source:
    def whose(at: int) -> str:
        return f"the value of user {', '.join(repr(series[at]) for series in key.values())} is"

    lists = as_lists(lists, table, whose)
    try:
        lengths = np.fromiter(map(len, lists), dtype=np.int64, count=len(lists))
    except TypeError as error:  # an array without dimensions has no length
        raise SourceError(
            "a user's items must be a list, not a single value", advice="Write {user: [items]}.", table=table
        ) from error
    row = np.repeat(np.arange(len(lists)), lengths)
    columns = {name: take_rows(series, row) for name, series in key.items()}
    columns |= entries("item", lists, table)
    if n_rows is not None and columns["item"].dtype.is_integer():
        there = columns["item"] != PADDING
        columns = {name: series.filter(there) for name, series in columns.items()}
    return source_of(columns, roles_of(table, columns, tuple(key)), label, n_rows)


def as_lists(lists: list[Any], table: str, whose: Callable[[int], str] | None = None, column: str = "") -> list[Any]:
    """The same, arrays of other libraries as NumPy's; refuse what is not a list, and sets where the order matters.

    They are the values of a dict, of which ``whose`` tells the key, or a ``column`` of a frame.
    """
    if not (kinds := set(map(type, lists))) <= PLAIN:
        lists = [one if is_table(type(one)) else as_array(one, table) for one in lists]
        kinds = set(map(type, lists))
    unordered = (set, frozenset) if KINDS[table].ranked else ()
    wrong = {kind for kind in kinds if not is_list(kind) or is_table(kind) or issubclass(kind, unordered)}
    if wrong:
        at, one = next((at, one) for at, one in enumerate(lists) if type(one) in wrong)
        why = "a set has no order" if isinstance(one, set | frozenset) else "a list of items is needed"
        advice = f"Write {{user: [items]}}, or {{user: {{item: {KINDS[table].value or 'score'}}}}}."
        if is_table(type(one)):
            advice = "Add a column 'user' to each of the frames, and concatenate them into one."
        raise SourceError(
            f"{whose(at) if whose else 'holds'} {a_type(one)}; {why}",
            advice="Give every row a list; None stands for no items." if column else advice,
            table=table,
            column=column or None,
            row=at if column else None,
            count=sum(type(one) in wrong for one in lists),
        )
    mappings = {kind for kind in kinds if issubclass(kind, Mapping)}
    if mappings and kinds != mappings:
        raise SourceError(
            "some users have a dict and some a list; use one form for all.",
            table=table,
        )
    if any(issubclass(kind, np.ma.MaskedArray) for kind in kinds):
        lists = [one.compressed() if isinstance(one, np.ma.MaskedArray) else one for one in lists]
    return lists


def entries(name: str, lists: list[Any], table: str) -> dict[str, pl.Series]:
    """The entries of all lists as columns: items and their numbers, fields of Spark's rows or dicts, or plain items."""
    if lists and isinstance(lists[0], Mapping):
        value = KINDS[table].value
        numbers = {value: chained(value, list(map(methodcaller("values"), lists)), table)} if value else {}
        return {"item": chained("item", lists, table), **numbers}
    first = next(chain.from_iterable(lists), None)
    if not isinstance(first, tuple | Mapping) or (name == "item" and isinstance(first, Mapping)):
        return {name: chained(name, lists, table)}
    every = list(chain.from_iterable(lists))
    if isinstance(first, Mapping):
        columns = {key: [each.get(key) for each in every] for key in map(str, first)}
    else:
        names = getattr(first, "__fields__", getattr(first, "_fields", ("item", KINDS[table].value or "score")))
        if {len(each) if isinstance(each, tuple) else 1 for each in every} != {len(names)}:
            raise SourceError(
                "holds tuples of another length than 2",
                advice="Write [(item, score), ...], or [item, ...].",
                table=table,
                column=name,
            )
        columns = dict(zip(names, map(list, zip(*every, strict=True)), strict=True))
    return {key: series(key, column, table) for key, column in columns.items()}


def chained(name: str, lists: list[Any], table: str) -> pl.Series:
    """The entries of all lists as one column."""
    if set(map(type, lists)) == {np.ndarray}:
        filled = list(filter(len, lists)) or lists[:1]  # an empty array is of floats, and would make all so
        if len(set(map(attrgetter("dtype.kind"), filled))) == 1 and set(map(np.ndim, filled)) == {1}:
            return series(name, np.concatenate(filled), table)
    return series(name, list(chain.from_iterable(lists)), table)
