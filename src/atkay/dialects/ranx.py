"""ranx, with make_comparable=True: without it, a user that one side lacks is an error."""

from __future__ import annotations

from atkay.dialects.base import Dialect

DIALECT = Dialect(
    name="ranx",
    library="ranx",
    version="0.3.21",
    words={
        "precision": {},
        "recall": {},
        "hit": {},
        "map": {},
        "mrr": {},
        "f1": {},
        "ndcg": {"gain": "linear"},
        "dcg": {"gain": "linear"},
        "r_precision": {},
    },
    names={
        "hits@{k}": "hit(count=number)@{k}",
        "hit_rate@{k}": "hit@{k}",
        "ndcg_burges@{k}": "ndcg(gain=exp2)@{k}",
        "ndcg_burges": "ndcg(gain=exp2)",
        "dcg_burges@{k}": "dcg(gain=exp2)@{k}",
        "dcg_burges": "dcg(gain=exp2)",
        "r-precision": "r_precision",
    },
    protocol={"no_truth": "judged", "min_relevance": 1},
    note="Its bpref is not a number where nothing was judged irrelevant; it is not spoken here.",
)
