"""Pairs: rows of two to four integers, which may be the items of a user, or a user, an item, a grade and a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl

from atkay.errors import SourceError
from atkay.inputs.checks import integers
from atkay.inputs.positions import EARLIEST_TIME, HIGHEST_GRADE
from atkay.tables import KINDS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from atkay.core.types import Array, Ints
    from atkay.inputs.table import Source, Table

WIDTHS = (2, 3, 4)


class PerhapsPairs(NamedTuple):
    """Rows without users that may well name them: the first column, the number of columns, and what the rows are."""

    first: Ints
    width: int
    what: str
    """An "array", "lists" or "tuples"."""


def perhaps_pairs(given: Any, table: str, what: str) -> PerhapsPairs | None:
    """What must be settled about rows of integers; None where they can only be the items of users."""
    kind = KINDS[table]
    if "user" not in kind.roles or not len(given):
        return None
    values = _columns(given) if isinstance(given, list) else given
    if values.dtype.kind not in "iu" or values.ndim != 2 or values.shape[1] not in WIDTHS:
        return None
    if np.ma.is_masked(values) or values.min() < 0:
        return None
    first, *others = np.asarray(values.T)
    if kind.ranked or "rank" in kind.roles:  # pairs of lists stand in the order of the users
        steps = np.diff(first.astype(np.int64))
        doubtful = len(others) < 3 and (steps >= 0).all() and (steps == 0).any()
    else:
        graded = len(others) == 1 or (others[1] <= HIGHEST_GRADE).all()
        doubtful = graded and (len(others) < 3 or (others[2] >= EARLIEST_TIME).all())
    return PerhapsPairs(first, values.shape[1], what) if doubtful else None


def _columns(lists: list[Any]) -> Array:
    """Lists of a few integers each as an array; an empty one of others."""
    few = set(map(type, lists)) == {list} and len(lists[0]) in WIDTHS and len(set(map(len, lists))) == 1
    return np.array(lists) if few and all(type(one) is int for one in lists[0]) else np.empty(0)


def check_pairs(sources: Mapping[str, Source], tables: Mapping[str, Table]) -> None:
    """Ask about rows that may be pairs, unless lists or truth have a user for each of them, in the order of numbers."""
    for name, source in sources.items():
        pairs, size = source.pairs, source.n_rows
        if pairs is None or size is None:  # the rows have got their users
            continue
        counted = size > 1 and bool((pairs.first == np.arange(size)).all())
        others = [each for each in ("recs", "truth") if each != name and sources[each].pairs is None]
        if counted or not any(_are_numbered(tables[each], size) for each in others):
            raise unclear_rows(pairs.what, pairs.width, name)


def _are_numbered(table: Table, size: int) -> bool:
    """Whether the users of a table are the numbers below ``size``, all of them."""
    if table.n_rows is not None or len(table.key) != 1:
        return table.n_rows == size
    users = table.ids[0].unique()
    users = integers(users) if users.dtype == pl.String else users
    return users.dtype.is_integer() and len(users) == size and users.min() == 0 and users.max() == size - 1


def unclear_rows(what: str, width: int, table: str) -> SourceError:
    """Rows of a few columns may be those of a table, or the items of users."""
    names = ["user", "item", KINDS[table].value or "score", "time"][:width]
    rows = f"an array of {width} columns" if what == "array" else f"a list of {what} of {width}"
    return SourceError(
        f"{rows} could be rows of {' and '.join((', '.join(names[:-1]), names[-1]))}, or {width} items for each user",
        advice=f"For rows, pass polars.DataFrame({what}, schema={names}, orient='row'); for the items of users 0, 1, "
        f"2, ..., dict(enumerate({what})).",
        table=table,
    )
