"""ItemRows: items by user, out of every form that they come in: padded, a matrix, sparse, ragged lists."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from atkay.core.lists import Lists
from atkay.core.types import is_tensor, tensor_array
from atkay.errors import InputError, SourceError, a_type
from atkay.tables import KINDS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from atkay.core.types import Array, Bools, Ints
    from atkay.inputs.table import Source

PADDING = -1
"""Fills up a short list."""


class ItemRows(NamedTuple):
    """Items by user: how many each one has, the items, and a value of each where there are any.

    ``n_items``: where items are columns of a matrix, how many it has.
    """

    length: Ints
    item: Array
    value: Array | None = None
    n_items: int | None = None

    def lists(self, n_items: int) -> Lists:
        """The items, which are codes, as lists."""
        return Lists.of(self.length, self.item.astype(np.int64, copy=False), n_items)

    @property
    def owner(self) -> Ints:
        """The user of each item."""
        return np.repeat(np.arange(len(self.length)), self.length)

    @property
    def width(self) -> int:
        """How many items there are at least, where these are codes."""
        return max(self.n_items or 0, int(self.item.max()) + 1 if len(self.item) else 0)

    def source(self, table: str, label: str) -> Source:
        """The rows of a table; its users are numbers."""
        from atkay.inputs.checks import series
        from atkay.inputs.table import roles_of, source_of

        columns = {"user": self.owner, "item": series("item", self.item, table)}
        if (value := KINDS[table].value) and self.value is not None:
            columns[value] = self.value
        return source_of(columns, roles_of(table, columns), label, len(self.length), self.n_items)

    def where(self, keep: Bools) -> ItemRows:
        """Some of the rows."""
        length = np.bincount(self.owner[keep], minlength=len(self.length))
        value = None if self.value is None else self.value[keep]
        return self._replace(length=length, item=self.item[keep], value=value)


def as_array(given: Any, name: str) -> Any:
    """A tensor or an array of another library as an array, which shares its memory where it can; else as it is."""
    if isinstance(given, np.matrix):
        return np.asarray(given)  # a row of a matrix is a matrix again
    if is_tensor(given):
        return tensor_array(given, name)
    if isinstance(given, np.ndarray) or not (hasattr(given, "__dlpack__") and hasattr(given, "shape")):
        return given
    try:
        return np.from_dlpack(given)
    except (BufferError, RuntimeError, TypeError, ValueError) as error:
        cause = str(error).strip().split("\n")[0].rstrip(".")
        raise SourceError(
            f"cannot read {a_type(given)} by DLPack: {cause}",
            advice="Copy it to the CPU, as numbers that NumPy has: numpy.asarray(array), cupy.asnumpy(array).",
            table=name,
        ) from error


def is_sparse(given: Any) -> bool:
    """Whether it is a sparse matrix of SciPy or of torch."""
    return hasattr(given, "tocsr") or (is_tensor(given) and str(given.layout).startswith("torch.sparse"))


def padded(given: Array) -> ItemRows:
    """A row of items per user, which -1, NaN, None, "" and the mask fill up."""
    values = np.ma.getdata(given)
    there = filled(values) & ~np.ma.getmaskarray(given)
    return ItemRows(np.count_nonzero(there, axis=1), values[there])


def filled(values: Array) -> Bools:
    """Which entries are items, and do not fill up a row."""
    kind = values.dtype.kind
    there: Bools = values != PADDING if kind in "iufO" else np.ones(values.shape, bool)
    if kind == "U":
        there = values != ""
    if kind == "O":
        there &= values != np.array(None)
    if kind == "f":
        there &= ~np.isnan(values)
    return there


def matrix(given: Array, keep: Bools) -> ItemRows:
    """A row per user and a column per item, of which some entries are kept; truth values have no other value."""
    value = None if given.dtype.kind == "b" else given[keep]
    return ItemRows(np.count_nonzero(keep, axis=1), np.nonzero(keep)[1], value, given.shape[1])


def ragged(rows: Sequence[Array]) -> ItemRows:
    """A list of items per user, which -1 may fill up."""
    longer = [row for row in rows if row.size]  # an empty array is of floats, and would make all so
    item: Array = np.concatenate(longer) if longer else np.empty(0, np.int64)
    return ItemRows(np.array([len(row) for row in rows], np.int64), item).where(filled(item))


def compressed(given: Any, table: str, *, add_up: bool = True) -> ItemRows:
    """A SciPy or torch sparse matrix of users x items, or (indptr, indices[, values]).

    ``add_up``: entries of the same place are added up, as SciPy means them; otherwise an item may appear twice.
    """
    values = n_items = None
    if hasattr(given, "tocsr"):
        rows = given.tocsr()
        if add_up and not rows.has_canonical_format:
            rows = rows.copy()
            rows.sum_duplicates()
        start, item, values, n_items = rows.indptr, rows.indices, rows.data, rows.shape[1]
    elif is_tensor(given) and str(given.layout) == "torch.sparse_coo":
        given = given.detach().coalesce()
        row, item = given.indices()
        start = np.append(0, np.cumsum(np.bincount(_numbers(row, table), minlength=given.shape[0])))
        values, n_items = given.values(), given.shape[1]
    elif is_tensor(given) and str(given.layout) == "torch.sparse_csr":
        start, item, values, n_items = given.crow_indices(), given.col_indices(), given.values(), given.shape[1]
    elif isinstance(given, tuple | list) and len(given) in (2, 3):
        start, item, values = (*given, None)[:3]
    else:
        raise SourceError(
            f"cannot read {a_type(given)} as CSR",
            advice="Pass a SciPy sparse matrix, a torch sparse tensor (tensor.to_sparse_csr()), or (indptr, "
            "indices): the items of user u are indices[indptr[u]:indptr[u + 1]].",
            table=table,
        )
    start, item = _numbers(start, table), _numbers(item, table)
    values = None if values is None else _numbers(values, table)
    fits = start.ndim == item.ndim == 1 and start.dtype.kind in "iu" and item.dtype.kind in "iu" and len(start) > 0
    if not fits or start[0] != 0 or start[-1] != len(item) or (np.diff(start.astype(np.int64)) < 0).any():
        raise SourceError(
            f"(indptr, indices) do not fit together: both must be integers, and indptr must rise from 0 to the "
            f"number of indices, {len(item):,}.",
            table=table,
        )
    if len(item) and (item.min() < 0 or (n_items and item.max() >= n_items)):
        raise InputError(f"item codes must be at least 0, got {item.min()} to {item.max()}.", table=table)
    if values is not None and len(values) != len(item):
        raise SourceError(f"got {len(values):,} values for {len(item):,} indices.", table=table)
    return ItemRows(np.diff(start).astype(np.int64), item, values, n_items)


def _numbers(given: Any, table: str) -> Array:
    try:
        values = np.asarray(as_array(given, table))
    except ValueError as error:
        raise SourceError(f"cannot read {a_type(given)} as an array of numbers: {error}", table=table) from error
    if values.dtype.kind not in "biuf":
        raise SourceError(f"indices and values must be real numbers, got {values.dtype}.", table=table)
    return values


def members(rows: ItemRows, name: str) -> ItemRows:
    """The items whose value is not 0; NaN says neither."""
    if rows.value is None:
        return rows
    if (unclear := np.isnan(rows.value)).any():
        at = int(np.argmax(unclear))
        raise InputError(
            f"{name} of row {rows.owner[at]} has NaN for item {rows.item[at]}, which is neither true nor false. Pass a "
            f"boolean matrix, or numbers with 0 for false."
        )
    return rows.where(rows.value != 0)
