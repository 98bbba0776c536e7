"""Types: ids of two tables are of the same type, or nothing would match."""

from __future__ import annotations

import itertools
import operator
from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

from atkay.errors import IdError, OverlapWarning, SourceError, warn
from atkay.inputs.checks import integers
from atkay.inputs.coding.lookup import keyed_by
from atkay.inputs.coding.shared import OVERLAP_WARNING_SHARE, in_words
from atkay.tables import SIDE
from atkay.text.phrases import columns_argument, in_library

if TYPE_CHECKING:
    from collections.abc import Mapping

    from atkay.inputs.table import Table


def check_keys(recs: Table, truth: Table) -> None:
    """Lists and truth name their queries alike."""
    if len(recs.key) != len(truth.key):
        raise IdError(
            f"recs identifies queries by {recs.key}, truth by {truth.key}",
            advice=f"Name the same number of columns with {columns_argument(user=(...,))}.",
        )


def same_types(one: Table, other: Table, *, outside: bool = False) -> tuple[Table, Table]:
    """Both tables with ids of the same types; text from a file without types follows the other side.

    Of a table ``outside`` of lists and truth, rows whose ids the other side cannot have are left out.
    """
    pairs = [_same(one, other, at, outside) for at in range(min(len(one.ids), len(other.ids)))]
    ids = tuple(here for here, _ in pairs)
    if all(map(operator.is_, itertools.chain(*pairs), itertools.chain(*zip(one.ids, other.ids, strict=False)))):
        return one, other
    if outside and any(column.null_count() for column in ids):
        there = (
            ~pl.DataFrame([column.alias(str(at)) for at, column in enumerate(ids)])
            .select(pl.any_horizontal(pl.all().is_null()))
            .to_series()
        )
        ids = tuple(column.filter(there) for column in ids)
        one = replace(one, extra=None if one.extra is None else one.extra.filter(there))
    return replace(one, ids=ids), replace(other, ids=tuple(there for _, there in pairs))


def _same(one: Table, other: Table, at: int, outside: bool) -> tuple[pl.Series, pl.Series]:
    ids = [one.ids[at], other.ids[at]]
    if not (one.text or other.text) and ids[0].dtype == ids[1].dtype:
        return ids[0], ids[1]
    text = [table.text and column.dtype == pl.String for table, column in zip((one, other), ids, strict=True)]
    if all(text):
        both = [integers(column) for column in ids]
        return (ids[0], ids[1]) if any(column.null_count() for column in both) else (both[0], both[1])
    for here, there in ((0, 1), (1, 0)):
        if text[here] and ids[there].dtype.is_integer():
            whole = integers(ids[here])
            if outside or not whole.null_count():
                ids[here] = whole
    kinds = [kind(column) for column in ids]
    if kinds[0] != kinds[1]:
        raise _different_types((one, other), ids, at)
    return ids[0], ids[1]


def _different_types(tables: tuple[Table, Table], ids: list[pl.Series], at: int) -> IdError:
    """The error of ids that are not of one type: which, on both sides, and how to convert them."""
    key = tables[0].key
    what = "item ids" if at >= len(key) else "user ids" if len(key) == 1 else f"values of '{key[at]}'"
    here, there = (
        f"{_in_words(column)} in {table.name}, such as {column[0]!r}" for table, column in zip(tables, ids, strict=True)
    )
    how = ""
    if {_in_words(column) for column in ids} == {"integers", "text"}:
        number = 0 if ids[0].dtype.is_integer() else 1
        how = _to_text(tables[number], ids[number].name, of_item=at >= len(key))
    return IdError(
        f"{tables[0].name} and {tables[1].name} have ids of different types: {what} are {here}, and {there}. Convert "
        f"one side{how}."
    )


def _to_text(table: Table, column: str, *, of_item: bool) -> str:
    """How ids become text in the library that the table is from."""
    name = table.name
    code = in_library(
        table.label,
        pandas=f"{name}[{column!r}] = {name}[{column!r}].astype(str)",
        Polars=f"{name} = {name}.with_columns(pl.col({column!r}).cast(pl.String))",
        dict="str(item) for each item"
        if of_item
        else f"{name} = {{str(user): items for user, items in {name}.items()}}",
    )
    return code and f", for instance with {code}"


def _in_words(ids: pl.Series) -> str:
    return "integers" if ids.dtype.is_integer() else "text" if ids.dtype == pl.String else f"of type {ids.dtype}"


def kind(ids: pl.Series) -> str:
    """What ids are: those of different kinds are never the same, whatever their width."""
    return "integer" if ids.dtype.is_integer() else str(ids.dtype)


def check_numbered(table: Table, truth: Table) -> None:
    """Where a table's users are row numbers, those of the truth are, too."""
    if table.label == "lists" and table.n_rows is not None and truth.n_rows is None:
        raise SourceError(
            "lists without users are numbered, but truth has named users",
            advice="Pass {user: [items]}, or a table of pairs.",
            table=table.name,
        )


def fitting_tables(
    tables: Mapping[str, Table], truth: Table, queries: pl.DataFrame, groups: tuple[str, ...]
) -> dict[str, Table]:
    """The tables beside lists and truth, with the types of ids that these have."""
    return {name: fitting(tables[name], truth, queries, groups) for name in SIDE if name in tables}


def fitting(
    table: Table, truth: Table, queries: pl.DataFrame, groups: tuple[str, ...], *, quiet: bool = False
) -> Table:
    """The rows of a table whose ids lists and truth could have, with their types; ``quiet``: warn of nothing."""
    ids = truth.ids[-1:] if not table.key else (*keyed_by(table, queries, groups).get_columns(), truth.ids[-1])
    side = replace(truth, ids=ids, text=False)
    fits = same_types(table, side, outside=True)[0]
    if len(fits):
        if not quiet:
            warn_misfits(table.name, len(table) - len(fits), len(table), in_words([column[0] for column in side.ids]))
        return fits
    here, there = (tuple(column[0] for column in ids) for ids in (table.ids, side.ids))
    raise IdError(
        f"its ids cannot match those of the lists: it has {', '.join(map(repr, here))}, they have "
        f"{', '.join(map(repr, there))}, for example.",
        table=table.name,
    )


def warn_misfits(name: str, misfits: int, rows: int, example: str) -> None:
    """Warn of a table almost all of whose ids are text that is no integer, where lists and truth have integers."""
    if rows - misfits < OVERLAP_WARNING_SHARE * rows:
        warn(
            f"{name}: ignored {misfits:,} of {rows:,} rows: their ids are text, but those of recs and truth are "
            f"integers, such as {example}. '007' and ' 7' are not 7: convert the ids of one side.",
            OverlapWarning,
        )
