"""Tables: read what was given, name its columns, and refuse what would give a wrong number."""

from __future__ import annotations

import contextlib
import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import polars as pl

from atkay.errors import (
    ColumnError,
    IdError,
    InputError,
    OrderError,
    ProtocolError,
    RelevanceError,
    SourceError,
    SwappedWarning,
    UnusedWarning,
    listing,
    number_of,
    shown,
    warn,
)
from atkay.inputs.columns import RANK, RELEVANCE, SCORE, USER, Columns, find, named_like, names_an_id_or_time
from atkay.inputs.kinds import RANKED, open_source

if TYPE_CHECKING:
    from atkay.inputs.kinds import Source
    from atkay.protocol import Protocol

BESIDE = ("train", "catalog", "features", "reference")
"""What some metrics need besides lists and truth."""
NAMES = ("recs", "truth", "exclude", "candidates", "slices", *BESIDE)
LOGS = ("events", "orders", "log")
FEW, SOME = 5, 1000
"""Columns without a role, and rows of them, that are looked at: could they have been meant?"""

YEAR_LAST = r"^(\d{1,2})[/.-](\d{1,2})[/.-]\d"
"""Dates whose year comes last: some write the day first, others the month."""

CANONICAL = r"^(?:0|-?[1-9][0-9]{0,18})$"


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
    extra: pl.DataFrame | None = None

    def __len__(self) -> int:
        return len(self.ids[0])

    @property
    def described(self) -> str:
        """How many rows of what it has."""
        return f"{number_of(len(self), 'row')} of {self.label}"


def columns_of(columns: Columns | Mapping[str, Columns] | None, table: str) -> Columns:
    """The column names that hold for one table."""
    if columns is None:
        return Columns()
    if isinstance(columns, Columns):
        return columns
    if not isinstance(columns, Mapping) or not set(columns) <= {*NAMES, *LOGS}:
        raise InputError(
            f"columns: pass Columns(...), or a dict of them for some of {listing(NAMES)}; given was {shown(columns)}."
        )
    if not isinstance(columns.get(table, Columns()), Columns):
        raise InputError(f"columns: for {table} pass Columns(...), given was {shown(columns[table])}.")
    return columns.get(table, Columns())


def read_tables(
    given: Mapping[str, Any],
    protocol: Protocol,
    columns: Columns | Mapping[str, Columns] | None = None,
    *,
    part: bool = False,
) -> dict[str, Table]:
    """All tables that were given, by name; what is None was not given.

    ``part``: these are some of the users, who may have no lists, or no truth.
    """
    sources = {name: open_source(given[name], name) for name in ("recs", "truth")}
    if not part:
        _check_swapped(sources, {name: columns_of(columns, name) for name in sources})
    tables = {
        "recs": read_recs(sources["recs"], columns_of(columns, "recs"), empty=part),
        "truth": read_truth(sources["truth"], columns_of(columns, "truth"), protocol.groups, empty=part),
    }
    if protocol.min_relevance is not None and protocol.min_relevance > 1 and tables["truth"].grade is None:
        raise RelevanceError(
            f"truth: min_relevance={protocol.min_relevance:g} needs grades, and there are none; the columns used are "
            f"{listing(tables['truth'].used.values())}. Name the grades with columns=Columns(relevance=...)."
        )
    for name in ("exclude", "candidates"):
        if given.get(name) is not None:
            tables[name] = read_items(given[name], name, columns_of(columns, name))
        elif getattr(protocol, name) is not None:
            raise ProtocolError(
                f"evaluate: a result's protocol only describes its {name} ({getattr(protocol, name)}); pass {name}= "
                "again."
            )
    for name in BESIDE:
        if given.get(name) is not None:
            tables[name] = read_beside(name, given[name], columns_of(columns, name))
    if given.get("slices") is not None:
        key = tables["truth"].key
        tables["slices"] = read_slices(given["slices"], columns_of(columns, "slices"), key, protocol.groups)
    check_shapes(*(table for name, table in tables.items() if name != "truth"), tables["truth"])
    return tables


