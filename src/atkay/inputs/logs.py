"""Logs: what happened, a row per event."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import polars as pl

from atkay.errors import ColumnError, OrderError, listing
from atkay.inputs.checks import as_ids, bad_rows, check_grades, check_numbers, typed
from atkay.inputs.columns import check_headless
from atkay.inputs.kinds import open_source
from atkay.inputs.nested import flat
from atkay.inputs.read import find_roles, load
from atkay.text.phrases import in_library

if TYPE_CHECKING:
    from collections.abc import Sequence

    from atkay.inputs.columns import Columns

YEAR_LAST = r"^(\d{1,2})[/.-](\d{1,2})[/.-]\d"
"""Dates whose year comes last: some write the day first, others the month."""


def read_log(
    given: Any, name: str, columns: Columns, needed: Sequence[str], optional: Sequence[str] = ()
) -> tuple[dict[str, str], pl.DataFrame]:
    """What happened, a row per event: which column has which role, and these columns, checked.

    The ``needed`` roles must be there, the ``optional`` ones may. Ids of a file without types are integers where all of
    a column are.
    """
    source = open_source(given, name, columns.header)
    check_headless({name: source}, columns)
    source = flat(source, name, columns)
    named = source.columns or columns
    if len(named.key) > 1:
        raise ColumnError(f"a log must identify users by one column, got {listing(named.key)}.", table=name)
    roles = find_roles(source, name, named, needed, optional)
    table, frame = load(source, name, roles)
    checked = []
    for role, column in table.used.items():
        if role == "time":
            checked.append(times(frame[column], name, source.label))
        elif role == "relevance":
            checked.append(check_grades(frame[column], name))
        else:
            ids = as_ids(frame[column], name)
            checked.append(typed(ids) if source.text else ids)
    return table.used, pl.DataFrame(checked)


def times(given: pl.Series, table: str, label: str = "") -> pl.Series:
    """Times as dates, as instants or as numbers; text is read as one of these."""
    read = given
    if given.dtype == pl.String and given.cast(pl.Float64, strict=False).null_count():
        read = _instants(given.str.strip_chars(), table, label)
    if read.dtype.is_numeric() or read.dtype == pl.String:
        return check_numbers(read, OrderError, table, "Times")
    if not read.dtype.is_temporal():
        raise OrderError(
            f"is of type {given.dtype}; times must be dates, datetimes or numbers.", table=table, column=given.name
        )
    if read.null_count():
        advice = "Times must be dates, datetimes or numbers: drop these rows, or fill them in."
        raise bad_rows(OrderError, given, read.is_null(), "holds {!r}", advice, table)
    return read


def _instants(text: pl.Series, table: str, label: str) -> pl.Series:
    """Text as instants, or as dates; null where it is neither."""
    fields = [text.str.extract(YEAR_LAST, group).cast(pl.Int8) for group in (1, 2)]
    if fields[0].count() and not any((field > 12).any() for field in fields):
        example = text.filter(fields[0].is_not_null())[0]
        how = in_library(
            label,
            pandas=f"pandas.to_datetime({table}[{text.name!r}], format='%m/%d/%Y')",
            Polars=f"{table}.with_columns(pl.col({text.name!r}).str.to_date('%m/%d/%Y'))",
        )
        raise OrderError(
            f"{table}: '{text.name}' holds dates such as '{example}', in which the day or the month may come first. "
            "Convert the column" + (how and f", for instance with {how}") + "."
        )
    instants = pl.Series(text.name, [None], pl.Date).new_from_index(0, len(text))
    for kind in (pl.Datetime("us"), pl.Date):
        with contextlib.suppress(pl.exceptions.PolarsError):  # no form of date is found in it
            read = text.str.strptime(kind, strict=False)
            instants = read if read.null_count() < instants.null_count() else instants
    return instants
