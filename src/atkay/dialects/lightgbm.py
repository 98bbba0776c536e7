"""LightGBM's ranking metrics, whose groups are all the items it knows of."""

from __future__ import annotations

from atkay.dialects.dialect import Dialect

DIALECT = Dialect(
    name="lightgbm",
    library="lightgbm",
    version="4.7.0",
    metrics=("map(per=capped)", "ndcg", "row_auc(rows=listed); no_truth=zero"),
    names={"auc": "row_auc"},
    protocol={"no_recs": "skip", "no_truth": "one", "unlisted": "ignored", "negative": "error"},
)
