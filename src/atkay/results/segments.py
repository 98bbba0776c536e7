"""Segments: the users of each segment of a slice, tables of their numbers, and the gaps between segments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from atkay.results.summary import number_types

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import polars as pl

    from atkay.core.types import Ints, Slicing


def frame_of(names: Sequence[str], rows: Sequence[tuple[Any, ...]]) -> pl.DataFrame:
    """A row per number: under ``names`` what it is of, and its summary; null where undefined."""
    from atkay.core.forks import polars as pl

    schema = {**dict.fromkeys(names, pl.String), **number_types()}
    return pl.DataFrame(rows, schema=schema, orient="row").fill_nan(None)


def gaps_of(slices: pl.DataFrame) -> pl.DataFrame:
    """A row per slice and metric, of the table of all segments: see :attr:`Result.gaps`."""
    from atkay.core.forks import polars as pl

    counts = pl.col("mean").is_not_null() & pl.col("segment").is_not_null()
    mean, segment = pl.col("mean").filter(counts), pl.col("segment").filter(counts)
    high, low = pl.col("highest"), pl.col("lowest")
    # Of n rising means the i-th is the higher one in i - 1 pairs and the lower one in n - i.
    n = mean.len()
    weight = 2 * pl.int_range(1, n + 1) - n - 1
    return (
        slices.group_by("slice", "metric", maintain_order=True)
        .agg(
            counts.sum().alias("segments"),
            highest_segment=segment.filter(mean == mean.max()).first(),
            lowest_segment=segment.filter(mean == mean.min()).first(),
            highest=mean.max(),
            lowest=mean.min(),
            mad=(weight * mean.sort()).sum() / (n * (n - 1) / 2),
        )
        .filter(pl.col("segments") > 1)
        .drop("segments")
        .with_columns(gap=high - low, ratio=pl.when(high > 0, low >= 0).then(low / high))
        .select(pl.exclude("mad"), "mad")
    )


def members_of(slicing: Slicing) -> Iterator[tuple[Any, Ints]]:
    """Each segment that has users, and their rows."""
    order = np.argsort(slicing.code, kind="stable")
    codes, starts = np.unique(slicing.code[order], return_index=True)
    for code, rows in zip(codes, np.split(order, starts[1:]), strict=True):
        yield slicing.segments[code], rows
