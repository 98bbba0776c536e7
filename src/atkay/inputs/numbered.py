"""Numbered: tables whose users are rows of an array: the ids of these rows, and how much of each list is read."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from atkay.errors import DuplicateError, IdError, InputError, number_of
from atkay.tables import TABLES

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from atkay.core.types import Ints
    from atkay.inputs.table import Source, Table


def with_ids(sources: Mapping[str, Source], users: Any) -> dict[str, Source]:
    """Tables with as many rows as there are ids name their users by these; the rows of others are user numbers."""
    from atkay.inputs.batch import read_users

    ids = read_users(users, "evaluate")
    if (twice := ids.is_duplicated()).any():
        raise DuplicateError(f"users: id {ids.filter(twice)[0]!r} appears more than once; each row needs its own id.")
    if sources["recs"].n_rows is None:
        raise InputError(
            f"users= names the rows of an array or a list of lists, but {sources['recs'].label} names its users itself",
            advice="Leave users= out.",
            table="recs",
        )
    return {name: _with_ids(source, ids, name) for name, source in sources.items()}


def _with_ids(source: Source, ids: pl.Series, table: str) -> Source:
    if source.n_rows is None or "user" not in TABLES[table].roles:
        return source
    if source.n_rows != len(ids):
        if table == "recs":
            raise InputError(
                f"users has {number_of(len(ids), 'id')}, but recs has {number_of(source.n_rows, 'row')}",
                advice="Pass one id per row.",
            )
        beyond = ids.filter((ids < 0) | (ids >= source.n_rows)) if ids.dtype.is_integer() else ids
        if len(beyond):
            raise IdError(
                f"has {number_of(source.n_rows, 'row')} for {number_of(len(ids), 'user')}, so its rows must be user "
                f"numbers, but users has {beyond[0]!r}",
                advice="Pass the rows of these users, in their order, or a table that names users.",
                table=table,
            )
        return source
    numbers = pl.Series(np.arange(len(ids)))
    moved = ids.dtype.is_integer() and not (ids == numbers).all() and bool((ids.sort() == numbers).all())
    if moved and table != "recs":
        raise InputError(
            f"users is another order of all row numbers, so row 0 of {table} could be user {ids[0]} or user 0",
            advice="Put the rows of all arrays into one order and leave users= out: recs[numpy.argsort(users)].",
            table=table,
        )

    def select(names: Sequence[str]) -> pl.DataFrame:
        frame = source.select(names)
        return frame.with_columns(ids.gather(frame["user"]).alias("user")) if "user" in names else frame

    return replace(source, select=select, n_rows=None)


def with_top(
    recs: Source,
    exclude: Source | None,
    depth: int | None,
    read: Callable[[Source], Table],
    precision: str = "exact",
) -> Source:
    """Scores of all items as the top of each list: as deep as metrics look, after the items that are excluded."""
    if recs.top is None:
        return recs
    gone: int | Ints = 0
    if exclude is not None and depth is not None:
        table = read(exclude)
        gone = len(table)
        if table.key:
            rows = table.queries.group_by(pl.all()).len()
            gone = int(rows["len"].max() or 0)  # type: ignore[arg-type]  # a column of counts
            if exclude.n_rows is not None and exclude.n_rows == recs.n_rows:
                gone = np.bincount(table.ids[0].to_numpy(), minlength=exclude.n_rows)
    return recs.top(None if depth is None else depth + gone, precision)
