"""Checks: what would give a wrong number is refused."""

from __future__ import annotations

import contextlib
import itertools
import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from atkay.core.kernels import finite
from atkay.errors import (
    ColumnError,
    IdError,
    InputError,
    OrderError,
    RelevanceError,
    SourceError,
    SwappedWarning,
    UnusedWarning,
    listing,
    shown,
    warn,
)
from atkay.inputs.columns import Columns, named_like, names_an_id_or_time
from atkay.inputs.in_place import in_place
from atkay.tables import RANK, RELEVANCE, SCORE
from atkay.text.phrases import columns_argument

if TYPE_CHECKING:
    from atkay.inputs.table import Source, Table

MIXED: dict[str, type[InputError]] = {"score": OrderError, "relevance": RelevanceError}
"""Columns of numbers, and the error of one that holds something else, too."""
DECIMAL_COMMA = r"^[-+]?[0-9]*(?:,[0-9]+)?(?:[eE][-+]?[0-9]+)?$"
PERHAPS_THOUSANDS = r"^[-+]?[1-9][0-9]{0,2},[0-9]{3}$"
"""1,234 is a bit more than one, or more than a thousand."""
USUAL_NUMBERS = frozenset({pl.Int32, pl.Int64, pl.Float32, pl.Float64})
"""The types of scores and grades that stay as they are."""
USUAL_IDS = frozenset({pl.Int32, pl.Int64, pl.String})
"""The types of ids that stay as they are."""
UNREADABLE = (TypeError, ValueError, OverflowError, AttributeError, RuntimeError, pl.exceptions.PolarsError)
"""What Polars raises where values are no column."""
CANONICAL_INTEGER = r"^(?:0|-?[1-9][0-9]{0,18})$"
COLUMNS_SAMPLED, ROWS_SAMPLED = 5, 1000
"""Columns without a role, and rows of them, that are looked at: could they have been meant?"""


def series(name: str, values: Any, table: str) -> pl.Series:
    """A column out of any values; mixed types are refused rather than guessed, unless all are numbers."""
    if isinstance(values, np.ndarray) and values.dtype == object:
        values = values.tolist()
    wide = False
    if isinstance(values, list) and values and type(values[0]) is str:
        with contextlib.suppress(*UNREADABLE):  # else it is looked at why
            return pl.Series(name, values, pl.String)
    if name in ("user", "item") and isinstance(values, list) and any(map(is_list, set(map(type, values)))):
        raise IdError(
            f"holds {shown(next(filter(is_nested, values)))}",
            advice="Ids must be integers or text.",
            table=table,
            column=name,
        )
    try:
        column = pl.Series(name, values)
        # Next to numbers True would be 1.
        if name in MIXED or not isinstance(values, list) or not column.dtype.is_numeric() or not _has_bools(values):
            return column
    except UNREADABLE:
        kinds = set(map(type, values))
        if all(issubclass(kind, int | float | np.number | np.bool_) for kind in kinds):
            wide = any(int(value).bit_length() > 53 for value in values if isinstance(value, int | np.integer))
            if not wide and (name in MIXED or not _has_bools(values)):
                return pl.Series(name, np.array(values, dtype=float))
    types = sorted({kind.__name__ for kind in map(type, values)})
    raise mixed_types(table, name, "integers too large for a column" if wide else ", ".join(types)) from None


def _has_bools(values: Iterable[object]) -> bool:
    return any(kind in (bool, np.bool_) for kind in set(map(type, values)))


def mixed_types(table: str, name: str, types: str) -> InputError:
    """The error of a column with values of several types."""
    error = MIXED.get(name, IdError)
    what = "only numbers" if name in MIXED else "only numbers or only text"
    return error(f"must hold {what}; found {types}", advice="Convert the values to one type.", table=table, column=name)


def is_nested(value: object) -> bool:
    """Whether a value is a collection, and so no id."""
    return is_list(type(value))


def is_list(kind: type) -> bool:
    """Whether objects of a type are collections of items."""
    return issubclass(kind, Collection) and not issubclass(kind, str | bytes)


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
    return pl.when(text.str.contains(CANONICAL_INTEGER)).then(text.cast(pl.Int64, strict=False))


