"""ranx, whose names may say from which grade an item is relevant: map@10-l2."""

from __future__ import annotations

from atkay.dialects.dialect import Dialect

METRICS = ("precision", "recall", "hit", "map", "mrr", "ndcg(gain=linear)", "dcg(gain=linear)", "r_precision")
CUT = {name: name for name in ("precision", "recall", "mrr", "map", "ndcg", "dcg")} | {
    "hits": "hit(count=number)",
    "hit_rate": "hit",
    "ndcg_burges": "ndcg(gain=exp2)",
    "dcg_burges": "dcg(gain=exp2)",
}
WHOLE = {"r-precision": "r_precision", "rbp.{digits}": "rbp(p=0.{digits})"}
WITHOUT = {"bpref": "not a number where nothing was judged irrelevant, and elsewhere not always trec_eval's"}


def _with_levels(cut: dict[str, str]) -> dict[str, str]:
    """The names, and each with the grade from which an item is relevant."""
    return {
        **cut,
        **WHOLE,
        **{f"{own}-l{{level}}": f"{spec}; min_relevance={{level}}" for own, spec in (cut | WHOLE).items()},
        **{f"{own}@{{k}}-l{{level}}": f"{spec}@{{k}}; min_relevance={{level}}" for own, spec in cut.items()},
    }


DIALECT = Dialect(
    name="ranx",
    library="ranx",
    version="0.3.21",
    metrics=(*METRICS, "f1", "rbp(gain=grade)"),
    names=_with_levels({**CUT, "f1": "f1"}),
    protocol={"no_truth": "judged", "min_relevance": 1},
    unstable=16,
    note="Equal scores keep their order in lists of up to 15 items; in longer ones ranx's sort is unstable. "
    "Its f1 is right from 0.3.16 on. Its bpref is NaN where nothing was judged irrelevant; it is not supported here.",
    without=WITHOUT,
    editions={
        "<0.3.15": {
            "version": "0.3.14",
            "metrics": (*METRICS, "rbp"),
            "names": _with_levels(CUT),
            "without": {**WITHOUT, "f1": "a user without a hit makes the users who follow in its thread 0"},
        }
    },
)
