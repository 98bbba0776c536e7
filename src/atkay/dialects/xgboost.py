"""XGBoost's ranking metrics, whose groups are all the items it knows of."""

from __future__ import annotations

from atkay.dialects.base import Dialect

DIALECT = Dialect(
    name="xgboost",
    library="xgboost",
    version="3.2.0",
    words={
        "map": {"per": "capped"},
        "ndcg": {},
    },
    names={
        "ndcg": "ndcg@32",
        "map": "map(per=capped)@32",
        "map@{k}": "map(per=capped)@{k}",
        "ndcg@{k}": "ndcg@{k}",
    },
    protocol={"no_recs": "skip", "no_truth": "one", "unlisted": "ignored", "scores": "float32"},
    note="Without a cutoff it cuts at 32. Its pre is not spoken here: it scores users without truth 0, the others 1.",
)
