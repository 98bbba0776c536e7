"""Cornac."""

from __future__ import annotations

from atkay.dialects.base import Dialect

DIALECT = Dialect(
    name="cornac",
    library="cornac",
    version="3.0.1",
    words={
        "precision": {},
        "recall": {},
        "hit": {},
        "map": {},
        "mrr": {},
        "f1": {},
        "ndcg": {"gain": "binary"},
    },
    protocol={"no_recs": "skip"},
    note="MAP and MRR look at the whole list.",
)
