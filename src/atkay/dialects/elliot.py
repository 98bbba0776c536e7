"""Elliot. Its MAP is the mean of the precisions at every place."""

from __future__ import annotations

from atkay.dialects.dialect import Dialect

DIALECT = Dialect(
    name="elliot",
    library="elliot",
    version="0.3.1",
    metrics=("precision", "recall", "hit", "map(per=places)", "mrr", "ndcg(gain=exp2_above)"),
    protocol={"no_recs": "skip", "min_relevance": 0},
    checked="source",
    note="min_relevance is its relevance_threshold. The default of 0 makes every item of the truth relevant, whatever "
    "its grade. It is not on PyPI and was not run: its source was read.",
    alike={
        "AUC": "auc",
        "GAUC": "group_auc",
        "F1": "f1",
        "MAR": "mar",
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
        "LAUC": "pairs with irrelevant items that the list does not have",
        "DSC": "the Dice coefficient of list and truth",
        "ExtendedPopREO": "a spread for several cutoffs together",
    },
)
