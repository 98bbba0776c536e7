"""Arrays: item codes, padded rows, matrices, sparse matrices, ragged lists and tensors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from atkay.core.lists import Lists
from atkay.core.types import is_tensor, tensor_array
from atkay.errors import IdError, InputError, SourceError
from atkay.inputs.columns import Columns
from atkay.tables import KINDS

if TYPE_CHECKING:
    from atkay.core.types import Array, Bools, Floats, Ints
    from atkay.inputs.table import Source

PADDING = -1
"""Fills up a short list."""
FORMS = (
    "users x r item codes (-1 fills up short rows), a list of such rows, a matrix of users x items (of truth values, "
    "or of grades as floats), or a SciPy sparse matrix"
)
EXACT_BELOW = {np.dtype(np.float16): 2**11, np.dtype(np.float32): 2**24, np.dtype(np.float64): 2**53}
"""Below which a float tells whole numbers apart."""


class ItemRows(NamedTuple):
    """Item codes by user: how many each one has, the codes, and a value of each where there are any."""

    length: Ints
    item: Ints
    value: Array | None = None

    def lists(self, n_items: int) -> Lists:
        """The codes as lists."""
        return Lists.of(self.length, self.item, n_items)

    @property
    def owner(self) -> Ints:
        """The user of each code."""
        return np.repeat(np.arange(len(self.length)), self.length)

    def source(self, table: str, label: str, n_items: int | None = None) -> Source:
        """The rows of a table; its users are numbers."""
        from atkay.inputs.checks import series
        from atkay.inputs.table import roles_of, source_of

        columns = {"user": self.owner, "item": series("item", self.item, table)}
        if (value := KINDS[table].value) and self.value is not None:
            columns[value] = self.value
        return source_of(columns, roles_of(table, columns), label, len(self.length), n_items)

    def where(self, keep: Bools) -> ItemRows:
        """Some of the rows."""
        length = np.bincount(self.owner[keep], minlength=len(self.length))
        return ItemRows(length, self.item[keep], None if self.value is None else self.value[keep])


def read_feature_array(given: np.ndarray[Any, Any]) -> Source:
    """A row of numbers per item, as features."""
    from atkay.inputs.table import source_of

    if given.dtype.kind not in "biuf" or not given.shape[1]:
        raise InputError(
            f"an array must hold a row of numbers per item, got {given.dtype} of shape {given.shape}",
            advice="Pass categories as {item: [words]}.",
            table="features",
        )
    numbers: Floats = np.ma.filled(np.ma.asarray(given, dtype=float), np.nan)
    columns = {"item": np.arange(len(given)), "features": numbers}
    return source_of(columns, Columns(item="item"), "an array", n_items=len(given))


def read_array(given: np.ndarray[Any, Any], table: str) -> Source:
    """A row of item ids per user; -1, NaN, None and the mask fill up short ones."""
    if given.dtype.names:
        raise SourceError(
            f"cannot read an array with named fields ({', '.join(given.dtype.names)}) as a table",
            advice="Pass polars.DataFrame({name: array[name] for name in array.dtype.names}).",
            table=table,
        )
    if given.ndim != 2:
        raise SourceError(
            f"an array has a row per user and a column per rank, this one has shape {given.shape}.", table=table
        )
    values = np.ma.getdata(given).ravel()
    if values.dtype == np.longdouble:
        values = values.astype(float)
    there = ~np.ma.getmaskarray(given).ravel()
    if values.dtype.kind == "O":
        there &= (values != np.array(None)) & (values != PADDING)
    if values.dtype.kind in "iuf":
        there &= values != PADDING
    if values.dtype.kind == "f":
        there &= ~np.isnan(values)
        odd = values[there & ~((values == np.floor(values)) & (np.abs(values) < EXACT_BELOW[values.dtype]))]
        if len(odd):
            raise SourceError(
                f"an array of users x k must hold item ids, got {odd[0]}",
                advice="Pass scores of all items as a SciPy sparse matrix, or as {user: {item: score}}.",
                table=table,
            )
    item = values[there].astype(np.int64 if values.dtype.kind == "f" else values.dtype, copy=False)
    return ItemRows(np.count_nonzero(there.reshape(given.shape), axis=1), item).source(table, "an array")


def read_sparse(given: Any, table: str) -> Source:
    """A SciPy sparse matrix of users x items."""
    if given.ndim != 2:
        raise SourceError(
            f"a sparse matrix has a row per user and a column per item, this one is of shape {given.shape}.",
            table=table,
        )
    if not {"user", "item"} <= KINDS[table].roles.keys():
        what = {"features": "matrix.toarray(), a row per item", "catalog": "a list of items"}.get(table, "a table")
        raise SourceError(
            f"cannot read a sparse matrix of users x items as {table}", advice=f"Pass {what}.", table=table
        )
    rows = _sparse_rows(given)
    if not KINDS[table].value and rows.value is not None:
        rows = rows.where(rows.value != 0)
    return rows.source(table, "a sparse matrix", given.shape[1])


def _sparse_rows(given: Any) -> ItemRows:
    """The rows of a sparse matrix, in which entries of the same place are added up, as they mean."""
    rows = given.tocsr()
    if not rows.has_canonical_format:
        rows = rows.copy()
        rows.sum_duplicates()
    return ItemRows(np.diff(rows.indptr).astype(np.int64), rows.indices, rows.data)


def array(given: Any, name: str, call: str = "update") -> Any:
    """A torch tensor as an array that shares its memory where it can; anything else as it is, if it has rows."""
    if isinstance(given, Mapping | Set | str | bytes) or hasattr(type(given), "columns"):
        raise InputError(
            f"{call}: {name} is a {type(given).__name__}, and the rows of a batch are users in their order. Pass an "
            "array, a tensor or a list: list(d.values()) of a dict, frame.to_numpy() of a frame with a row for each "
            "user."
        )
    if np.ma.is_masked(given):
        raise InputError(
            f"{call}: {name} is a masked array, and what stands behind the mask would count. Pass items.filled(-1), "
            "scores.filled(-np.inf) or grades.filled(0)."
        )
    if isinstance(given, np.matrix):
        return np.asarray(given)
    return tensor_array(given, f"{call}: {name}") if is_tensor(given) else given


def item_codes(given: Any, name: str, n_items: int | None, n_users: int | None = None) -> ItemRows:
    """Item codes by user, in any form; ``n_users`` is how many there must be."""
    given = array(given, name)
    if hasattr(given, "tocsr"):
        rows = _sparse(given, name, n_items)
    elif isinstance(given, np.ndarray) and given.dtype != object:
        rows = _dense(given, name, n_items)
    else:
        rows = _ragged(given, name)
    if n_users not in (None, len(rows.length)):
        raise InputError(f"update: {name} has {len(rows.length):,} rows, and there are {n_users:,} users.")
    if rows.value is not None and name != "targets":
        rows = _chosen(rows, rows.value, name)
    wrong = (rows.item < 0) | (rows.item >= (np.inf if n_items is None else n_items))
    if wrong.any():
        at = int(np.argmax(wrong))
        user = rows.owner[at]
        most = "" if n_items is None else f" to {n_items - 1:,} (n_items is {n_items:,})"
        raise IdError(
            f"update: {name} of row {user} has {rows.item[at]}; items are codes from 0{most}, and -1 fills up short "
            "rows."
        )
    return rows


def _sparse(given: Any, name: str, n_items: int | None) -> ItemRows:
    if given.dtype.kind not in "biuf":
        raise InputError(f"update: {name} is a matrix of {given.dtype}, and it takes real numbers.")
    if n_items not in (None, given.shape[-1]):
        raise InputError(
            f"update: {name} is a matrix with {given.shape[-1]:,} columns, and there are {n_items:,} items. A column "
            "number is an item code, so it needs as many."
        )
    rows = _sparse_rows(given)
    return rows._replace(item=rows.item.astype(np.int64))


def _chosen(rows: ItemRows, value: Array, name: str) -> ItemRows:
    """The items of a matrix that says which: all that are not 0."""
    if (unclear := np.isnan(value)).any():
        at = int(np.argmax(unclear))
        user = rows.owner[at]
        raise InputError(
            f"update: {name} of row {user} has NaN for item {rows.item[at]}, which says neither yes nor no. Pass a "
            "matrix of truth values, or of numbers that are 0 for no."
        )
    return rows.where(value != 0)


def _dense(given: Array, name: str, n_items: int | None) -> ItemRows:
    if given.ndim == 1 and given.dtype.kind in "iu":
        given = given[:, None]  # one item for each user
    if given.ndim != 2 or given.dtype.kind not in "biuf":
        raise InputError(f"update: {name} is of type {given.dtype} and shape {given.shape}; it takes {FORMS}.")
    if given.dtype.kind in "iu":
        if given.shape[1] == n_items and given.shape[1] > 2 and given.size and given.min() >= 0 and given.max() <= 1:
            raise InputError(
                f"update: {name} has a column for each item and holds nothing but 0 and 1, and whole numbers are item "
                "codes. Pass the matrix as truth values, or as floats."
            )
        keep = given != PADDING
        return ItemRows(np.count_nonzero(keep, axis=1), given[keep].astype(np.int64))
    if n_items not in (None, given.shape[1]):
        raise InputError(
            f"update: {name} is a matrix with {given.shape[1]:,} columns, and there are {n_items:,} items. It takes "
            f"{FORMS}."
        )
    keep = given != 0
    return ItemRows(
        np.count_nonzero(keep, axis=1), np.nonzero(keep)[1], given[keep] if given.dtype.kind == "f" else None
    )


def _ragged(given: Sequence[Any], name: str) -> ItemRows:
    try:
        rows = [np.asarray(array(row, f"a row of {name}")) for row in given]
    except InputError:
        raise
    except (TypeError, ValueError):
        raise InputError(f"update: {name} is a {type(given).__name__}; it takes {FORMS}.") from None
    if rows and all(row.ndim == 0 for row in rows):
        rows = [row[None] for row in rows]  # one item for each user
    full = [row for row in rows if row.size]
    even = all(row.ndim == 1 for row in rows)
    item: Array = np.concatenate(full) if full and even else np.empty(0, np.int64)
    if not even or item.dtype.kind not in "iu":
        raise InputError(f"update: a row of {name} is no list of item codes; it takes {FORMS}.")
    codes = ItemRows(np.array([len(row) for row in rows], np.int64), item.astype(np.int64))
    return codes.where(item != PADDING)


def read_compressed(given: Any, what: str) -> tuple[Ints, Ints, Floats | None, int]:
    """Compressed rows of any make: where they start, the items, their values, and how many items there are, if told."""
    values, n_items = None, 0
    if hasattr(given, "tocsr"):
        rows = given.tocsr()
        start, item, values, n_items = rows.indptr, rows.indices, rows.data, rows.shape[1]
    elif is_tensor(given) and str(given.layout) == "torch.sparse_coo":
        given = given.detach().coalesce()
        row, item = given.indices()
        start = np.append(0, np.cumsum(np.bincount(_on_host(row, what), minlength=given.shape[0])))
        values, n_items = given.values(), given.shape[1]
    elif is_tensor(given) and str(given.layout) == "torch.sparse_csr":
        start, item, values, n_items = given.crow_indices(), given.col_indices(), given.values(), given.shape[1]
    elif isinstance(given, tuple | list) and len(given) in (2, 3):
        start, item, *more = given
        values = more[0] if more else None
    else:
        raise SourceError(
            f"cannot read a {type(given).__name__} as compressed rows",
            advice="Pass a SciPy sparse matrix, a torch sparse tensor (tensor.to_sparse_csr()), or (indptr, "
            "indices): the items of user u are indices[indptr[u]:indptr[u + 1]].",
            table=what,
        )
    start, item = (_on_host(each, what) for each in (start, item))
    fits = start.ndim == item.ndim == 1 and start.dtype.kind in "iu" and item.dtype.kind in "iu" and len(start) > 0
    if not fits or start[0] != 0 or start[-1] != len(item) or (np.diff(start.astype(np.int64)) < 0).any():
        raise SourceError(
            "(indptr, indices) do not fit together: indptr has whole numbers that rise from 0 to the number of "
            f"indices, {len(item):,} here, and indices whole numbers.",
            table=what,
        )
    if len(item) and (item.min() < 0 or (n_items and item.max() >= n_items)):
        raise InputError(f"items are numbered from 0; given were {item.min()} to {item.max()}.", table=what)
    graded = None if values is None else _on_host(values, what).astype(float)
    if graded is not None and len(graded) != len(item):
        raise SourceError(f"{len(graded):,} values for {len(item):,} indices.", table=what)
    return start.astype(np.int64), item.astype(np.int64), graded, n_items


def _on_host(given: Any, what: str) -> Array:
    """A tensor, or anything else, as an array."""
    try:
        values = tensor_array(given, what) if is_tensor(given) else np.asarray(given)
    except ValueError as error:
        raise SourceError(
            f"cannot read a {type(given).__name__} as an array of numbers: {error}", table=what
        ) from error
    if values.dtype.kind not in "biuf":
        raise SourceError(f"(indptr, indices, grades) must be numbers, got {values.dtype}.", table=what)
    return values
