"""Spark's RankingMetrics (pyspark.mllib.evaluation): pairs of a predicted list and the list of relevant items, or
triples with the relevances too. There are no scores and no users, so the option 'users' says whose pairs they are.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from typing import Any

from entries import CUTOFFS, Data, Entry, grouped
from pyspark.mllib.evaluation import RankingMetrics
from pyspark.sql import SparkSession

os.environ["PYSPARK_PYTHON"] = sys.executable
SETTINGS = {"spark.ui.enabled": "false", "spark.default.parallelism": "1", "spark.driver.host": "127.0.0.1"}
CUT = ("precisionAt", "recallAt", "meanAveragePrecisionAt", "ndcgAt")
INPUTS = {
    "pairs": "RDD of (items of recs.csv by descending score, equal scores in file order; relevant items of truth.csv)",
    "triples": "RDD of (items, relevant items, their relevances)",
}


def context() -> Any:
    builder = SparkSession.builder.master("local[1]").appName("conformance")
    for key, value in SETTINGS.items():
        builder = builder.config(key, value)
    return builder.getOrCreate().sparkContext


def ask(data: Data) -> tuple[dict[str, Any], Iterator[Entry]]:
    return {"RankingMetrics": RankingMetrics}, entries(data)


def entries(data: Data) -> Iterator[Entry]:
    spark = context()
    for rows, which in data.interactions():
        truth = grouped(rows)
        both = [user for user in data.lists if user in truth]
        every = sorted({*data.lists, *truth})
        for users, who in ((both, "with a list and truth"), (every, "all")):
            if who == "all" and len(users) == len(both):
                continue
            sides = [(data.lists.get(user, []), truth.get(user, [])) for user in users]
            items = [(listed, [item for item, _ in wanted]) for listed, wanted in sides]
            grades = [(listed, [item for item, _ in wanted], [float(g) for _, g in wanted]) for listed, wanted in sides]
            scope = {"pairs": spark.parallelize(items, 1).cache(), "triples": spark.parallelize(grades, 1).cache()}
            options = which | {"users": who}
            for name in CUT:
                for k in CUTOFFS:
                    yield Entry(name, f"RankingMetrics(pairs).{name}({k})", k, options, scope=scope)
            yield Entry(
                "meanAveragePrecision", "RankingMetrics(pairs).meanAveragePrecision", None, options, scope=scope
            )
            if any(grade > 1 for _, _, grade in rows):
                for k in CUTOFFS:
                    call = f"RankingMetrics(triples).ndcgAt({k})"
                    yield Entry("ndcgAt", call, k, options | {"relevances": "given"}, scope=scope)
