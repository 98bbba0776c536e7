"""XGBoost's ranking metrics, whose groups are all the items it knows of."""

from __future__ import annotations

from atkay.dialects.base import Dialect

DIALECT = Dialect(
    name="xgboost",
    library="xgboost",
    version="3.3.0",
    words={
        "precision": {"per": "listed"},
        "map": {"per": "capped"},
        "ndcg": {},
    },
    names={
        "pre@{k}": "precision(per=listed)@{k}",
        "map@{k}": "map(per=capped)@{k}",
        "ndcg@{k}": "ndcg@{k}",
    },
    protocol={"no_recs": "skip", "no_truth": "one", "unlisted": "ignored"},
)
