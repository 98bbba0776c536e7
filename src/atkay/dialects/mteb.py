"""MTEB's scores of retrieval: pytrec_eval's measures, and a reciprocal rank of its own."""

from __future__ import annotations

from atkay.dialects.dialect import Dialect
from atkay.dialects.trec_eval import PROTOCOL

DIALECT = Dialect(
    name="mteb",
    library="mteb",
    version="2.26.24",
    metrics=("precision", "recall", "map", "ndcg(gain=linear)", "hit", "mrr; scores=exact"),
    names={
        "ndcg_at_{k}": "ndcg@{k}",
        "map_at_{k}": "map@{k}",
        "recall_at_{k}": "recall@{k}",
        "precision_at_{k}": "precision@{k}",
        "mrr_at_{k}": "mrr@{k}",
        "hit_rate_at_{k}": "hit@{k}",
    },
    protocol={**PROTOCOL, "scores": "float32"},
    note="It prints five decimals, those of mrr aside. A user without truth is an error there.",
)
