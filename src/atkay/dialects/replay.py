"""RePlay, on Polars or pandas."""

from __future__ import annotations

from atkay.dialects.dialect import Dialect

DIALECT = Dialect(
    name="replay",
    library="replay-rec",
    version="0.22.0",
    words={
        "precision": {},
        "recall": {},
        "hit": {},
        "map": {"per": "capped"},
        "mrr": {},
        "ndcg": {"gain": "binary"},
    },
    names={
        "Precision@{k}": "precision@{k}",
        "Recall@{k}": "recall@{k}",
        "HitRate@{k}": "hit@{k}",
        "MAP@{k}": "map(per=capped)@{k}",
        "MRR@{k}": "mrr@{k}",
        "NDCG@{k}": "ndcg(gain=binary)@{k}",
    },
    protocol={"ties": "item_desc"},
)
