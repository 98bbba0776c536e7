"""The data sets on which the libraries were recorded."""

from __future__ import annotations

import functools
from pathlib import Path

import polars as pl

FOLDER = Path(__file__).parents[2] / "conformance"


@functools.cache
def frames(data: str, truth: str, ranks: str) -> tuple[pl.DataFrame, pl.DataFrame]:
    """A data set as it went to the library."""
    text = {"user": pl.String, "item": pl.String}
    recs, relevant = (
        pl.read_csv(FOLDER / "data" / data / f"{table}.csv", schema_overrides=text) for table in ("recs", "truth")
    )
    if truth == "every row":
        relevant = relevant.with_columns(relevance=1)
    if ranks == "every item":
        # Items that are not listed come below all others, in the order of their ids.
        users = pl.concat([recs["user"], relevant["user"]]).unique().to_frame()
        items = pl.concat([recs["item"], relevant["item"]]).unique().sort().to_frame().with_row_index("place")
        lowest = recs.select(pl.col("score").min()).item() - 1 - pl.col("place").cast(pl.Float64)
        every = users.join(items, how="cross").join(recs, on=["user", "item"], how="left")
        recs = every.with_columns(score=pl.col("score").fill_null(lowest)).sort("user", "place")
        recs = recs.select("user", "item", "score")
    return recs, relevant
