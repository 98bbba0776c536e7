"""ranx, whose names may say from which grade an item is relevant: map@10-l2."""

from __future__ import annotations

from atkay.dialects.dialect import Dialect

CUT = {name: name for name in ("precision", "recall", "f1", "mrr", "map", "ndcg", "dcg")} | {
    "hits": "hit(count=number)",
    "hit_rate": "hit",
    "ndcg_burges": "ndcg(gain=exp2)",
    "dcg_burges": "dcg(gain=exp2)",
}
NAMES = CUT | {"r-precision": "r_precision", "rbp.{digits}": "rbp(p=0.{digits})"}

METRICS = ("precision", "recall", "hit", "map", "mrr", "f1", "ndcg(gain=linear)", "dcg(gain=linear)", "r_precision")

DIALECT = Dialect(
    name="ranx",
    library="ranx",
    version="0.3.21",
    metrics=(*METRICS, "rbp(gain=grade)"),
    names=NAMES
    | {f"{own}-l{{level}}": f"{spec}; min_relevance={{level}}" for own, spec in NAMES.items()}
    | {f"{own}@{{k}}-l{{level}}": f"{spec}@{{k}}; min_relevance={{level}}" for own, spec in CUT.items()},
    protocol={"no_truth": "judged", "min_relevance": 1},
    unstable=16,
    note="Equal scores keep their order in lists of up to 15 items; in longer ones ranx's sort is unstable. "
    "Its bpref is NaN where nothing was judged irrelevant; it is not supported here.",
    without={
        "bpref": "not a number where nothing was judged irrelevant, and elsewhere not always trec_eval's",
    },
)
