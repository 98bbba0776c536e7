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
from atkay.tables import OF_USERS

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
    return Groups.of(_groups(aligned, names, "average_over")) if names else None


def _groups(aligned: Aligned, names: tuple[str, ...], wanted_by: str) -> pl.DataFrame:
    """The group of each query, from columns of its ids or of the truth."""
    if set(names) <= set(aligned.queries.columns):
        return aligned.queries.select(names)
    assert aligned.extra is not None
    code = "code beside " + "".join(names)
    of_query = aligned.extra.select(names).insert_column(0, pl.Series(code, aligned.truth.owner())).unique()
    twice = of_query.get_column(code).is_duplicated()
    if twice.any():
        query = of_query.filter(twice)[code][0]
        raise InputError(
            f"{wanted_by}: {listing(names)} differs between rows of {who(aligned.ids, query)}. A query must "
            f"belong to one {'cluster' if wanted_by == 'cluster' else 'group'}."
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
            advice=f"Give each user one {OF_USERS[slices.name]}.",
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
    _check_groups(weight, groups, counted, ids, "weights")
    return weight, shared


def cluster_queries(
    aligned: Aligned, clusters: Table | None, column: str | None, groups: Groups | None, counted: Ints
) -> tuple[pl.DataFrame | None, SharedCount | None]:
    """The clusters of those queries that count, and how many of all the table names."""
    ids, shared = None, None
    if column is not None:
        ids = _groups(aligned, (column,), "cluster")
    elif clusters is not None:
        (slicing,), shared = slice_queries(aligned.queries, clusters, groups)
        assert clusters.extra is not None
        names = pl.Series(slicing.name, slicing.segments, clusters.extra.dtypes[0])
        ids = names.gather(slicing.code).to_frame()
    if ids is None:
        return None, None
    ids = ids[counted]
    queries = {column.name: column for column in aligned.queries[counted].get_columns()}
    code = Groups.of(ids).code
    if (missing := code < 0).any():
        raise InputError(
            f"{number_of(int(missing.sum()), 'query')} without a cluster: {who(queries, int(np.argmax(missing)))}, for "
            "example",
            advice="Give each evaluated query a cluster; one that depends on no other is a cluster of its own.",
            table="cluster",
        )
    _check_groups(code, groups, counted, queries, "cluster")
    return ids, shared


def _check_groups(
    values: Floats | Ints, groups: Groups | None, counted: Ints, ids: dict[str, pl.Series], table: str
) -> None:
    """The queries of one group have one weight, or one cluster."""
    if groups is None:
        return
    code, what = groups.code[counted], OF_USERS[table]
    of_group = np.full(int(code.max(initial=0)) + 1, math.nan)
    of_group[code] = values
    if (differ := of_group[code] != values).any():
        raise InputError(
            f"the queries of one group have different {what}s: {who(ids, int(np.argmax(differ)))}, for example",
            advice=f"They are averaged first; give all of them one {what}.",
            table=table,
        )


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
