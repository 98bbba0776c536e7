"""Coarser keys and segments: which group and which segment each query belongs to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from atkay.align import same_types
from atkay.common import Shared, check_segments, in_words
from atkay.errors import DuplicateError, IdError, InputError, listing, who
from atkay.keyed import keyed_by
from atkay.result import Slicing
from atkay.tables import Table

if TYPE_CHECKING:
    from atkay.align import Aligned
    from atkay.arrays import Ints


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
            f"average_over: {listing(names)} differs between rows of {who(aligned.ids, query)}. "
            "A query belongs to one group."
        )
    codes = pl.DataFrame({code: pl.int_range(len(aligned.queries), eager=True)})
    return codes.join(of_query, on=code, how="left", maintain_order="left").select(names)


def slice_queries(
    queries: pl.DataFrame, slices: Table | None, groups: Groups | None, *, part: bool = False
) -> tuple[Slicing, ...]:
    """The segments of the queries, per column of the slices' table; it may name nobody where they are a part."""
    if slices is None:
        return ()
    key = queries
    if groups is not None:
        queries = pl.concat([queries, groups.ids.drop(queries.columns, strict=False)], how="horizontal")
    named = set(slices.key) <= set(queries.columns)
    group_names = () if groups is None else tuple(groups.ids.columns)
    asked = queries.select(slices.key) if named else keyed_by(slices, key, group_names)
    side = Table("truth", "", tuple(asked.columns), tuple(asked.get_columns()), {})
    typed, _ = same_types(slices, side, outside=True)
    assert typed.extra is not None
    if not len(typed):
        raise nobody(slices, asked)
    keys = [f"key {at} beside {''.join(typed.extra.columns)}" for at in range(len(asked.columns))]
    table = pl.DataFrame([column.alias(key) for key, column in zip(keys, typed.ids, strict=True)])
    asked = asked.rename(dict(zip(asked.columns, keys, strict=True)))
    table = table.cast({key: asked.schema[key] for key in keys}, strict=False)
    twice = table.is_duplicated()
    if twice.any():
        who = table.filter(twice).row(0)
        raise DuplicateError(
            f"slices: user {', '.join(map(repr, who))} stands in two rows. Give each user one segment."
        )
    there = "there beside " + "".join(typed.extra.columns)
    table = pl.concat([table, typed.extra], how="horizontal").with_columns(pl.lit(True).alias(there))
    found = asked.join(table, on=keys, how="left", maintain_order="left").drop(keys)
    segmented = found.drop_in_place(there).is_not_null()
    if not part:
        if not segmented.any():
            raise nobody(typed, asked)
        strangers = table.join(asked, on=keys, how="anti")
        check_segments(
            Shared(
                int(segmented.sum()),
                len(asked),
                len(table) - len(strangers),
                len(slices),
                "" if segmented.all() else in_words(asked.filter(~segmented).row(0)),
                in_words(strangers.select(keys).row(0)) if len(strangers) else "",
            )
        )
    return tuple(_slicing(column) for column in found.get_columns())


def nobody(slices: Table, asked: pl.DataFrame) -> IdError:
    """What is said of slices that name none of the queries."""
    return IdError(
        f"slices: it names none of the users of recs and truth: it has {slices.ids[0][0]!r}, they have "
        f"{asked.row(0)[0]!r}, for example. Are these the ids of the same users?"
    )


def _slicing(column: pl.Series) -> Slicing:
    segments = column.unique().sort(nulls_last=True)
    table = pl.DataFrame({"segment": segments, "code": pl.int_range(len(segments), eager=True)})
    code = pl.DataFrame({"segment": column}).join(
        table, on="segment", how="left", nulls_equal=True, maintain_order="left"
    )["code"]
    return Slicing(column.name, segments.to_list(), code.to_numpy())
