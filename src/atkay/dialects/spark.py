"""Spark's RankingMetrics."""

from __future__ import annotations

from atkay.dialects.dialect import Dialect

DIALECT = Dialect(
    name="spark",
    library="pyspark",
    version="4.0.1",
    words={
        "precision": {},
        "recall": {},
        "map": {"per": "capped"},
        "ndcg": {"gain": "binary", "discount": "ln"},
    },
    names={
        "precisionAt({k})": "precision@{k}",
        "recallAt({k})": "recall@{k}",
        "meanAveragePrecisionAt({k})": "map(per=capped)@{k}",
        "ndcgAt({k})": "ndcg(gain=binary,discount=ln)@{k}",
        "precisionAt@{k}": "precision@{k}",
        "recallAt@{k}": "recall@{k}",
        "meanAveragePrecisionAt@{k}": "map(per=capped)@{k}",
        "meanAveragePrecision": "map",
        "ndcgAt@{k}": "ndcg(gain=binary,discount=ln)@{k}",
    },
    protocol={"no_recs": "skip"},
)
