"""XGBoost's ranking metrics, whose groups are all the items it knows of."""

from __future__ import annotations

from atkay.dialects.dialect import Dialect

NAMES = {
    "ndcg@{k}": "ndcg@{k}",
    "ndcg": "ndcg",
    "map@{k}": "map(per=capped)@{k}",
    "map": "map(per=capped)",
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
    | {"pre@{k}": "precision(per=listed)@{k}", "pre": "precision(per=listed)"},
    protocol={"no_recs": "skip", "no_truth": "one", "unlisted": "ignored", "scores": "float32"},
    apart={"precision": {"no_truth": "zero"}},
    cutoff=32,
)
