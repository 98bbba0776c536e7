"""RecPack."""

from __future__ import annotations

from atkay.dialects.dialect import Dialect

DIALECT = Dialect(
    name="recpack",
    library="recpack",
    version="0.3.6",
    words={
        "precision": {},
        "recall": {},
        "hit": {"count": "number"},
        "mrr": {},
        "ndcg": {"gain": "binary"},
        "dcg": {"gain": "binary"},
    },
    names={
        "PrecisionK@{k}": "precision@{k}",
        "RecallK@{k}": "recall@{k}",
        "CalibratedRecallK@{k}": "recall(per=capped)@{k}",
        "HitK@{k}": "hit(count=number)@{k}",
        "ReciprocalRankK@{k}": "mrr@{k}",
        "NDCGK@{k}": "ndcg(gain=binary)@{k}",
        "DCGK@{k}": "dcg(gain=binary)@{k}",
    },
    unstable=dict.fromkeys(("precision", "recall", "hit", "mrr", "ndcg", "dcg"), 2),
    note="Equal scores come in any order.",
)
