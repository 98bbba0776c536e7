"""ListColumn: tables with a row per user whose items are a list, as rows of items.

The list is a column of items, of structs (Spark's ``recommendations``), of items next to one of scores, or text with
items between blanks, as Kaggle's submissions have them. An empty list and a missing one are a user without a list.
"""

from __future__ import annotations

import contextlib
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import polars as pl

from atkay.errors import ColumnError, InputError, SourceError, listing, shown
from atkay.inputs.checks import ROWS_SAMPLED, warn_of_numbers
from atkay.inputs.columns import find, named_like, names_an_id_or_time
from atkay.inputs.frames import collect_spark, spark_column, spark_types
from atkay.inputs.table import Pieces
from atkay.tables import ITEM, KINDS, RANK, RELEVANCE, SCORE
from atkay.text.phrases import columns_argument, in_library

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from atkay.inputs.columns import Columns
    from atkay.inputs.table import Source

OTHERS = ("score", "rank", "relevance")
"""Roles of what stands next to an item, in a struct or in a list of its own."""
BLANK = r"\S\s+\S"
ITEM_TEXT = r"\S+"
IDS = r"^[^\s\d\[\](){}'\",;|]*\d[^\s\[\](){}'\",;|]*(\s+[^\s\d\[\](){}'\",;|]*\d[^\s\[\](){}'\",;|]*)*$"
"""Ids between blanks: each has a digit, as words of a title have not, and no mark that separates or encloses."""
SEPARATED = r"\S[\s,;|]+\S|^[\[({]"
BRACKETED = re.compile(r"[\[({]")
NUMBERS = [name for role in (SCORE, RANK, RELEVANCE) for tier in role for name in tier]
"""Names of what stands next to one item."""


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
    if nested is None or (nested.text and not _is_split(source, nested, table, named)):
        return source
    if not nested.text and not nested.fields:
        nested = replace(nested, parallel=(*nested.parallel, *_unknown(source, nested)))
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
        name for name in names if name != column and _has_role(name, table, named) and _holds_lists(dtype(name))
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


def _unknown(source: Source, nested: ListColumn) -> list[str]:
    """Lists of numbers as long as those of the items, which may be scores whose name says nothing."""
    assert source.dtype is not None

    def first_rows(columns: list[str]) -> pl.DataFrame:
        if source.pieces is None:
            return source.select(columns).head(ROWS_SAMPLED)
        with source.pieces.reading():
            return source.pieces.scan(columns).head(ROWS_SAMPLED).collect()

    return _as_long(source.names, source.dtype, nested, first_rows)


def _as_long(
    names: Sequence[str],
    kind: Callable[[str], pl.DataType],
    nested: ListColumn,
    first_rows: Callable[[list[str]], pl.DataFrame],
) -> list[str]:
    """The columns of lists of numbers, without a role, that are as long as those of the items."""
    numbers = []
    for name in names:
        with contextlib.suppress(InputError):  # a column that cannot be read is refused where it is needed
            inner = None if name in (nested.column, *nested.parallel) else getattr(kind(name), "inner", None)
            if inner is not None and inner.is_numeric() and not names_an_id_or_time(name):
                numbers.append(name)
    if not numbers:
        return []
    frame = first_rows([nested.column, *numbers])
    length = frame.with_columns(pl.selectors.array().arr.to_list()).select(pl.all().list.len().fill_null(0))
    return [name for name in numbers if length[name].equals(length[nested.column])]


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


def _is_split(source: Source, nested: ListColumn, table: str, named: Columns) -> bool:
    """Whether each text holds several ids: a row per user with nothing that ranks or grades an item, and no titles.

    Where there is a row per user and item, the text is one id whatever its blanks mean, and the usual question is
    asked later: is this column the item?
    """
    kind = source.dtype
    assert kind is not None
    own = [
        find(table, role, getattr(named, role), source.names, needed=False, taken=named.named)
        for role in ("session", "order", *(() if named.key else ("user",)))
        if role in KINDS[table].roles
    ]
    key = [*named.key, *(name for name in own if name is not None)]
    numbers = [name for name in named_like(source.names, NUMBERS) if not _may_be_lists(name, kind(name))]
    numbers += [name for name in (named.score, named.rank, named.relevance) if name in source.names]
    if numbers or not key or not {*key} <= {*source.names}:
        return False
    text = pl.col(nested.column).str.strip_chars()
    filled, several, foreign = text.str.len_chars() > 0, text.str.contains(BLANK), ~text.str.contains(IDS)
    facts = (
        pl.struct(*key).is_duplicated().any().alias("repeated"),
        filled.sum().alias("filled"),
        several.sum().alias("several"),
        text.filter(filled & foreign & text.str.contains(SEPARATED)).first().alias("doubtful"),
    )
    columns = [nested.column, *key]
    if source.pieces is not None:
        with source.pieces.reading():
            row = source.pieces.scan(columns).select(*facts).collect().row(0)
    else:
        row = source.select(columns).select(*facts).row(0)
    repeated, n_filled, n_several, doubtful = row
    if repeated:
        return False
    if doubtful is not None or 0 < n_several < n_filled:
        how = _how_to_parse(source.label, table, nested.column, doubtful or " ")
        raise InputError(
            f"has blanks in {n_several:,} of {n_filled:,} rows: they could separate items, or be part of an id"
            if doubtful is None
            else f"holds {shown(doubtful)}, which could be one id, or a list of items written as text",
            advice="Name the column 'item' if each row holds one id; if it holds several, make it a list"
            + (how and f", for instance with {how}")
            + ".",
            table=table,
            column=nested.column,
        )
    return bool(n_several)


def _may_be_lists(name: str, dtype: pl.DataType) -> bool:
    """Whether a column of scores' usual names could as well hold items: 'prediction' of text or of lists."""
    usual = [alias for kind in KINDS.values() for tier in kind.listed for alias in tier]
    return bool(named_like([name], usual)) and not dtype.is_numeric()


def _how_to_parse(label: str, table: str, column: str, text: str) -> str:
    """How to make lists of such text, in the frame's own library."""
    cells = f"{table}[{column!r}]"
    mark = next((mark for mark in (", ", ",", "|", ";") if mark in text), " ")
    pandas, polars = f".str.split({mark!r})" if mark != " " else ".str.split()", f".str.split({mark!r})"
    if BRACKETED.match(text) and "," in text:
        literal = f"pl.Series({column!r}, map(ast.literal_eval, {cells}))"
        pandas, polars = ".map(ast.literal_eval)", f"{table}.with_columns({literal})"
        return in_library(label, pandas=cells + pandas, Polars=polars)
    if BRACKETED.match(text):
        pandas, polars = ".str.strip('[]').str.split()", r".str.extract_all(r'[^\[\]\s]+')"
    return in_library(label, pandas=cells + pandas, Polars=f"{table}.with_columns(pl.col({column!r}){polars})")


def flat_frame(frame: Any, table: str, named: Columns) -> tuple[Any, ListColumn | None]:
    """A Spark frame with a row per item, exploded in Spark, and what its lists were; without lists as it is."""
    types = spark_types(frame, table)
    nested = None if types is None else find_nested(frame.columns, types, table, named)
    if nested is None or nested.text:
        return frame, None
    from pyspark.sql import functions as f

    assert types is not None
    role = KINDS[table].value
    if role and not nested.fields and not any(_has_role(name, table, named) for name in frame.columns):
        unknown = _as_long(
            frame.columns, types, nested, lambda names: collect_spark(frame.limit(ROWS_SAMPLED), table, names)
        )
        warn_of_numbers(unknown, table, role)
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
