"""Cornac."""

from __future__ import annotations

from atkay.dialects.dialect import Dialect

DIALECT = Dialect(
    name="cornac",
    library="cornac",
    version="3.0.1",
    metrics=(
        "precision",
        "recall",
        "hit",
        "map; ties=together",
        "mrr",
        "f1",
        "ndcg(gain=binary)",
        "auc; ties=together",
        "rmse; no_truth=zero",
        "mae; no_truth=zero",
        "mse; no_truth=zero",
    ),
    names={
        "FMeasure": "f1",
        "HitRatio": "hit",
    },
    protocol={"no_recs": "skip"},
    uncut=("map", "mrr"),
    unstable=2,
    stable=("map", "auc"),
    note="MAP and MRR use the whole list. The order of equal scores is undefined, except in MAP and AUC.",
    without={
        "NCRR": "a discounted sum of reciprocal ranks",
    },
)
