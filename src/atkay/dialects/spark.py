"""Spark's RankingMetrics."""

from __future__ import annotations

from atkay.dialects.dialect import Dialect

DIALECT = Dialect(
    name="spark",
    library="pyspark",
    version="4.0.1",
    metrics=("precision", "recall", "map(per=capped)", "ndcg(gain=binary,discount=ln)"),
    names={
        "precisionAt({k})": "precision@{k}",
        "recallAt({k})": "recall@{k}",
        "meanAveragePrecisionAt({k})": "map@{k}",
        "ndcgAt({k})": "ndcg@{k}",
        "precisionAt": "precision",
        "recallAt": "recall",
        "meanAveragePrecisionAt": "map",
        "meanAveragePrecision": "map(per=relevant)",
        "ndcgAt": "ndcg",
    },
    protocol={"no_recs": "skip"},
)
