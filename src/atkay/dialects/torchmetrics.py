"""torchmetrics, whose rows are the lists: what is not listed does not exist for it."""

from __future__ import annotations

from atkay.dialects.base import Dialect

DIALECT = Dialect(
    name="torchmetrics",
    library="torchmetrics",
    version="1.9.0",
    words={
        "precision": {},
        "recall": {},
        "hit": {},
        "map": {"per": "hits"},
        "mrr": {},
        "ndcg": {"gain": "linear"},
        "r_precision": {},
    },
    names={
        "RetrievalPrecision": "precision",
        "RetrievalPrecision@{k}": "precision@{k}",
        "RetrievalRecall": "recall",
        "RetrievalRecall@{k}": "recall@{k}",
        "RetrievalHitRate": "hit",
        "RetrievalHitRate@{k}": "hit@{k}",
        "RetrievalMAP": "map(per=hits)",
        "RetrievalMAP@{k}": "map(per=hits)@{k}",
        "RetrievalMRR": "mrr",
        "RetrievalMRR@{k}": "mrr@{k}",
        "RetrievalNormalizedDCG": "ndcg(gain=linear)",
        "RetrievalNormalizedDCG@{k}": "ndcg(gain=linear)@{k}",
        "RetrievalRPrecision": "r_precision",
    },
    protocol={
        "no_recs": "skip",
        "no_truth": "zero",
        "unlisted": "ignored",
        "nonpositive": "missed",
        "scores": "float32",
    },
    note="Equal scores come in any order, except in nDCG, which averages over them.",
)
