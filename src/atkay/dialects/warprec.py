"""WarpRec, which ranks all items."""

from __future__ import annotations

from atkay.dialects.dialect import Dialect

DIALECT = Dialect(
    name="warprec",
    library="warprec",
    version="1.0.1",
    metrics=("precision", "recall", "hit", "map(per=capped)", "mrr", "ndcg(gain=exp2_above)"),
    names={"HitRate": "hit", "nDCGRendle2020": "ndcg(gain=binary)"},
    unstable=2,
    checked="source",
    note="The gain of its nDCG is 2^(grade + 1) - 1. The order of equal scores is undefined.",
    alike={
        "AUC": "auc",
        "GAUC": "group_auc",
        "ARP": "arp",
        "APLT": "long_tail",
        "ACLT": "long_tail",
        "PopREO": "pop_reo",
        "PopRSP": "pop_rsp",
        "ItemCoverage": "coverage",
        "UserCoverage": "user_coverage",
        "Gini": "gini",
        "ShannonEntropy": "entropy",
        "SRecall": "subtopic_recall",
        "EFD": "efd",
        "EPC": "epc",
        "BiasDisparityBD": "bias_disparity",
        "MAE": "mae",
        "MSE": "mse",
        "RMSE": "rmse",
    },
    without={
        "F1": "from the means of precision and recall",
        "MAR": "the sum of recall at the hits, divided by min(k, R)",
    },
)
