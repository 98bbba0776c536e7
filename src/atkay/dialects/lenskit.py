"""LensKit."""

from __future__ import annotations

from atkay.dialects.dialect import Dialect

DIALECT = Dialect(
    name="lenskit",
    library="lenskit",
    version="2025.8.1",
    words={
        "precision": {"per": "listed"},
        "recall": {"per": "capped"},
        "hit": {},
        "map": {"per": "listed"},
        "mrr": {},
        "ndcg": {"gain": "binary", "discount": "jk"},
        "dcg": {"gain": "binary", "discount": "jk"},
        "rbp": {"p": 0.85},
    },
    names={
        "Precision@{k}": "precision(per=listed)@{k}",
        "Recall@{k}": "recall(per=capped)@{k}",
        "Hit@{k}": "hit@{k}",
        "AveragePrecision@{k}": "map(per=listed)@{k}",
        "AveragePrecision": "map(per=listed)",
        "RecipRank@{k}": "mrr@{k}",
        "RecipRank": "mrr",
        "NDCG@{k}": "ndcg(gain=binary,discount=jk)@{k}",
        "DCG@{k}": "dcg(gain=binary,discount=jk)@{k}",
        "RBP@{k}": "rbp(p=0.85)@{k}",
        "RBP": "rbp(p=0.85)",
    },
    protocol={"no_recs": "skip", "no_truth": "zero"},
)
