"""Logs: what happened, and each owner's events in the order of time."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from atkay.core.kernels import number_pairs
from atkay.core.order import together
from atkay.core.types import is_integer, is_number
from atkay.errors import IdError, InputError, SpecError, an_integer, shown, unknown_value
from atkay.inputs.coding.vocabulary import Vocabulary
from atkay.inputs.logs import times

if TYPE_CHECKING:
    from collections.abc import Iterable

    from atkay.core.types import Ints


@dataclass(frozen=True, eq=False)
class Sequences:
    """The rows of each owner, oldest first; rows of the same time stay as given, and all do without times.

    Those of owner n are ``row[start[n]:start[n + 1]]``.
    """

    row: Ints
    start: Ints

    @classmethod
    def of(cls, owner: pl.Series, time: pl.Series | None = None) -> Sequences:
        """The owners' rows by time."""
        owners, (code,) = Vocabulary.of([(owner,)], dense=True)
        return cls.of_codes(code, owners.size, time)

    @classmethod
    def of_codes(cls, owner: Ints, n_owners: int, time: pl.Series | None = None) -> Sequences:
        """The same where owners have codes."""
        row, start, _ = together(owner, n_owners, None if time is None else _falling(time))
        return cls(row, start.astype(np.int64))

    def pairs(self, item: pl.Series) -> tuple[Ints, int]:
        """A number for each row as given, the same for the same owner and item; and how many there are."""
        items, (code,) = Vocabulary.of([(item,)])
        return number_pairs(self.start, self.row, code, items.size)

    @property
    def length(self) -> Ints:
        """How many rows each owner has."""
        return np.diff(self.start)

    @property
    def place(self) -> Ints:
        """How many of the owner's rows come before each row, in the order of ``row``."""
        return np.arange(len(self.row)) - np.repeat(self.start[:-1], self.length)

    @property
    def left(self) -> Ints:
        """How many of the owner's rows come after each row, in the order of ``row``."""
        return np.repeat(self.start[1:], self.length) - np.arange(len(self.row)) - 1

    def by_row(self, values: Ints) -> Ints:
        """Values in the order of ``row``, in the order of the rows as given."""
        out = np.empty_like(values)
        out[self.row] = values
        return out


def first_rows(code: Ints, n_codes: int) -> Ints:
    """The first row of each code; all of them occur."""
    first = np.empty(n_codes, np.int64)
    first[code[::-1]] = np.arange(len(code))[::-1]  # what is assigned last stays
    return first


def _falling(time: pl.Series) -> Any:
    """Numbers that fall as time goes on."""
    values = time.to_physical()
    if values.dtype.is_decimal() or values.dtype in (pl.Int128, pl.UInt128):
        values = values.rank("dense").cast(pl.Int64)  # NumPy has no such numbers; their order is all that counts
    rising = values.to_numpy()
    return -rising if values.dtype.is_float() else np.invert(rising)


def moment(given: Any, time: pl.Series, what: str) -> Any:
    """A point in time, comparable with the times of a log; text is read as a date or datetime.

    In a log with a time zone, what has none is local there.
    """
    too_large = isinstance(given, int) and abs(given) >= 2**63
    if too_large or (isinstance(given, Collection) and not isinstance(given, str)):
        raise InputError(f"{what} must be one date, datetime or number, got {shown(given)}.")
    try:
        plain = given.astype("datetime64[us]").item() if isinstance(given, np.datetime64) else given
        at = times(pl.Series(what, [plain]), what)
        if isinstance(time.dtype, pl.Datetime) and at.dtype.is_temporal():
            at = at.cast(pl.Datetime("us")) if at.dtype == pl.Date else at
            zone, own = time.dtype.time_zone, getattr(at.dtype, "time_zone", None)
            if zone is not None:
                at = at.dt.replace_time_zone(zone) if own is None else at.dt.convert_time_zone(zone)
        value = at[0]
        (time[:1] >= value).to_list()
    except (pl.exceptions.PolarsError, NotImplementedError, TypeError, ValueError) as error:
        raise InputError(
            f"{what}: {shown(given)} cannot be compared with the times of the log, which are of type "
            f"{time.dtype}, such "
            f"as {time[0]!r}. Pass a value of that type."
        ) from error
    return value


def alike(table: pl.DataFrame, other: pl.DataFrame, time: str, what: str) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Both tables with the same types: ids as the other has them, times as the finer of both, so that none is cut."""
    for name in (name for name in table.columns if name in other.columns):
        here, there = table.schema[name], other.schema[name]
        if _kind(here) != _kind(there):
            raise IdError(
                f"{what} and events have different types: '{name}' is {here}, such as {table[name][0]!r}, "
                f"and {there}, such as {other[name][0]!r}. Nothing would match. Convert one of them."
            )
        shared = _finer(here, there) if name == time else there
        table, other = (each.with_columns(pl.col(name).cast(shared)) for each in (table, other))
    return table, other


def _kind(dtype: pl.DataType) -> str:
    if dtype in (pl.Date, pl.Datetime):
        return "time" if getattr(dtype, "time_zone", None) is None else "time in a zone"
    return "number" if dtype.is_numeric() else str(dtype)


def _finer(one: pl.DataType, other: pl.DataType) -> pl.DataType:
    """The type that has all times of two types of one kind."""
    if isinstance(one, pl.Datetime) and isinstance(other, pl.Datetime):
        units = (one.time_unit, other.time_unit)
        return pl.Datetime(min(units, key=("ns", "us", "ms").index), other.time_zone)
    empty = (pl.DataFrame(schema={"time": dtype}) for dtype in (one, other))
    return pl.concat(empty, how="vertical_relaxed").schema["time"]


def share_of(given: Any, what: str) -> float:
    """A share between 0 and 1."""
    if not is_number(given, 0, 1):
        raise InputError(f"{what}: share must be a number between 0 and 1, got {shown(given)}.")
    return float(given)


def count_of(given: Any, what: str, least: int = 1) -> int:
    """An integer of at least ``least``."""
    if not is_integer(given, least):
        raise InputError(f"{what} must be {an_integer(least)}, got {shown(given)}.")
    return int(given)


def word_of(given: Any, what: str, words: Iterable[str]) -> str:
    """One of a few words."""
    words = list(words)
    if not isinstance(given, str) or given not in words:
        raise SpecError(f"tasks: {unknown_value(given, what, words)}")
    return given
