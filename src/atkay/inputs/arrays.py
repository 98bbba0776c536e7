"""Arrays: whether the values of an array are items, or its columns.

One rule holds for evaluate, Stream and full_ranking. Integers are item ids, padded with -1; booleans are a matrix with
a column per item; floats with fractions or infinities are such a matrix, too: of scores (lists) or of grades (truth).
Whole floats with NaN at the ends of rows are ids, as pandas writes them; of truth that is mostly 0, grades. What could
be either is refused with both readings, rather than guessed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from atkay.errors import InputError, OrderError, SourceError
from atkay.inputs.item_rows import PADDING, ItemRows, compressed, is_sparse, matrix, members, padded
from atkay.tables import KINDS

if TYPE_CHECKING:
    from atkay.core.types import Array, Bools

ENTRIES_PER_BLOCK = 1 << 20
"""Entries of a matrix that are looked at together."""
ROWS_SAMPLED = 64
"""Rows that tell whether all of them are worth a look."""
NARROW = 2
"""Columns of an array in which a row of 0 and 1 may still be two ids."""

Use = Literal["lists", "grades", "members"]
"""What the values of a matrix are: scores, grades, or whether the item is meant at all."""


def use_of(table: str) -> Use:
    """What a matrix says of the items of a table."""
    uses: dict[str, Use] = {"score": "lists", "relevance": "grades"}
    return uses.get(KINDS[table].value, "members")


def item_rows(given: Any, use: Use, name: str, n_items: int | None = None) -> ItemRows:
    """The items of each row of an array with two dimensions; ``n_items`` is how many there are, where it is known."""
    if is_sparse(given):
        rows = compressed(given, name)
        return members(rows, name) if use == "members" else rows
    if is_matrix(given, use, name, n_items):
        filled = np.ma.filled(given, 0)
        rows = matrix(filled, filled != 0)
        return members(rows, name) if use == "members" else rows
    return whole_ids(padded(given.astype(float) if given.dtype == np.longdouble else given), name)


def refuse_padding(given: Array, name: str) -> None:
    """Refuse what pads rows elsewhere: a negative number that is the only one, or the highest, at the ends of rows."""
    if given.dtype.kind not in "iu" or not given.size or np.ma.is_masked(given):
        return
    values = np.ma.getdata(given)
    highest = values.max() == np.iinfo(values.dtype).max
    mark = values.max() if highest else values.min()
    there = values == mark
    if not highest and (mark >= PADDING or ((values < 0) & ~there).any()):
        return
    if there[:, -1].any() and not there.all() and not (there[:, :-1] & ~there[:, 1:]).any():
        raise InputError(
            f"rows end with {mark}, which could pad them, or be an item",
            advice=f"Pad short rows with -1: numpy.where(array == {mark}, -1, array.astype(int)); if it is an item, "
            "pass dict(enumerate(array)).",
            table=name,
        )


def is_matrix(given: Array, use: Use, name: str, n_items: int | None = None) -> bool:
    """Whether the columns of an array are items; otherwise its values are."""
    kind, width = given.dtype.kind, given.shape[1]
    if kind == "b" and use == "lists":
        raise OrderError("a matrix of booleans has no order", advice=f"Pass {_FORMS[use]}.", table=name)
    if kind in "iu" and width > NARROW and (problem := _not_ids(np.ma.getdata(given), use)):
        advice = f"If they are ids, pad short rows with -1. {_otherwise(use, given)}"
        raise InputError(f"an array of integers holds item ids, but {problem}", advice=advice, table=name)
    if kind != "f":
        return kind == "b"
    if has_fractions(given):
        if n_items is None and _are_triples(given):
            raise InputError(
                f"an array of three columns, of which the first two hold integers, could be rows of user, item and "
                f"{_VALUE[use]}, or a matrix with a column for each of three items",
                advice=f"If they are rows, pass polars.DataFrame(array, schema=['user', 'item', "
                f"'{_VALUE[use]}']). {_otherwise(use, given)}",
                table=name,
            )
        return True
    if n_items == width and use != "lists":
        return True
    values, gap = np.ma.getdata(given), np.ma.getmaskarray(given) | np.isnan(given)
    if gap.any():
        if _is_padded(values, gap):
            return False
        problem = "with NaN within rows, or values that repeat"
        advice = f"Pad ids with -1, at the end of each row. {_otherwise(use, given)}"
    else:
        if use != "lists" and np.count_nonzero(values) < values.size / 2:
            return True
        problem, advice = "without fractions", f"If they are ids, pass array.astype(int). {_otherwise(use, given)}"
    raise InputError(
        f"floats {problem} could be item ids, or a matrix of {_VALUES[use]} with a column per item",
        advice=advice,
        table=name,
    )


_VALUE: dict[Use, str] = {"lists": "score", "grades": "relevance", "members": "score"}
_VALUES: dict[Use, str] = {"lists": "scores", "grades": "grades", "members": "0 and 1"}
_FORMS: dict[Use, str] = {"lists": "users x k item ids, best first, or scores of all items as floats"}


def _otherwise(use: Use, given: Array) -> str:
    """What to do if columns are items; what is missing is filled in first, since NaN and masked entries count."""
    if use == "lists":
        return "If they are scores of all items, pass (None, array)."
    array = "array.filled(0)" if np.ma.isMaskedArray(given) else "array"
    if given.dtype.kind == "f" and np.isnan(np.ma.getdata(given)).any():
        array = f"numpy.nan_to_num({array})"
    graded = f", or of grades, scipy.sparse.csr_array({array})" if use == "grades" else ""
    return f"If they are a matrix with a column per item, pass {array}.astype(bool){graded}."


def _not_ids(values: Array, use: Use) -> str:
    """Why integers are hardly ids: an id is in a row once, in lists perhaps by mistake, and -1 pads."""
    few = values[:ROWS_SAMPLED]
    if not few.size or few.min() < 0 or values.min() < 0:
        return ""
    if few.max() <= 1 and values.max() <= 1:
        return "this one has only values 0 and 1"
    zeros = np.count_nonzero(values == 0, axis=1) > 1
    if zeros.any():
        return f"row {zeros.argmax()} of this one repeats 0"
    ordered = np.sort(few, axis=1)
    twice = np.argwhere(ordered[:, 1:] == ordered[:, :-1])
    return f"row {twice[0][0]} of this one repeats {ordered[*twice[0]]}" if use != "lists" and len(twice) else ""


def has_fractions(given: Array) -> bool:
    """Whether numbers of two dimensions hold any that no id can be: with a fraction, or infinite."""
    rows = max(1, ENTRIES_PER_BLOCK // max(1, given.shape[1]))
    return any(_odd(given[begin : begin + rows]) for begin in range(0, len(given), rows))


def _odd(values: Array) -> bool:
    with np.errstate(invalid="ignore"):
        odd = (values != np.floor(values)) & ~np.isnan(values) | np.isinf(values)
    return bool(np.ma.filled(odd, False).any())


def _are_triples(values: Array) -> bool:
    """Whether columns look like users, items and a value of each pair."""
    return values.shape[1] == 3 and not has_fractions(values[:, :2]) and bool((values[:, :2] >= 0).all())


def _is_padded(values: Array, gap: Bools) -> bool:
    """Whether gaps fill up rows, whose other values differ, as ids do."""
    if (gap[:, :-1] & ~gap[:, 1:] & (values[:, 1:] != PADDING)).any():
        return False
    ordered = np.sort(np.where(gap | (values == PADDING), np.nan, values), axis=1)
    return not (ordered[:, 1:] == ordered[:, :-1]).any()


def whole_ids(rows: ItemRows, name: str) -> ItemRows:
    """Ids that are whole floats as the integers that they were."""
    if rows.item.dtype.kind != "f":
        return rows
    far = rows.item[np.abs(rows.item) >= 2.0 ** (np.finfo(rows.item.dtype).nmant + 1)]
    if len(far):
        raise SourceError(
            f"an array of users x k must hold item ids, got {far[0]}, which a float cannot represent exactly",
            advice="Pass integers.",
            table=name,
        )
    return rows._replace(item=rows.item.astype(np.int64))
