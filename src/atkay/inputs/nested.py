"""ListColumn: tables with a row per user whose items are a list, as rows of items.

The list is a column of items, of structs (Spark's ``recommendations``), of items next to one of scores, or text with
items between blanks, as Kaggle's submissions have them. An empty list and a missing one are a user without a list.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import polars as pl

from atkay.errors import ColumnError, InputError, SourceError, listing
from atkay.inputs.columns import find, named_like, names_an_id_or_time
from atkay.inputs.frames import spark_column, spark_types
from atkay.inputs.table import Pieces
from atkay.tables import ITEM, KINDS
from atkay.text.phrases import columns_argument, in_library

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from atkay.inputs.columns import Columns
    from atkay.inputs.table import Source

OTHERS = ("score", "rank", "relevance")
"""Roles of what stands next to an item, in a struct or in a list of its own."""
BLANK = r"\S\s+\S"
ITEM_TEXT = r"\S+"


@dataclass(frozen=True)
class ListColumn:
    """The column of the lists, the columns that their structs become, by field, and the lists next to it."""

    column: str
    fields: Mapping[str, str]
    roles: Mapping[str, str]
    """The columns whose roles are known by now."""
    parallel: tuple[str, ...] = ()
    text: bool = False
    untyped: bool = False
    """The items are text, and all other columns are integers: the table is read like a file without types."""

    @property
    def made(self) -> tuple[str, ...]:
        """The columns that are made of the lists' column."""
        return tuple(self.fields.values()) or (self.column,)

    def readings(self, table: str) -> tuple[str, ...]:
        """How text was read, which could be an id."""
        return (f"{table} from '{self.column}', split at blanks",) if self.text else ()

    def needed(self, chosen: Sequence[str]) -> list[str]:
        """The columns of which some are made."""
        return list(dict.fromkeys([*(self.column if name in self.made else name for name in chosen), self.column]))


def flat(source: Source, table: str, named: Columns) -> Source:
    """A source with a row per item; as it is where the items are no lists."""
    if source.columns is not None or source.dtype is None or "item" not in KINDS[table].roles:
        return source
    nested = find_nested(source.names, source.dtype, table, named)
    if nested is None or (nested.text and not _is_split(source, nested, table)):
        return source
    names = [name for name in source.names if name != nested.column]
    if nested.text and all(source.dtype(name).is_integer() for name in names):
        nested = replace(nested, untyped=True)

    def select(chosen: Sequence[str]) -> pl.DataFrame:
        frame = source.select(nested.needed(chosen)).with_columns(pl.selectors.array().arr.to_list())
        _check_lengths(frame, nested, chosen, table)
        return _rows(frame.lazy(), nested, chosen).collect()

    pieces = source.pieces
    if pieces is not None:
        scan = pieces.scan
        pieces = Pieces(lambda chosen: _rows(scan(nested.needed(chosen)), nested, chosen), reading=pieces.reading)

    return replace(
        source,
        names=(*names, *nested.made),
        select=select,
        pieces=pieces,
        dtype=None,
        ordered=True,
        text=source.text or nested.untyped,
        roles=nested.roles,
        readings=(*source.readings, *nested.readings(table)),
    )


def find_nested(
    names: Sequence[str], dtype: Callable[[str], pl.DataType], table: str, named: Columns
) -> ListColumn | None:
    """The column of lists, if that of the items is one."""
    column = named.item
    if column is None and _finds(names, named):
        column = find(table, "item", None, names, needed=False, taken=named.named)
    if column is None:
        for tier, listed in enumerate(KINDS[table].listed):
            usual = [name for name in named_like(names, listed) if name not in named.named]
            lists = [name for name in usual if _holds_lists(dtype(name))]
            lists = lists or [name for name in usual if dtype(name) == pl.String]
            if lists and tier:  # what recs would take is truth only where there is nothing else
                lists = [*_others(names, dtype, dtype(lists[0]) == pl.String, table, named, lists), *lists]
            if lists:
                break
        if len(lists) > 1:
            raise ColumnError(
                f"{listing(lists)} could each be the lists of items",
                advice=f"Pass {columns_argument(item=lists[0])}.",
                table=table,
            )
        if lists and dtype(lists[0]) == pl.String:
            return ListColumn(lists[0], {}, {"item": lists[0]}, text=True)
        column = lists[0] if lists else None
    if column is None or column not in names or not _holds_lists(kind := dtype(column)):
        return None
    inner: Any = kind.inner  # type: ignore[attr-defined]  # of lists and arrays
    if isinstance(inner, pl.Struct):
        return _of_structs(column, inner, names, table, named)
    parallel = tuple(
        name for name in names if name != column and _holds_lists(dtype(name)) and _has_role(name, table, named)
    )
    return ListColumn(column, {}, {"item": column}, parallel)


def _finds(names: Sequence[str], named: Columns) -> bool:
    """Whether one column alone has a name of an item; of several the usual question is asked later."""
    return len([name for name in named_like(names, ITEM[0]) if name not in named.named]) == 1


def _others(
    names: Sequence[str],
    dtype: Callable[[str], pl.DataType],
    text: bool,
    table: str,
    named: Columns,
    taken: Sequence[str],
) -> list[str]:
    """Other columns of lists, or of text, that play no role and could hold the items."""
    free = [name for name in names if name not in (*taken, *named.named) and not names_an_id_or_time(name)]
    return [
        name
        for name in free
        if not _has_role(name, table, named) and (dtype(name) == pl.String if text else _holds_lists(dtype(name)))
    ]