def check_shapes(*tables: Table) -> None:
    """Tables in which a user is a row number, or an item a column number, have as many of them as the last one."""
    for other, table in itertools.combinations(reversed(tables), 2):
        if table.key and other.key and None not in (here := (table.n_rows, other.n_rows)) and here[0] != here[1]:
            raise SourceError(
                f"{table.name} has {here[0]:,} rows and {other.name} {here[1]:,}; a user is a row number, so both need "
                "as many."
            )
        if None not in (here := (table.n_items, other.n_items)) and here[0] != here[1]:
            raise SourceError(
                f"{table.name} is for {here[0]:,} items and {other.name} for {here[1]:,}; an item is a column number "
                "(in an array of features, a row number), so both need as many. Build both for all items: "
                "scipy.sparse.csr_array(..., shape=(n_users, n_items))."
            )


def _check_swapped(sources: Mapping[str, Source], columns: Mapping[str, Columns]) -> None:
    """Lists have scores or ranks, and truth has grades; a column that is named in ``columns`` is meant."""
    if any(source.columns is not None for source in sources.values()):
        return  # what is no table has no columns that could tell
    if columns["recs"].score or columns["recs"].rank or columns["truth"].relevance:
        return
    order = {name: named_like(source.names, (*SCORE, *RANK)) for name, source in sources.items()}
    graded = {name: named_like(source.names, RELEVANCE) for name, source in sources.items()}
    if not order["truth"] or graded["truth"]:
        return
    score = named_like(order["truth"], ["score"])  # which may be grades, as in BEIR's files; the others are none
    if not order["recs"] and (graded["recs"] or not score):
        has = f"{listing(graded['recs'])} and neither" if graded["recs"] else "neither"
        raise ColumnError(
            f"are recs and truth swapped? recs has {has} a score nor a rank, and truth has {listing(order['truth'])} "
            "and no grades. If they are, pass each in the other's place; if not, "
            + (
                f"name the column that orders the lists: columns=Columns(score='{graded['recs'][0]}')."
                if graded["recs"]
                else f"leave {listing(order['truth'])} out of truth."
            )
        )
    if score:
        has = f"{listing(order['recs'])}, too" if order["recs"] else "neither a score nor a rank"
        warn(
            f"truth: '{score[0]}' is read as the grades, and recs has {has}. Are recs and truth swapped, or is truth a "
            f"ranked list? If these are grades, say columns=Columns(relevance='{score[0]}'); if not, leave the column "
            "out.",
            SwappedWarning,
        )


def read_recs(given: Any, columns: Columns, name: str = "recs", *, empty: bool = False) -> Table:
    """Recommended lists: ordered by rank, by score, or as given. A reference may be one list for every user."""
    source = open_source(given, name)
    named = source.columns or columns
    if name == "reference" and not {*named.key, *USER} & {*source.names}:
        _check_ordered(source, name)
        return _load(source, name, {"item": _find(source, name, "item", named.item, named, needed=True)})[0]
    roles = _ids(source, name, named)
    if named.rank is not None or named.score is None:
        roles["rank"] = _find(source, name, "rank", named.rank, named)
    if named.score is not None or named.rank is None:
        roles["score"] = _find(source, name, "score", named.score, named)
    if not (roles.get("rank") or roles.get("score")):
        _check_ordered(source, name)
    if name in RANKED and not (roles.get("rank") or roles.get("score")):
        _say_unused(source, name, "score", [*roles.values()], "the order of the rows is the order of each list")
    table, frame = _load(source, name, roles, empty=empty)
    rank, score = (None if roles.get(role) is None else frame[roles[role] or ""] for role in ("rank", "score"))
    return replace(
        table,
        rank=None if rank is None else _whole(rank, name),
        score=None if score is None else _finite(score, name),
    )


def _check_ordered(source: Source, name: str) -> None:
    """The rows of lists without ranks or scores have an order."""
    if not source.ordered:
        raise OrderError(
            f"{name}: the rows of {source.label} have no order, and there is neither a rank nor a score; columns are "
            f"{listing(source.names)}. Add one, or name it with columns=Columns(rank=...) or Columns(score=...)."
        )


def read_truth(given: Any, columns: Columns, extra: Sequence[str] = (), *, empty: bool = False) -> Table:
    """What is relevant to whom, with grades where there are any; ``extra`` columns are taken along."""
    source = open_source(given, "truth")
    named = source.columns or columns
    roles = _ids(source, "truth", named)
    roles["relevance"] = _find(source, "truth", "relevance", named.relevance, named)
    missing = [name for name in extra if name not in source.names]
    if missing:
        raise InputError(
            f"average_over: truth has no column {listing(missing)}; columns are {listing(source.names)}. "
            "Name a column of truth that is the same for all rows of a query."
        )
    if roles["relevance"] is None:
        _say_unused(source, "truth", "relevance", [*roles.values(), *extra], "every row counts as relevant")
    table, frame = _load(source, "truth", roles, extra, empty=empty)
    relevance = roles["relevance"]
    grade = None if relevance is None else _graded(frame[relevance])
    return replace(table, grade=grade, extra=frame.select(extra) if extra else None)


