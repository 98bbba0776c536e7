"""torchmetrics, whose rows are the lists: what is not listed does not exist for it."""

from __future__ import annotations

from atkay.dialects.dialect import Dialect

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
        "auc": {"no_pair": "zero"},
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
        "RetrievalAUROC": "auc(no_pair=zero)",
    },
    protocol={
        "no_recs": "skip",
        "no_truth": "zero",
        "ties": "expected",
        "unlisted": "ignored",
        "nonpositive": "missed",
        "scores": "float32",
    },
    unstable=dict.fromkeys(("precision", "recall", "hit", "map", "mrr", "r_precision"), 2),
    note="Its nDCG averages over equal scores; elsewhere they come in any order, and here are averaged over, too.",
)
