"""XGBoost's ranking metrics, whose groups are all the items it knows of."""

from __future__ import annotations

from atkay.dialects.dialect import Dialect

DIALECT = Dialect(
    name="xgboost",
    library="xgboost",
    version="3.2.0",
    metrics=("precision(per=listed); no_truth=zero", "map(per=capped)", "ndcg"),
    names={
        "pre": "precision",
        "ndcg@{k}-": "ndcg@{k}; no_truth=zero",
        "ndcg-": "ndcg; no_truth=zero",
        "map@{k}-": "map@{k}; no_truth=zero",
        "map-": "map; no_truth=zero",
    },
    protocol={"no_recs": "skip", "no_truth": "one", "unlisted": "ignored", "scores": "float32", "negative": "error"},
    cutoff=32,
    without={
        "auc": "it counts pairs of two relevant or two irrelevant items, too",
        "aucpr": "interpolates between precisions",
    },
    editions={
        "<2": {
            "version": "1.7.6",
            "metrics": ("precision; no_truth=zero", "map", "ndcg"),
            "cutoff": None,
            "note": "Its pre needs a cutoff: without one hits are divided by 2^32. It does not know ndcg_exp_gain.",
        }
    },
)