def _say_unused(source: Source, table: str, role: str, used: Sequence[str | None], instead: str) -> None:
    """Warn where a column of numbers could have the role that no column was found for."""
    others = [name for name in source.names if name not in used and not names_an_id_or_time(name)][:FEW]
    numbers = [name for name in others if _all_numbers(source.select([name]).get_column(name).head(SOME))]
    if numbers:
        warn(
            f"{table}: no column is known as the {role}, so {instead}; {listing(numbers)} is not used. Pass "
            f"columns=Columns({role}='{numbers[0]}') if it is the {role}; else leave it out.",
            UnusedWarning,
        )


def _all_numbers(column: pl.Series) -> bool:
    """Whether a column holds numbers, or text that could be."""
    if column.dtype == pl.String:
        column = column.drop_nulls().cast(pl.Float64, strict=False)
    return bool(column.dtype.is_numeric() and len(column) and not column.null_count())


def read_items(given: Any, name: str, columns: Columns) -> Table:
    """Items per user, or items for every user where there is nothing but items."""
    source = open_source(given, name)
    named = _as_far_as_there(source.columns or columns, source)
    if len(source.names) == 1:
        item = find(name, "item", named.item, source.names, needed=True, text=source.text)
        return _load(source, name, {"item": item}, empty=True)[0]
    return _load(source, name, _ids(source, name, named), empty=True)[0]


def read_beside(name: str, given: Any, columns: Columns) -> Table:
    """One of the tables beside lists and truth."""
    readers = {"train": read_train, "catalog": read_catalog, "features": read_features}
    return readers[name](given, columns) if name in readers else read_recs(given, columns, name)


def read_train(given: Any, columns: Columns) -> Table:
    """Interactions: a user and an item."""
    source = open_source(given, "train")
    return _load(source, "train", _ids(source, "train", _as_far_as_there(source.columns or columns, source)))[0]


def read_catalog(given: Any, columns: Columns) -> Table:
    """All items there are; other columns of the table do not matter."""
    source = open_source(given, "catalog")
    named = replace(source.columns or columns, user=None)
    # The only line of a file that names no column we know may well be an item.
    item = source.names[0] if len(source.names) == 1 and not source.text else None
    item = item or _find(source, "catalog", "item", named.item, named, needed=True)
    return _load(source, "catalog", {"item": item})[0]


def read_features(given: Any, columns: Columns) -> Table:
    """An item, and in every other column what is known of it."""
    source = open_source(given, "features")
    named = replace(source.columns or columns, user=None, score=None, rank=None, relevance=None)
    item = _find(source, "features", "item", named.item, named, needed=True)
    others = [name for name in source.names if name != item]
    if not others:
        raise InputError(
            f"features: nothing but items; columns are {listing(source.names)}. Add a category, or numbers, per item."
        )
    table, frame = _load(source, "features", {"item": item}, others)
    return replace(table, extra=frame.select(others))


def read_slices(given: Any, columns: Columns, *keys: tuple[str, ...]) -> Table:
    """A user, named by any of the keys, and in every other column the segment it belongs to."""
    source = open_source(given, "slices")
    named = _as_far_as_there(source.columns or columns, source)
    for key in keys:
        if named.user is None and key and set(key) <= set(source.names):
            named = Columns(user=key)
    roles = _ids(source, "slices", named, item=False)
    segments = [name for name in source.names if name not in roles.values()]
    if not segments:
        raise InputError(
            f"slices: no segment; columns are {listing(source.names)}. Give each user a segment in a second column."
        )
    table, frame = _load(source, "slices", roles, segments)
    for name in segments:
        if frame.schema[name].is_nested() or frame.schema[name] == pl.Object:
            raise InputError(f"slices: '{name}' is of type {frame.schema[name]}; a segment is text or a number.")
    return replace(table, extra=frame.select(segments).fill_nan(None))  # NaN is how pandas writes a missing one


