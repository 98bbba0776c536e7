"""LensKit."""

from __future__ import annotations

from atkay.dialects.base import Dialect

DIALECT = Dialect(
    name="lenskit",
    library="lenskit",
    version="2025.8.1",
    words={
        "precision": {"per": "listed"},
        "recall": {"per": "capped"},
        "hit": {},
        "map": {"per": "listed"},
        "mrr": {},
        "ndcg": {"gain": "linear", "discount": "jk"},
        "dcg": {"gain": "linear", "discount": "jk"},
    },
    protocol={"no_recs": "skip", "no_truth": "zero"},
)
