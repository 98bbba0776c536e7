"""torchmetrics, whose rows are the lists: what is not listed does not exist for it."""

from __future__ import annotations

from atkay.dialects.dialect import Dialect

METRICS = ("precision", "recall", "hit", "map(per=hits)", "mrr", "ndcg(gain=linear)", "r_precision")
NAMES = {
    "RetrievalPrecision": "precision",
    "RetrievalRecall": "recall",
    "RetrievalHitRate": "hit",
    "RetrievalMAP": "map",
    "RetrievalMRR": "mrr",
    "RetrievalNormalizedDCG": "ndcg",
    "RetrievalRPrecision": "r_precision",
}
BEFORE = {
    "no_recs": "skip",
    "no_truth": "zero",
    "ties": "expected",
    "negative": "error",
    "unlisted": "ignored",
    "scores": "float32",
}

DIALECT = Dialect(
    name="torchmetrics",
    library="torchmetrics",
    version="1.9.0",
    metrics=(*METRICS, "auc(no_pair=zero)", "top_auc(one_kind=zero); ties=given"),
    names={**NAMES, "RetrievalAUROC@{k}": "top_auc@{k}", "RetrievalAUROC": "auc"},
    protocol={**BEFORE, "nonpositive": "missed"},
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
    editions={
        "<1.1.2": {
            "version": "1.1.1",
            "metrics": METRICS,
            "names": NAMES,
            "protocol": BEFORE,
            "stable": (),
            "note": "The order of equal scores is undefined; here they are averaged over.",
        },
        "<1.7.4": {"version": "1.7.3", "protocol": BEFORE},
    },
)