def read_log(
    given: Any, name: str, columns: Columns, needed: Sequence[str], wanted: Sequence[str] = ()
) -> tuple[dict[str, str], pl.DataFrame]:
    """What happened, a row per event: which column has which role, and these columns, checked.

    The ``needed`` roles must be there, the ``wanted`` ones may. Ids of a file without types are integers where all of
    a column are.
    """
    source = open_source(given, name)
    named = source.columns or columns
    if len(named.key) > 1:
        raise ColumnError(f"{name}: a log names its users by one column, given were {listing(named.key)}.")
    asked = {"user": next(iter(named.key), None)}
    roles = {
        role: _find(source, name, role, asked.get(role, getattr(named, role)), named, needed=role in needed)
        for role in (*needed, *wanted)
    }
    table, frame = _load(source, name, roles)
    checked = []
    for role, column in table.used.items():
        if role == "time":
            checked.append(times(frame[column], name))
        elif role == "relevance":
            checked.append(_graded(frame[column], name))
        else:
            ids = as_ids(frame[column], name)
            checked.append(typed(ids) if source.text else ids)
    return table.used, pl.DataFrame(checked)


def typed(text: pl.Series) -> pl.Series:
    """Text as integers where all of it is integers and nothing but."""
    whole = integers(text)
    return text if whole.null_count() else whole


def integers(text: pl.Series) -> pl.Series:
    """Text that is an integer and nothing but ("7", not "007") as that integer, null for any other."""
    return text.to_frame().select(integer(text.name)).to_series()


def integer(column: str) -> pl.Expr:
    """The same for a column of a table."""
    text = pl.col(column)
    return pl.when(text.str.contains(CANONICAL)).then(text.cast(pl.Int64, strict=False))


def number(column: str, dtype: type[pl.DataType]) -> pl.Expr:
    """Text as numbers of a type, null where it is none."""
    return pl.col(column).str.strip_chars().cast(dtype, strict=False)


def times(given: pl.Series, table: str) -> pl.Series:
    """Times as dates, as instants or as numbers; text is read as one of these."""
    read = given
    if given.dtype == pl.String and given.cast(pl.Float64, strict=False).null_count():
        read = _instants(given.str.strip_chars(), table)
    if read.dtype.is_numeric() or read.dtype == pl.String:
        return _number(read, OrderError, table, "times")
    if not read.dtype.is_temporal():
        raise OrderError(f"{table}: '{given.name}' is of type {given.dtype}; times are dates, instants or numbers.")
    if read.null_count():
        row = read.is_null().arg_max() or 0
        raise OrderError(
            f"{table}: '{given.name}' holds {given[row]!r} in row {row} (counting from 0), and {read.null_count():,} "
            f"such values in {len(given):,} rows; times are dates, instants or numbers. Drop these rows, or fill them "
            "in."
        )
    return read


def _instants(text: pl.Series, table: str) -> pl.Series:
    """Text as instants, or as dates; null where it is neither."""
    fields = [text.str.extract(YEAR_LAST, group).cast(pl.Int8) for group in (1, 2)]
    if fields[0].count() and not any((field > 12).any() for field in fields):
        example = text.filter(fields[0].is_not_null())[0]
        raise OrderError(
            f"{table}: '{text.name}' holds dates such as '{example}', in which the day or the month may come first. "
            "Convert the column, for instance with frame.with_columns(pl.col(name).str.to_date('%m/%d/%Y'))."
        )
    found = pl.Series(text.name, [None], pl.Date).new_from_index(0, len(text))
    for kind in (pl.Datetime("us"), pl.Date):
        with contextlib.suppress(pl.exceptions.PolarsError):  # no form of date is found in it
            read = text.str.strptime(kind, strict=False)
            found = read if read.null_count() < found.null_count() else found
    return found


def _as_far_as_there(named: Columns, source: Source) -> Columns:
    """A table beside recs and truth may name its users by fewer columns: by the user, say, and not by the order."""
    there = tuple(name for name in named.key if name in source.names)
    return replace(named, user=there or None) if len(there) < len(named.key) and len(named.key) > 1 else named


def _find(
    source: Source, table: str, role: str, given: str | None, named: Columns, *, needed: bool = False
) -> str | None:
    return find(table, role, given, source.names, needed=needed, taken=named.named, text=source.text)


