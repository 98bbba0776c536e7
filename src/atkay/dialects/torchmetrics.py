"""torchmetrics, whose rows are the lists: what is not listed does not exist for it."""

from __future__ import annotations

from atkay.dialects.dialect import Dialect

DIALECT = Dialect(
    name="torchmetrics",
    library="torchmetrics",
    version="1.9.0",
    metrics=(
        "precision",
        "recall",
        "hit",
        "map(per=hits)",
        "mrr",
        "ndcg(gain=linear)",
        "r_precision",
        "auc(no_pair=zero)",
        "top_auc(one_kind=zero); ties=given",
    ),
    names={
        "RetrievalPrecision": "precision",
        "RetrievalRecall": "recall",
        "RetrievalHitRate": "hit",
        "RetrievalMAP": "map",
        "RetrievalMRR": "mrr",
        "RetrievalNormalizedDCG": "ndcg",
        "RetrievalRPrecision": "r_precision",
        "RetrievalAUROC@{k}": "top_auc@{k}",
        "RetrievalAUROC": "auc",
    },
    protocol={
        "no_recs": "skip",
        "no_truth": "zero",
        "ties": "expected",
        "negative": "error",
        "unlisted": "ignored",
        "nonpositive": "missed",
        "scores": "float32",
    },
    unstable=2,
    stable=("ndcg", "auc"),
    note="Its nDCG averages over equal scores; in its other metrics their order is undefined, and here they are "
    "averaged too.",
    alike={
        "RetrievalFallOut": "fall_out",
    },
    without={
        "RetrievalPrecisionRecallCurve": "a curve",
    },
)