def number(column: str, dtype: type[pl.DataType]) -> pl.Expr:
    """Text as numbers of a type, null where it is none."""
    return pl.col(column).str.strip_chars().cast(dtype, strict=False)


def comma_number(column: str) -> pl.Expr:
    """Text as numbers with a decimal comma, null where it is none."""
    text = pl.col(column).str.strip_chars()
    return pl.when(text.str.contains(DECIMAL_COMMA)).then(
        text.str.replace(",", ".", literal=True).cast(pl.Float64, strict=False)
    )


def has_decimal_comma(column: str) -> pl.Expr:
    """Whether a comma among numbers is certainly a decimal one: in 0,75 and 12,5, not in 1,234."""
    text = pl.col(column).str.strip_chars()
    return (text.str.contains(",", literal=True) & ~text.str.contains(PERHAPS_THOUSANDS)).any()


def as_ids(ids: pl.Series, table: str) -> pl.Series:
    """Ids as integers, text or dates; whole floats, which pandas makes of integers, become integers again."""
    dtype = ids.dtype
    if dtype in USUAL_IDS and not ids.null_count():
        return ids
    if dtype.is_float():
        ids = ids.fill_nan(None)
    if ids.null_count() and len(ids):
        raise bad_rows(IdError, ids, ids.is_null(), "is missing", "Fill in the ids, or drop these rows.", table)
    if dtype.is_float():
        exact = 2**53 if dtype == pl.Float64 else 2**24 if dtype == pl.Float32 else 2**11
        odd = ids.filter((ids != ids.floor()) | (ids.abs() >= exact))
        if len(odd):
            why = "which cannot be an id" if odd[0] != math.floor(odd[0]) else "which a float cannot represent exactly"
            raise IdError(
                f"holds {odd[0]}, {why}", advice="Ids must be integers or text.", table=table, column=ids.name
            )
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
    raise IdError(
        f"is of type {dtype}, which cannot be an id",
        advice="Ids must be integers or text.",
        table=table,
        column=ids.name,
    )


def bad_rows(
    error: type[InputError], values: pl.Series, bad: pl.Series, problem: str, advice: str, table: str
) -> InputError:
    """The error of a column's bad rows; braces in the ``problem`` stand for the first bad value."""
    row = bad.arg_max() or 0
    count = int(bad.sum())
    first = values[row]
    if first is None or first != first:  # NaN, which pandas writes where a value is missing
        problem = "is missing" if first is None else "is missing (NaN)"
    return error(problem.format(first), advice=advice, table=table, column=values.name, row=row, count=count)


def check_numbers(values: pl.Series, error: type[InputError], table: str, use: str) -> pl.Series:
    """Numbers without gaps; text, as from a file without types, is read as numbers."""
    dtype = values.dtype
    if dtype in USUAL_NUMBERS and not values.null_count() and (dtype.is_integer() or finite(in_place(values))):
        return values
    read = values
    if values.dtype == pl.String:
        text = values.to_frame()
        whole = text.select(number(values.name, pl.Int64)).to_series()  # beyond 2^53 floats would merge whole numbers
        read = text.select(number(values.name, pl.Float64)).to_series() if whole.null_count() else whole
        if read.null_count() > values.null_count():
            read = _with_commas(text, read, error, table)
    if values.dtype == pl.Boolean:
        read = values.cast(pl.UInt8)
    if not read.dtype.is_numeric():
        raise error(
            f"is of type {values.dtype}",
            advice=f"{use} must be numbers: convert the column.",
            table=table,
            column=values.name,
        )
    if read.null_count() == 0 and (not read.dtype.is_float() or finite(in_place(read))):
        return read  # a value that is no number would have made the sum none
    bad = read.is_null() | ~read.is_finite() if read.dtype.is_float() else read.is_null()
    if bad.any():
        if values.dtype == pl.String and (unread := (bad & values.is_not_null())).sum() > len(values) / 2:
            example = shown(values[unread.arg_max() or 0])
            raise error(f"is text, such as {example}: convert it to numbers.", table=table, column=values.name)
        advice = f"{use} must be finite numbers: drop these rows, or fill them in."
        raise bad_rows(error, values, bad, "holds {!r}", advice, table)
    return read


