"""Cornac."""

from __future__ import annotations

from atkay.dialects.dialect import Dialect

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
        "auc": {},
    },
    names={
        "FMeasure@{k}": "f1@{k}",
        "FMeasure": "f1",
        "HitRatio@{k}": "hit@{k}",
        "HitRatio": "hit",
    },
    protocol={"no_recs": "skip"},
    apart={"auc": {"ties": "together"}, "map": {"ties": "together"}},
    uncut=("map", "mrr"),
    unstable=dict.fromkeys(("precision", "recall", "hit", "mrr", "f1", "ndcg"), 2),
    note="MAP and MRR look at the whole list. Equal scores come in any order, except in MAP and AUC.",
)
