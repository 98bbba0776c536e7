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
        "RetrievalRecall": "recall",
        "RetrievalHitRate": "hit",
        "RetrievalMAP": "map(per=hits)",
        "RetrievalMRR": "mrr",
        "RetrievalNormalizedDCG": "ndcg(gain=linear)",
        "RetrievalRPrecision": "r_precision",
    },
    protocol={"no_recs": "skip", "no_truth": "zero", "unlisted": "ignored", "nonpositive": "missed"},
)
