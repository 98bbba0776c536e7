"""Coarser keys and segments: which group and which segment each query belongs to."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from atkay.core.types import Slicing
from atkay.errors import DuplicateError, InputError, listing, number_of, who
from atkay.inputs.coding.lookup import keyed_by
from atkay.inputs.coding.shared import SharedCount, in_words
from atkay.inputs.coding.types import same_types
from atkay.inputs.table import Table

if TYPE_CHECKING:
    from atkay.core.types import Floats, Ints
    from atkay.inputs.coding.align import Aligned


@dataclass(frozen=True, eq=False)
class Groups:
    """The group of each query, as a code and by name; -1 and null where it has none."""

    code: Ints
    ids: pl.DataFrame

    @classmethod
    def of(cls, ids: pl.DataFrame) -> Groups:
        """The groups of some queries, by name."""
        missing = ids.select(pl.any_horizontal(pl.all().is_null())).to_series().to_numpy()
        code = ids.select(pl.struct(ids.columns).rank("dense")).to_series().cast(pl.Int64).to_numpy() - 1
        return cls(np.where(missing, -1, code), ids)


def group_queries(aligned: Aligned, names: tuple[str, ...]) -> Groups | None:
    """The groups that ``average_over`` asks for."""
    if not names:
        return None
    ids = aligned.queries.select(names) if set(names) <= set(aligned.queries.columns) else _groups(aligned, names)
    return Groups.of(ids)


def _groups(aligned: Aligned, names: tuple[str, ...]) -> pl.DataFrame:
    """The group of each query, from columns of the truth."""
    assert aligned.extra is not None
    code = "code beside " + "".join(names)
    of_query = aligned.extra.select(names).insert_column(0, pl.Series(code, aligned.truth.owner())).unique()
    twice = of_query.get_column(code).is_duplicated()
    if twice.any():
        query = of_query.filter(twice)[code][0]
        raise InputError(
            f"average_over: {listing(names)} differs between rows of {who(aligned.ids, query)}. A query must "
            f"belong to one group."
        )
    codes = pl.DataFrame({code: pl.int_range(len(aligned.queries), eager=True)})
    return codes.join(of_query, on=code, how="left", maintain_order="left").select(names)


def slice_queries(
    queries: pl.DataFrame, slices: Table | None, groups: Groups | None
) -> tuple[tuple[Slicing, ...], SharedCount | None]:
    """The segments of some of the queries, and how many of these the slices' table names."""
    if slices is None:
        return (), None
    keyed = _keys(queries, slices, groups)
    side = Table("truth", "", tuple(keyed.columns), tuple(keyed.get_columns()), {})
    typed, _ = same_types(slices, side, outside=True)
    assert typed.extra is not None
    keys = [f"key {at} beside {''.join(typed.extra.columns)}" for at in range(len(keyed.columns))]
    table = pl.DataFrame([column.alias(key) for key, column in zip(keys, typed.ids, strict=True)])
    keyed = keyed.rename(dict(zip(keyed.columns, keys, strict=True)))
    # Some of the queries may have a narrower type than the table, in which its other users would be no ids at all.
    wide = [pl.col(key).cast(pl.Int128) for key in keys if table.schema[key] != keyed.schema[key]]
    table, keyed = table.with_columns(wide), keyed.with_columns(wide)
    twice = table.is_duplicated()
    if twice.any():
        who = table.filter(twice).row(0)
        raise DuplicateError(
            f"user {', '.join(map(repr, who))} has two rows",
            advice=f"Give each user one {'weight' if slices.name == 'weights' else 'segment'}.",
            table=slices.name,
        )
    there = "there beside " + "".join(typed.extra.columns)
    table = table.hstack(typed.extra).with_columns(pl.lit(True).alias(there))
    segments = keyed.join(table, on=keys, how="left", maintain_order="left").drop(keys)
    segmented = segments.drop_in_place(there).is_not_null()
    strangers = table.join(keyed, on=keys, how="anti")
    shared = SharedCount(
        int(segmented.sum()),
        len(keyed),
        len(table) - len(strangers),
        len(slices),
        "" if segmented.all() else in_words(keyed.filter(~segmented).row(0)),
        in_words(strangers.select(keys).row(0)) if len(strangers) else "",
    )
    return tuple(_slicing(column) for column in segments.get_columns()), shared


def weigh_queries(
    queries: pl.DataFrame, weights: Table | None, groups: Groups | None, counted: Ints
) -> tuple[Floats | None, SharedCount | None]:
    """The weights of those queries that count, and how many of all the table names."""
    (slicing,), shared = slice_queries(queries, weights, groups) if weights is not None else ((None,), None)
    if slicing is None:
        return None, None
    weight = np.array([math.nan if each is None else each for each in slicing.segments], float)[slicing.code][counted]
    ids = {column.name: column for column in queries[counted].get_columns()}
    if (missing := np.isnan(weight)).any():
        raise InputError(
            f"{number_of(int(missing.sum()), 'user')} without a weight: {who(ids, int(np.argmax(missing)))}, for "
            "example",
            advice="Give each evaluated user a weight; 0 leaves one out.",
            table="weights",
        )
    if groups is not None:
        code = groups.code[counted]
        of_group = np.full(int(code.max(initial=0)) + 1, math.nan)
        of_group[code] = weight
        if (differ := of_group[code] != weight).any():
            raise InputError(
                f"the queries of one group have different weights: {who(ids, int(np.argmax(differ)))}, for example",
                advice="They are averaged first; give all of them one weight.",
                table="weights",
            )
    return weight, shared


def _keys(queries: pl.DataFrame, slices: Table, groups: Groups | None) -> pl.DataFrame:
    """The columns of the queries, or of their groups, by which the slices' table names them."""
    every, group_names = queries, () if groups is None else tuple(groups.ids.columns)
    if groups is not None:
        every = queries.hstack(groups.ids.drop(queries.columns, strict=False))
    return every.select(slices.key) if set(slices.key) <= set(every.columns) else keyed_by(slices, queries, group_names)


def _slicing(column: pl.Series) -> Slicing:
    segments = column.unique().sort(nulls_last=True)
    table = pl.DataFrame({"segment": segments, "code": pl.int_range(len(segments), eager=True)})
    code = pl.DataFrame({"segment": column}).join(
        table, on="segment", how="left", nulls_equal=True, maintain_order="left"
    )["code"]
    return Slicing(column.name, segments.to_list(), code.to_numpy())
