"""TF-Ranking, whose lists are all the items it knows of."""

from __future__ import annotations

from atkay.dialects.dialect import Dialect

DIALECT = Dialect(
    name="tfranking",
    library="tensorflow-ranking",
    version="0.5",
    words={
        "precision": {"per": "listed"},
        "recall": {},
        "hit": {},
        "map": {},
        "mrr": {},
        "ndcg": {},
    },
    names={
        "PrecisionMetric@{k}": "precision(per=listed)@{k}",
        "RecallMetric@{k}": "recall@{k}",
        "HitsMetric@{k}": "hit@{k}",
        "MeanAveragePrecisionMetric@{k}": "map@{k}",
        "MRRMetric@{k}": "mrr@{k}",
        "NDCGMetric@{k}": "ndcg@{k}",
    },
    protocol={
        "no_recs": "skip",
        "no_truth": "zero",
        "unlisted": "ignored",
        "min_relevance": 1,
        "gains": "positive",
    },
    unstable=dict.fromkeys(("precision", "recall", "hit", "map", "mrr", "ndcg"), 2),
    checked="source",
    note="Equal scores are shuffled.",
)
