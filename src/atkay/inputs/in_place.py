"""In place: a column of Polars as kernels take it, without a copy where that is possible."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from atkay.core.kernels import take
from atkay.core.native.arrow import ArrowColumn

if TYPE_CHECKING:
    from atkay.core.types import Array, Ints

TYPES = (pl.Int32, pl.Int64, pl.Float32, pl.Float64)
"""Types of which kernels take several chunks."""
MOST_CHUNKS = 4096


def in_place(column: pl.Series) -> Array | ArrowColumn:
    """A column without nulls: text, or numbers in several chunks as files bring them, where they lie."""
    if column.n_chunks() > MOST_CHUNKS:
        column = column.rechunk()
    if column.dtype == pl.String or (column.n_chunks() > 1 and column.dtype in TYPES):
        return ArrowColumn(column)
    return column.to_numpy()


def take_rows(column: pl.Series, rows: Ints) -> pl.Series:
    """Some rows of a column. Of many chunks Polars would first make one."""
    if column.dtype not in TYPES:
        return column[pl.Series(rows.astype(np.uint32))] if len(column) < 1 << 32 else column[rows]
    values = in_place(column)
    return pl.Series(column.name, values.take(rows) if isinstance(values, ArrowColumn) else take(values, rows))
