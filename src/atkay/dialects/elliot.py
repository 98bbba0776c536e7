"""Elliot. Its MAP is the mean of the precisions at every place."""

from __future__ import annotations

from atkay.dialects.dialect import Dialect

DIALECT = Dialect(
    name="elliot",
    library="elliot",
    version="0.3.1",
    metrics=("precision", "recall", "hit", "map(per=places)", "mar", "mrr", "f1", "ndcg(gain=exp2_above)"),
    names={
        "HR": "hit",
        "nDCGRendle2020": "ndcg(gain=binary)",
        **dict.fromkeys(("F1", "ExtendedF1", "DSC"), "f1"),
        "DSC(beta={beta})": "f1(beta={beta})",
    },
    protocol={"no_recs": "skip", "min_relevance": 0},
    note="min_relevance is its relevance_threshold. The default of 0 makes every item of the truth relevant, whatever "
    "its grade. ExtendedF1 and DSC are those of precision and recall here, their defaults.",
    alike={
        "AUC": "auc",
        "GAUC": "group_auc",
        "RMSE": "rmse",
        "MAE": "mae",
        "MSE": "mse",
        "ItemCoverage": "coverage",
        "UserCoverage": "user_coverage",
        "Gini": "gini",
        "SEntropy": "entropy",
        "EFD": "efd",
        "EPC": "epc",
        "PopREO": "pop_reo",
        "PopRSP": "pop_rsp",
        "REO": "pop_reo",
        "RSP": "pop_rsp",
        "ARP": "arp",
        "APLT": "long_tail",
        "ACLT": "long_tail",
        "SRecall": "subtopic_recall",
        "BiasDisparityBD": "bias_disparity",
        "ItemMADranking": "item_mad",
        "NumRetrieved": "count",
    },
    without={
        "LAUC": "a hit counts for the irrelevant items below it, of all items outside the training data and one more",
        "ExtendedPopREO": "a spread for several cutoffs together",
    },
)
