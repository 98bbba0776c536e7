"""ir-measures, which asks pytrec_eval for most of its measures."""

from __future__ import annotations

from atkay.dialects.base import Dialect

DIALECT = Dialect(
    name="ir_measures",
    library="ir-measures",
    version="0.4.3",
    words={
        "precision": {},
        "recall": {},
        "hit": {},
        "map": {},
        "mrr": {},
        "ndcg": {"gain": "linear"},
        "r_precision": {},
        "bpref": {},
    },
    names={
        "P@{k}": "precision@{k}",
        "R@{k}": "recall@{k}",
        "Success@{k}": "hit@{k}",
        "AP@{k}": "map@{k}",
        "AP": "map",
        "RR": "mrr",
        "nDCG@{k}": "ndcg(gain=linear)@{k}",
        "nDCG": "ndcg(gain=linear)",
        "Rprec": "r_precision",
        "Bpref": "bpref",
    },
    protocol={"no_truth": "judged", "ties": "text_desc", "scores": "float32"},
    uncut=("mrr",),
    note="RR@k asks another program, which puts equal scores in the opposite order.",
)
