"""RecBole's metric functions."""

from __future__ import annotations

from atkay.dialects.dialect import Dialect

DIALECT = Dialect(
    name="recbole",
    library="recbole",
    version="1.2.1",
    metrics=(
        "precision",
        "recall",
        "hit",
        "map(per=capped)",
        "mrr",
        "ndcg(gain=binary)",
        "group_auc(weight=relevant); unlisted=ignored ties=expected",
        "row_auc(rows=listed); no_truth=zero",
    ),
    names={
        "AUC": "row_auc",
    },
    note="Its AUC is computed over the listed items of all users together.",
    alike={
        "ItemCoverage": "coverage",
        "AveragePopularity": "arp",
        "ShannonEntropy": "entropy",
        "GiniIndex": "gini",
        "TailPercentage": "long_tail",
        "MAE": "mae",
        "RMSE": "rmse",
        "LogLoss": "log_loss",
    },
)
