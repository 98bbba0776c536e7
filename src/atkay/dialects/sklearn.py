"""scikit-learn's ndcg_score and dcg_score, whose columns are the listed items."""

from __future__ import annotations

from atkay.dialects.base import Dialect

DIALECT = Dialect(
    name="sklearn",
    library="scikit-learn",
    version="1.9.1",
    words={
        "ndcg": {"gain": "linear"},
        "dcg": {"gain": "linear"},
    },
    names={
        "ndcg_score@{k}": "ndcg(gain=linear)@{k}",
        "dcg_score@{k}": "dcg(gain=linear)@{k}",
        "ndcg_score": "ndcg(gain=linear)",
        "dcg_score": "dcg(gain=linear)",
    },
    protocol={"no_recs": "skip", "no_truth": "zero", "ties": "expected", "unlisted": "ignored"},
)
