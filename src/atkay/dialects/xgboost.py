"""XGBoost's ranking metrics, whose groups are all the items it knows of."""

from __future__ import annotations

from atkay.dialects.base import Dialect

NAMES = {
    "ndcg@{k}": "ndcg@{k}",
    "ndcg": "ndcg@32",
    "map@{k}": "map(per=capped)@{k}",
    "map": "map(per=capped)@32",
}

DIALECT = Dialect(
    name="xgboost",
    library="xgboost",
    version="3.2.0",
    words={
        "precision": {"per": "listed"},
        "map": {"per": "capped"},
        "ndcg": {},
    },
    names=NAMES
    | {f"{own}-": f"{meaning}; no_truth=zero" for own, meaning in NAMES.items()}
    | {"pre@{k}": "precision(per=listed)@{k}"}
    | dict.fromkeys(("pre", "precision"), "precision(per=listed)@32"),
    protocol={"no_recs": "skip", "no_truth": "one", "unlisted": "ignored", "scores": "float32"},
    apart={"precision": {"no_truth": "zero"}},
    note="Without a cutoff it cuts at 32.",
)
