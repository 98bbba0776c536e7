"""scikit-learn's scores of rankings, whose columns are the listed items."""

from __future__ import annotations

from atkay.dialects.dialect import Dialect

DIALECT = Dialect(
    name="sklearn",
    library="scikit-learn",
    version="1.9.1",
    metrics=(
        "ndcg(gain=linear)",
        "dcg(gain=linear)",
        "map; ties=together",
        "auc",
        "mse",
        "rmse",
        "mae",
        "r2(constant=zero)",
        "row_auc(rows=listed)",
    ),
    names={
        "ndcg_score": "ndcg",
        "dcg_score": "dcg",
        "roc_auc_score": "auc",
        "average_precision_score": "map",
        "mean_squared_error": "mse",
        "root_mean_squared_error": "rmse",
        "mean_absolute_error": "mae",
        "r2_score": "r2",
        "label_ranking_average_precision_score": "map; no_truth=one",
    },
    protocol={"no_recs": "skip", "no_truth": "zero", "ties": "expected", "unlisted": "ignored", "negative": "error"},
    uncut=("map",),
    note="Its average precision uses the whole list. Its roc_auc_score is NaN for users without a pair.",
)
