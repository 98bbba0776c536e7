"""RecTools."""

from __future__ import annotations

from atkay.dialects.dialect import Dialect

DIALECT = Dialect(
    name="rectools",
    library="rectools",
    version="0.19.0",
    words={
        "precision": {},
        "recall": {},
        "hit": {},
        "map": {},
        "mrr": {},
        "f1": {},
        "ndcg": {"gain": "binary", "ideal": "full"},
    },
    names={
        "Precision@{k}": "precision@{k}",
        "Recall@{k}": "recall@{k}",
        "HitRate@{k}": "hit@{k}",
        "MAP@{k}": "map@{k}",
        "MRR@{k}": "mrr@{k}",
        "F1Beta@{k}": "f1@{k}",
        "NDCG@{k}": "ndcg(gain=binary,ideal=full)@{k}",
    },
)
