"""Lookup: the items of a table by its own users, found for any queries."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from atkay.core import kernels
from atkay.core.lists import Lists, mask
from atkay.core.match import repeated
from atkay.core.order import Runs, Scores, together
from atkay.errors import IdError, listing
from atkay.inputs.coding.vocabulary import Vocabulary, is_coded
from atkay.inputs.in_place import in_place, take_rows

if TYPE_CHECKING:
    from atkay.core.native.arrow import ArrowColumn
    from atkay.core.types import Array, Bools, Ints
    from atkay.inputs.table import Table

ROWS_SAMPLED = 10_000
"""Rows sampled to tell whether those of a user are contiguous."""


FEW_INTEGERS, FEW_TEXTS = 10_000, 2_000
"""Each row of so few ids is looked at by itself: that takes less than to find out which are the same."""


@dataclass(frozen=True, eq=False)
class Keyed:
    """The items of each user of a table; the last list is empty, for all other users."""

    table: Table
    users: Vocabulary
    lists: Lists
    order: Runs | None
    """The rows of the table in the order of the lists, None where they stand so."""

    @classmethod
    def of(cls, table: Table, item: Ints, n_items: int, keep: Bools | None = None) -> Keyed:
        """The items of each user as they stand in the table; only ``keep`` rows count."""
        users, (user,) = Vocabulary.of([table.ids[:-1]], dense=True)
        if keep is not None:
            user, item = user[keep], item[keep]
        lists, order = grouped(user, None, item, users.size + 1, n_items)
        return cls(table, users, lists, order)

    def once(self) -> Lists:
        """Each item of a user once."""
        return self.lists.only(~mask(repeated(self.lists), len(self.lists)))

    def codes(self, queries: pl.DataFrame, groups: tuple[str, ...]) -> Ints:
        """The list of each query's user."""
        code = self.users.codes(tuple(keyed_by(self.table, queries, groups).get_columns()))
        return np.where(self.users.known(code), code, self.users.size)


def keyed_by(table: Table, queries: pl.DataFrame, groups: tuple[str, ...]) -> pl.DataFrame:
    """The columns of the queries by which a table names them: all of the key, or a part such as the user alone."""
    if set(table.key) <= set(queries.columns):
        return queries.select(table.key)
    if len(table.key) == len(queries.columns):
        return queries
    if len(table.key) == len(groups) and set(groups) <= set(queries.columns):
        return queries.select(groups)
    raise IdError(
        f"{table.name} names a user by {listing(table.key)}, the lists by {listing(queries.columns)}. "
        "Use the same columns."
    )


def grouped(
    code: Ints,
    run: Ints | None,
    item: Ints,
    n_queries: int,
    n_items: int,
    *,
    items_only: bool = False,
    stands: bool | None = None,
) -> tuple[Lists, Runs | None]:
    """The items by query, and the order of the rows that this took; None where they stand so, or for ``items_only``.

    ``run``: the number of rows of each code. ``stands``: whether codes rise, where that is known.
    """
    stands = kernels.rising(code) if stands is None else stands
    if run is None and not stands:
        if items_only:
            start, items, _ = kernels.arrange(code, 0, n_queries, item, n_items)
            return Lists(start, items, n_items), None
        order, start, _ = together(code, n_queries)
        moved = Runs(order, np.arange(len(order) + 1))
        return Lists(start, kernels.take(item, order), n_items), moved
    length = np.bincount(code, weights=run, minlength=n_queries).astype(np.int64)
    if run is None or stands:
        return Lists.of(length, item, n_items), None
    order, _, _ = together(code, n_queries)
    moved = Runs((np.cumsum(run) - run)[order], np.concatenate(([0], np.cumsum(run[order]))), run)
    return Lists.of(length, moved.take(item), n_items), moved


def in_order(column: pl.Series | None, order: Runs | None) -> Any:
    """The values of a column row by row of the lists; None where there are none."""
    if column is None:
        return None
    return column.to_numpy() if order is None else order.take(column.to_numpy())


def grouped_by_score(
    code: Ints, item: Ints, n_queries: int, n_items: int, score: Array | ArrowColumn
) -> tuple[Lists, Scores]:
    """The items by query and falling score, and the scores; rows come in no order."""
    start, items, equal = kernels.arrange(code, 0, n_queries, item, n_items, score)
    return Lists(start, items, n_items), Scores(score, query=code, n_queries=n_queries, equal=equal)


@dataclass(frozen=True, eq=False)
class KeyRuns:
    """Rows that follow each other with the same key: the key of each run, and how many rows it has.

    Tables mostly come with the rows of a user together, so that there are far fewer keys to look at than rows.
    """

    ids: tuple[pl.Series, ...]
    length: Ints | None
    """None where every row stands for itself."""

    @classmethod
    def of(cls, ids: tuple[pl.Series, ...]) -> KeyRuns:
        """The runs of some columns."""
        rows = len(ids[0])
        few = FEW_INTEGERS if ids[0].dtype.is_integer() else FEW_TEXTS
        if not rows or (rows <= few and len(ids) == 1):
            return cls(ids, None)
        if rows > ROWS_SAMPLED and len(changes(ids[0][:ROWS_SAMPLED])) > ROWS_SAMPLED // 4:
            return cls(ids, None)
        start = np.concatenate(([0], changes(ids[0])))
        for column in ids[1:]:
            start = np.union1d(start, changes(column))
        if len(start) > rows // 4:
            return cls(ids, None)
        return cls(tuple(take_rows(column, start) for column in ids), np.diff(start, append=rows))


def changes(column: pl.Series) -> Ints:
    """The rows whose value is not that of the row before."""
    if not is_coded(column.dtype):
        return (column != column.shift(1)).fill_null(False).arg_true().cast(pl.Int64).to_numpy()
    return kernels.changes(in_place(column))
