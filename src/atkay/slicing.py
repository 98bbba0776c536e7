"""Coarser keys and segments: which group and which segment each query belongs to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from atkay.align import same_types
from atkay.errors import DuplicateError, IdError, InputError, listing
from atkay.result import Slicing
from atkay.tables import Table

if TYPE_CHECKING:
    from atkay.align import Aligned
    from atkay.metrics.base import Bools, Ints


@dataclass(frozen=True, eq=False)
class Groups:
    """The group of each query, as a code and by name; -1 and null where it has none."""

    code: Ints
    ids: pl.DataFrame


def group_queries(aligned: Aligned, names: tuple[str, ...], counted: Bools) -> Groups | None:
    """The groups that ``average_over`` asks for."""
    if not names:
        return None
    if set(names) <= set(aligned.queries.columns):
        ids = aligned.queries.select(names)
    else:
        assert aligned.extra is not None
        of_query = aligned.extra.select(names).insert_column(0, pl.Series("code", aligned.truth.owner())).unique()
        twice = of_query.get_column("code").is_duplicated()
        if twice.any():
            query = of_query.filter(twice)["code"][0]
            raise InputError(
                f"average_over: {listing(names)} differs between rows of {aligned.who(query)}. "
                "A query belongs to one group."
            )
        codes = pl.DataFrame({"code": pl.int_range(len(aligned.queries), eager=True)})
        ids = codes.join(of_query, on="code", how="left", maintain_order="left").select(names)
    missing = ids.select(pl.any_horizontal(pl.all().is_null())).to_series().to_numpy()
    if (missing & counted).any():
        query = int(np.argmax(missing & counted))
        raise InputError(
            f"average_over: {aligned.who(query)} has no {listing(names)}, which is read from the truth, where this "
            "query does not stand. Make it a part of the query with columns=Columns(user=(...)), or skip such queries."
        )
    code = ids.select(pl.struct(names).rank("dense")).to_series().cast(pl.Int64).to_numpy() - 1
    return Groups(np.where(missing, -1, code), ids)


def slice_queries(aligned: Aligned, slices: Table | None, groups: Groups | None, counted: Bools) -> tuple[Slicing, ...]:
    """The segments of the counted queries, per column of the slices' table."""
    if slices is None:
        return ()
    assert slices.extra is not None
    keyed = _keyed_by(aligned, slices, groups)
    whose = Table("truth", "the truth", tuple(keyed.columns), tuple(keyed.get_columns()), {})
    typed = same_types(slices, whose)[0]
    names = [f"key {at}" for at in range(len(keyed.columns))]
    keys = pl.DataFrame([column.alias(name) for name, column in zip(names, typed.ids, strict=True)])
    if keys.is_duplicated().any():
        who = keys.filter(keys.is_duplicated()).row(0)
        raise DuplicateError(
            f"slices: user {who[0] if len(who) == 1 else who!r} stands in two rows. Give each user one segment."
        )
    asked = keyed.rename(dict(zip(keyed.columns, names, strict=True))).filter(counted)
    keys = keys.cast({name: asked.schema[name] for name in names}, strict=False)
    found = asked.join(
        pl.concat([keys, slices.extra], how="horizontal"), on=names, how="left", maintain_order="left"
    ).drop(names)
    if found.select(pl.all_horizontal(pl.all().is_null().all())).item():
        raise IdError(
            f"slices: none of its users is evaluated; it has {keys.row(0)[0]!r}, evaluated is {asked.row(0)[0]!r}, for "
            "example. Are these the ids of the same users?"
        )
    return tuple(_slicing(column) for column in found.get_columns())


def _keyed_by(aligned: Aligned, slices: Table, groups: Groups | None) -> pl.DataFrame:
    keyed: list[pl.DataFrame] = [aligned.queries, *([] if groups is None else [groups.ids])]
    for ids in keyed:
        if len(ids.columns) == len(slices.key):
            return ids
    raise IdError(
        f"slices names a user by {listing(slices.key)}, the lists by {listing(aligned.queries.columns)}. "
        "Use the same columns."
    )


def _slicing(column: pl.Series) -> Slicing:
    segments = column.unique().sort(nulls_last=True)
    table = pl.DataFrame({"segment": segments, "code": pl.int_range(len(segments), eager=True)})
    code = pl.DataFrame({"segment": column}).join(
        table, on="segment", how="left", nulls_equal=True, maintain_order="left"
    )["code"]
    return Slicing(column.name, segments.to_list(), code.to_numpy())