def _holds_lists(dtype: pl.DataType) -> bool:
    return isinstance(dtype, pl.List | pl.Array)


def _has_role(name: str, table: str, named: Columns) -> bool:
    roles = [role for role in OTHERS if role in KINDS[table].roles]
    usual = [alias for role in roles for tier in KINDS[table].roles[role] for alias in tier]
    return bool(named_like([name], usual)) or name in (getattr(named, role) for role in roles)


def _of_structs(column: str, struct: pl.Struct, names: Sequence[str], table: str, named: Columns) -> ListColumn:
    fields = [field.name for field in struct.fields]
    roles: dict[str, str] = {}
    item = find(table, "item", None, fields, needed=False)
    numbers = [field.name for field in struct.fields if field.dtype.is_numeric()]
    if item is None:
        raise ColumnError(
            f"holds structs of {listing(fields)}, of which none has the name of an item",
            advice="Rename the field of the items to 'item'.",
            table=table,
            column=column,
        )
    made = {name: name if name not in names else f"{column}.{name}" for name in fields}
    roles["item"] = made[item]
    for role in OTHERS:
        if role in KINDS[table].roles and getattr(named, role) is None:
            other = find(table, role, None, [name for name in numbers if name != item], needed=False)
            if other is not None:
                roles[role] = made[other]
    return ListColumn(column, made, roles)


def _rows(frame: pl.LazyFrame, nested: ListColumn, chosen: Sequence[str]) -> pl.LazyFrame:
    """A row per item; what is missing or empty has none."""
    parallel = [name for name in nested.parallel if name in chosen]
    column = pl.col(nested.column)
    if nested.text:
        frame = frame.with_columns(column.str.extract_all(ITEM_TEXT))
    if nested.untyped:
        frame = frame.with_columns(pl.exclude(nested.column).cast(pl.String))
    frame = frame.with_columns(pl.selectors.array().arr.to_list()).filter(column.list.len() > 0)
    frame = frame.explode(nested.column, *parallel)
    if nested.fields:
        fields = [column.struct.field(field).alias(name) for field, name in nested.fields.items() if name in chosen]
        frame = frame.with_columns(fields)
    return frame.select(chosen)


def _check_lengths(frame: pl.DataFrame, nested: ListColumn, chosen: Sequence[str], table: str) -> None:
    """Lists next to each other are equally long."""
    for name in nested.parallel:
        if name in chosen:
            here, there = (frame[each].list.len().fill_null(0) for each in (nested.column, name))
            if (here != there).any():
                row = (here != there).arg_max() or 0
                raise SourceError(
                    f"has {there[row]} entries where '{nested.column}' has {here[row]}",
                    advice="Lists of items and of scores must be equally long.",
                    table=table,
                    column=name,
                    row=row,
                    count=int((here != there).sum()),
                )


def _is_split(source: Source, nested: ListColumn, table: str) -> bool:
    """Whether every text holds several items; where only some of them have blanks, these may be parts of ids."""
    column = pl.col(nested.column).str.strip_chars()
    filled, several = column.str.len_chars() > 0, column.str.contains(BLANK)
    counts = (filled.sum().alias("filled"), several.sum().alias("several"))
    if source.pieces is not None:
        with source.pieces.reading():
            n_filled, n_several = source.pieces.scan([nested.column]).select(*counts).collect().row(0)
    else:
        n_filled, n_several = source.select([nested.column]).select(*counts).row(0)
    if 0 < n_several < n_filled:
        how = in_library(
            source.label,
            pandas=f"{table}[{nested.column!r}].str.split()",
            Polars=f"{table}.with_columns(pl.col({nested.column!r}).str.split(' '))",
        )
        raise InputError(
            f"has blanks in {n_several:,} of {n_filled:,} rows: they could separate items, or be part of an id",
            advice="Name the column 'item' if each row holds one id; if it holds several, make it a list"
            + (how and f", for instance with {how}")
            + ".",
            table=table,
            column=nested.column,
        )
    return bool(n_several)


def flat_frame(frame: Any, table: str, named: Columns) -> tuple[Any, ListColumn | None]:
    """A Spark frame with a row per item, exploded in Spark, and what its lists were; without lists as it is."""
    types = spark_types(frame)
    nested = None if types is None else find_nested(frame.columns, types, table, named)
    if nested is None or nested.text:
        return frame, None
    from pyspark.sql import functions as f

    lists = [nested.column, *nested.parallel]
    each = f.posexplode(f.arrays_zip(*(spark_column(name).alias(f"list {n}") for n, name in enumerate(lists))))
    kept = [spark_column(name) for name in frame.columns if name not in lists]
    rows = frame.select(*kept, each.alias("place in list", "entry"))
    entry = [f.col("entry").getField(f"list {n}") for n in range(len(lists))]
    made = dict(zip(lists, entry, strict=True))
    if nested.fields:
        made = {name: entry[0].getField(field) for field, name in nested.fields.items()}
    roles = dict(nested.roles)
    if (
        KINDS[table].ranked
        and not {"score", "rank"} & {*roles}
        and not nested.parallel
        and not (named.score or named.rank)
    ):
        rank = "rank" if "rank" not in frame.columns else "rank in list"
        made[rank] = f.col("`place in list`") + 1
        roles["rank"] = rank
    columns = [*kept, *(column.alias(name) for name, column in made.items())]
    return rows.select(*columns), replace(nested, roles=roles)
