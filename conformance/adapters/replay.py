"""RePlay, on Polars tables. Every row of the truth is relevant."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import polars as pl
from entries import CUTOFFS, Data, Entry
from replay.metrics import MAP, MRR, NDCG, HitRate, PerUser, Precision, Recall, RocAuc

KINDS = (HitRate, MAP, MRR, NDCG, Precision, Recall, RocAuc)
COLUMNS = ["query_id", "item_id", "rating"]
INPUTS = {
    "recs": "Polars table of query_id, item_id, rating from recs.csv",
    "truth": "Polars table of query_id, item_id: the rows of truth.csv that the option 'truth' names",
}


def ask(data: Data) -> tuple[dict[str, Any], Iterator[Entry]]:
    recs = pl.DataFrame(data.recs, schema=COLUMNS, orient="row")
    return {kind.__name__: kind for kind in (*KINDS, PerUser)} | {"recs": recs}, entries(data)


def entries(data: Data) -> Iterator[Entry]:
    for rows, which in data.interactions():
        scope = {"truth": pl.DataFrame(rows, schema=COLUMNS, orient="row").select("query_id", "item_id")}
        for kind in KINDS:
            name = kind.__name__
            for k in CUTOFFS:
                call = f"{name}({k})(recs, truth)['{name}@{k}']"
                each = f"{name}({k}, mode=PerUser())(recs, truth)['{name}-PerUser@{k}']"
                yield Entry(name, call, k, which, each, scope)
