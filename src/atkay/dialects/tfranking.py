"""TF-Ranking, whose lists are all the items it knows of."""

from __future__ import annotations

from atkay.dialects.dialect import Dialect

DIALECT = Dialect(
    name="tfranking",
    library="tensorflow-ranking",
    version="0.5",
    metrics=("precision(per=listed)", "recall", "hit", "map", "mrr", "ndcg"),
    names={
        "PrecisionMetric": "precision",
        "RecallMetric": "recall",
        "HitsMetric": "hit",
        "MeanAveragePrecisionMetric": "map",
        "MRRMetric": "mrr",
        "NDCGMetric": "ndcg",
    },
    protocol={
        "no_recs": "skip",
        "no_truth": "zero",
        "unlisted": "ignored",
        "min_relevance": 1,
        "gains": "positive",
        "negative": "unjudged",
    },
    unstable=2,
    checked="source",
    note="Equal scores are shuffled.",
)