def _with_commas(text: pl.DataFrame, read: pl.Series, error: type[InputError], table: str) -> pl.Series:
    """Numbers with decimal commas where all of the text is such numbers, else what was ``read`` without."""
    values = text.to_series()
    commas = text.select(comma_number(values.name)).to_series()
    if commas.null_count() > values.null_count():
        unread = read.is_null() & values.is_not_null()
        if (unread & commas.is_null()).any():
            return read
        problem = "mixes decimal points with commas, such as {!r}"
        advice = "Write all numbers with a decimal point, and without separators of thousands."
        raise bad_rows(error, values, unread, problem, advice, table)
    if text.select(has_decimal_comma(values.name)).item():
        return commas
    doubtful = values.str.contains(",", literal=True)
    problem = "holds {!r}, of which the comma may be a decimal one or separate thousands"
    advice = "Write the numbers with a decimal point, or without separators."
    raise bad_rows(error, values, doubtful, problem, advice, table)


def check_scores(score: pl.Series, table: str) -> pl.Series:
    """Scores as finite numbers that NumPy has."""
    score = check_numbers(score, OrderError, table, "Scores")
    dtype = score.dtype
    if dtype not in USUAL_NUMBERS and (dtype.is_decimal() or dtype in (pl.Int128, pl.UInt128)):
        return score.rank("dense").cast(pl.Int64)  # NumPy has no such numbers; their order is all that counts
    return score


def check_ranks(rank: pl.Series, table: str) -> pl.Series:
    """Ranks as integers."""
    rank = check_numbers(rank, OrderError, table, "Ranks")
    whole = rank.cast(pl.Int64, strict=False)
    odd = rank.filter((whole != rank).fill_null(True))
    if len(odd):
        raise OrderError(f"holds {odd[0]}; ranks must be 1, 2, 3, ... in each list.", table=table, column=rank.name)
    return whole


def check_grades(relevance: pl.Series, table: str = "truth") -> pl.Series:
    """Grades as numbers; what those below 0 mean the protocol says."""
    return check_numbers(relevance, RelevanceError, table, "Grades").cast(pl.Float64)


def check_weights(weight: pl.Series) -> pl.Series:
    """Weights of users as numbers from 0."""
    read = check_numbers(weight, InputError, "weights", "Weights").cast(pl.Float64)
    if (below := read < 0).any():
        raise bad_rows(InputError, weight, below, "holds {!r}", "A weight must be 0 or above.", "weights")
    return read


def check_shapes(*tables: Table) -> None:
    """Tables in which a user is a row number, or an item a column number, have as many of them as the last one."""
    for other, table in itertools.combinations(reversed(tables), 2):
        if table.key and other.key and None not in (here := (table.n_rows, other.n_rows)) and here[0] != here[1]:
            raise SourceError(
                f"{table.name} has {here[0]:,} rows and {other.name} {here[1]:,}; users are row numbers, so "
                f"both need the same number of rows."
            )
        if None not in (here := (table.n_items, other.n_items)) and here[0] != here[1]:
            raise SourceError(
                f"{table.name} has {here[0]:,} items and {other.name} {here[1]:,}; items are column numbers "
                f"(row numbers in an array of features), so both need the same number. Build both for all "
                f"items: scipy.sparse.csr_array(..., shape=(n_users, n_items))."
            )


def check_item_numbers(recs: Table, truth: Table) -> None:
    """Where the items of one are column numbers, those of the other are as many."""
    for table, other in ((recs, truth), (truth, recs)):
        item = other.ids[-1]
        if table.n_items is None or other.n_items is not None or not item.dtype.is_integer() or not len(item):
            continue
        beyond = (item < 0) | (item >= table.n_items)
        if beyond.any():
            raise IdError(
                f"holds {item.filter(beyond)[0]}, but items are columns of {table.label} in {table.name}, from 0 to "
                f"{table.n_items - 1:,}",
                advice="Number the items from 0, in the order of its columns.",
                table=other.name,
                column=item.name,
            )


