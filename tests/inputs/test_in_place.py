"""Columns of several chunks: the same rows, the same numbers, as from one chunk."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import polars as pl
import pytest

import atkay
from atkay.inputs.in_place import MOST_CHUNKS, in_place, take_rows

TYPES = [pl.Int16, pl.Int32, pl.Int64, pl.UInt64, pl.Float32, pl.Float64, pl.String, pl.Date]


def chunked(values: pl.Series, *lengths: int) -> pl.Series:
    edges = np.cumsum((0, *lengths))
    # From lists, so that each chunk has memory of its own.
    chunks = [pl.Series(values.name, values[a:b].to_list(), values.dtype) for a, b in pairwise(edges)]
    return pl.concat(chunks, rechunk=False)


@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_rows_of_chunks(dtype: pl.DataType) -> None:
    rng = np.random.default_rng(5)
    column = chunked(pl.Series("user", rng.integers(0, 99, 61)).cast(dtype), 3, 0, 50, 1, 7)
    assert column.n_chunks() > 3
    for rows in (np.sort(rng.integers(0, 61, 20)), rng.integers(0, 61, 20), np.empty(0, np.int64)):
        taken = take_rows(column, rows)
        assert taken.equals(column[rows], check_dtypes=True, check_names=True)


def test_many_chunks_become_one() -> None:
    column = pl.concat([pl.Series([n]) for n in range(MOST_CHUNKS + 1)], rechunk=False)
    assert np.asarray(in_place(column)).tolist() == list(range(MOST_CHUNKS + 1))


@pytest.mark.parametrize("ids", [pl.Int64, pl.Int32, pl.String], ids=str)
@pytest.mark.parametrize("shuffled", [False, True])
def test_the_same_numbers_from_chunks(ids: pl.DataType, shuffled: bool) -> None:
    rng = np.random.default_rng(1)
    users, length = 40, 12
    item = np.concatenate([rng.choice(60, length, replace=False) for _ in range(users)])
    recs = pl.DataFrame(
        {"user": np.repeat(np.arange(users), length), "item": item, "score": rng.integers(0, 9, len(item)) / 4}
    ).cast({"user": ids, "item": ids})
    truth = recs[::5].select("user", "item")
    recs = recs.sample(fraction=1, shuffle=True, seed=3) if shuffled else recs
    chunks = [pl.DataFrame(recs[a : a + 7].to_dict(as_series=False), recs.schema) for a in range(0, len(recs), 7)]
    pieces = pl.concat(chunks, rechunk=False)
    assert pieces.n_chunks() > 50
    metrics = ["ndcg@5", "map", "mrr", "user_coverage@3"]
    whole, parts = (atkay.evaluate(each, truth, metrics, ties="item") for each in (recs.rechunk(), pieces))
    assert dict(parts) == dict(whole)
    assert parts.per_query.equals(whole.per_query)
    assert parts.fingerprint == whole.fingerprint
