"""Keyed: the items of a table by its own users, looked up for any queries."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from atkay.core.lists import Lists, mask, rows_of, taken
from atkay.core.match import repeated
from atkay.core.order import Scores, together
from atkay.errors import IdError, listing
from atkay.inputs.coding.vocabulary import Vocabulary

if TYPE_CHECKING:
    import polars as pl

    from atkay.core.types import Bools, Ints
    from atkay.inputs.read import Table


@dataclass(frozen=True, eq=False)
class Keyed:
    """The items of each user of a table; the last list, which is empty, is that of everybody else."""

    table: Table
    users: Vocabulary
    lists: Lists
    order: Ints | None
    """The rows of the table in the order of the lists, None where they stand so."""

    @classmethod
    def of(cls, table: Table, item: Ints, n_items: int, known: Bools | None = None) -> Keyed:
        """The items of each user as they stand in the table; only ``known`` rows count."""
        users, (user,) = Vocabulary.of([table.ids[:-1]], dense=True)
        if known is not None:
            user, item = user[known], item[known]
        lists, order, _ = grouped(user, None, item, users.size + 1, n_items)
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
    code: Ints, run: Ints | None, item: Ints, n_queries: int, n_items: int, score: Scores | None = None
) -> tuple[Lists, Ints | None, Ints | None]:
    """The items by query, and the order of the rows that this took; None where they stand so.

    ``run``: each code stands for so many rows. Rows that have to move anyway go where their score puts them: the rows
    with equal scores are then known, too.
    """
    stands = bool((code[1:] >= code[:-1]).all())
    if run is None and not stands:
        order, start, equal = together(code, n_queries, None if score is None else score.given)
        return Lists(start, taken(item, order), n_items), order, None if score is None else equal
    length = np.bincount(code, weights=run, minlength=n_queries).astype(np.int64)
    if run is None or stands:
        return Lists.of(length, item, n_items), None, None
    order = rows_of(np.concatenate(([0], np.cumsum(run))), np.argsort(code, kind="stable"))
    return Lists.of(length, taken(item, order), n_items), order, None
