"""LightGBM's ranking metrics, whose groups are all the items it knows of."""

from __future__ import annotations

from atkay.dialects.dialect import Dialect

DIALECT = Dialect(
    name="lightgbm",
    library="lightgbm",
    version="4.7.0",
    words={
        "map": {"per": "capped"},
        "ndcg": {},
    },
    names={
        "map@{k}": "map(per=capped)@{k}",
        "ndcg@{k}": "ndcg@{k}",
    },
    protocol={"no_recs": "skip", "no_truth": "one", "unlisted": "ignored"},
)