def check_swapped(sources: Mapping[str, Source], columns: Mapping[str, Columns]) -> None:
    """Lists have scores or ranks, and truth has grades; a column that is named in ``columns`` is meant."""
    if any(source.columns is not None for source in sources.values()):
        return  # what is no table has no columns that could tell
    if columns["recs"].score or columns["recs"].rank or columns["truth"].relevance:
        return
    order = {name: named_like(source.names, (*SCORE[0], *RANK[0])) for name, source in sources.items()}
    graded = {name: named_like(source.names, RELEVANCE[0]) for name, source in sources.items()}
    if not order["truth"] or graded["truth"]:
        return
    score = named_like(order["truth"], ["score"])  # which may be grades, as in BEIR's files; the others are none
    if not order["recs"] and (graded["recs"] or not score or not _are_whole(sources["truth"], score[0])):
        has = f"{listing(graded['recs'])} and neither" if graded["recs"] else "neither"
        raise ColumnError(
            f"are recs and truth swapped? recs has {has} a score nor a rank, and truth has {listing(order['truth'])} "
            "and no grades. If so, swap them; if not, "
            + (
                f"name the column that orders the lists: {columns_argument(score=graded['recs'][0])}."
                if graded["recs"]
                else f"name the grades, {columns_argument(relevance=score[0])}."
                if score
                else f"leave {listing(order['truth'])} out of truth."
            )
        )
    if score and not _unlike(sources, score[0], named_like(order["recs"], SCORE[0])):
        has = f"{listing(order['recs'])}, too" if order["recs"] else "neither a score nor a rank"
        warn(
            f"truth: '{score[0]}' is read as the grades, and recs has {has}. Are recs and truth swapped, or is "
            f"truth a ranked list? If these are grades, pass {columns_argument(relevance=score[0])}; if not, "
            f"drop the column.",
            SwappedWarning,
        )


def _unlike(sources: Mapping[str, Source], grade: str, scores: Sequence[str]) -> bool:
    """Whether truth's column holds whole numbers, as grades are, and the first of recs' scores does not."""
    return bool(scores) and _are_whole(sources["truth"], grade) and not _are_whole(sources["recs"], scores[0])


def _are_whole(source: Source, column: str) -> bool:
    """Whether the first numbers of a column are whole."""
    numbers = source.select([column]).get_column(column).head(ROWS_SAMPLED).cast(pl.Float64, strict=False)
    return bool((numbers == numbers.floor()).fill_null(False).all())


def warn_unused(source: Source, table: str, role: str, used: Sequence[str | None]) -> None:
    """Warn where a column of numbers could have the role that no column was found for."""
    others = [name for name in source.names if name not in used and not names_an_id_or_time(name)][:COLUMNS_SAMPLED]
    flags = role == "relevance"
    numbers = [name for name in others if _all_numbers(_first(source, name), flags=flags)]
    warn_of_numbers(numbers, table, role)


def warn_of_numbers(names: Sequence[str], table: str, role: str) -> None:
    """Warn of columns of numbers that could have a role; nothing where there is none."""
    instead = {"score": "each list keeps the row order", "relevance": "every row counts as relevant"}[role]
    if names:
        warn(
            f"{table}: no column was recognised as {role}, so {instead}; {listing(names)} is not used. Pass "
            f"{columns_argument(**{role: names[0]})} if it is the {role}; otherwise drop it.",
            UnusedWarning,
        )


def _first(source: Source, name: str) -> pl.Series:
    return source.select([name]).get_column(name).head(ROWS_SAMPLED)


def _all_numbers(column: pl.Series, *, flags: bool) -> bool:
    """Whether a column holds numbers, or text that could be; ``flags``: or true and false."""
    if column.dtype == pl.String:
        column = column.drop_nulls()
        if flags and column.str.to_lowercase().is_in(["true", "false"]).all():
            return bool(len(column))
        column = column.cast(pl.Float64, strict=False)
    if flags and column.dtype == pl.Boolean:
        return True
    return bool(column.dtype.is_numeric() and len(column) and not column.null_count())