def _ids(source: Source, table: str, named: Columns, *, item: bool = True) -> dict[str, str | None]:
    key = named.key or (None,)
    names = [_find(source, table, "user", name, named, needed=True) for name in key]
    roles: dict[str, str | None] = {"user" if len(names) == 1 else f"user {n}": name for n, name in enumerate(names, 1)}
    if item:
        roles["item"] = _find(source, table, "item", named.item, named, needed=True)
    return roles


def _load(
    source: Source, table: str, roles: Mapping[str, str | None], extra: Sequence[str] = (), *, empty: bool = False
) -> tuple[Table, pl.DataFrame]:
    """The columns of all roles, in one go: a lazy table may come in another order when it is asked again."""
    used = {role: name for role, name in roles.items() if name is not None}
    if len(set(used.values())) < len(used):
        shared = next(name for name in used.values() if list(used.values()).count(name) > 1)
        both = " and the ".join(role for role, name in used.items() if name == shared)
        raise ColumnError(f"{table}: '{shared}' would be the {both}. Say which is which with Columns(...).")
    frame = source.select(list(dict.fromkeys([*used.values(), *extra])))
    if len(frame) == 0 and not empty:
        advice = "There is nothing to evaluate" if table in ("recs", "truth") else f"Leave {table} out, or pass some"
        raise SourceError(f"{table}: {source.label} has no rows. {advice}.")
    ids = tuple(as_ids(frame[name], table) for role, name in used.items() if role == "item" or role.startswith("user"))
    key = tuple(name for role, name in used.items() if role.startswith("user"))
    return Table(
        table, source.label, key, ids, used, text=source.text, n_rows=source.n_rows, n_items=source.n_items
    ), frame


def as_ids(ids: pl.Series, table: str) -> pl.Series:
    """Ids as integers, text or dates; whole floats, which pandas makes of integers, become integers again."""
    dtype = ids.dtype
    if dtype.is_float():
        ids = ids.fill_nan(None)
    if ids.null_count() and len(ids):
        row = ids.is_null().arg_max()
        raise IdError(
            f"{table}: '{ids.name}' is missing in {ids.null_count():,} of {len(ids):,} rows, first in row {row} "
            "(counting from 0). Fill in the ids, or drop these rows."
        )
    if dtype.is_float():
        exact = 2**53 if dtype == pl.Float64 else 2**24 if dtype == pl.Float32 else 2**11
        odd = ids.filter((ids != ids.floor()) | (ids.abs() >= exact))
        if len(odd):
            why = "which is no id" if odd[0] != math.floor(odd[0]) else "which a float cannot tell from its neighbours"
            raise IdError(f"{table}: '{ids.name}' holds {odd[0]}, {why}. Ids are whole numbers or text.")
        return ids.cast(pl.Int64)
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
    """Numbers without gaps; text, as from a file without types, is read as numbers."""
    read = values
    if values.dtype == pl.String:
        text = values.to_frame()
        whole = text.select(number(values.name, pl.Int64)).to_series()  # beyond 2^53 floats would merge whole numbers
        read = text.select(number(values.name, pl.Float64)).to_series() if whole.null_count() else whole
    if values.dtype == pl.Boolean:
        read = values.cast(pl.UInt8)
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


def _finite(score: pl.Series, table: str) -> pl.Series:
    score = _number(score, OrderError, table, "scores")
    if score.dtype.is_decimal() or score.dtype in (pl.Int128, pl.UInt128):
        return score.rank("dense").cast(pl.Int64)  # NumPy has no such numbers; their order is all that counts
    return score


def _whole(rank: pl.Series, table: str) -> pl.Series:
    rank = _number(rank, OrderError, table, "ranks")
    whole = rank.cast(pl.Int64, strict=False)
    odd = rank.filter((whole != rank).fill_null(True))
    if len(odd):
        raise OrderError(
            f"{table}: '{rank.name}' holds {odd[0]}; ranks are the whole numbers 1, 2, 3, ... of each list."
        )
    return whole


def _graded(relevance: pl.Series, table: str = "truth") -> pl.Series:
    grade = _number(relevance, RelevanceError, table, "grades").cast(pl.Float64)
    if (negative := grade < 0).any():
        row = negative.arg_max() or 0
        raise RelevanceError(
            f"{table}: '{relevance.name}' holds {relevance[row]} in row {row} (counting from 0), and "
            f"{negative.sum():,} values below 0; a grade is 0 (judged, not relevant) or more. Set them to 0, or drop "
            "these rows."
        )
    return grade
