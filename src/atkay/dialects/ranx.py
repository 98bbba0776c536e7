"""ranx, with make_comparable=True: without it, a user that one side lacks is an error."""

from __future__ import annotations

from atkay.core.types import LONG
from atkay.dialects.dialect import Dialect

NAMES = {
    "hits@{k}": "hit(count=number)@{k}",
    "hits": "hit(count=number)",
    "hit_rate@{k}": "hit@{k}",
    "hit_rate": "hit",
    "precision@{k}": "precision@{k}",
    "precision": "precision",
    "recall@{k}": "recall@{k}",
    "recall": "recall",
    "f1@{k}": "f1@{k}",
    "f1": "f1",
    "mrr@{k}": "mrr@{k}",
    "mrr": "mrr",
    "map@{k}": "map@{k}",
    "map": "map",
    "ndcg@{k}": "ndcg(gain=linear)@{k}",
    "ndcg": "ndcg(gain=linear)",
    "ndcg_burges@{k}": "ndcg(gain=exp2)@{k}",
    "ndcg_burges": "ndcg(gain=exp2)",
    "dcg@{k}": "dcg(gain=linear)@{k}",
    "dcg": "dcg(gain=linear)",
    "dcg_burges@{k}": "dcg(gain=exp2)@{k}",
    "dcg_burges": "dcg(gain=exp2)",
    "r-precision": "r_precision",
    "rbp.{digits}": "rbp(p=0.{digits},gain=grade)",
}

WORDS: dict[str, dict[str, str | float]] = {
    "precision": {},
    "recall": {},
    "hit": {},
    "map": {},
    "mrr": {},
    "f1": {},
    "ndcg": {"gain": "linear"},
    "dcg": {"gain": "linear"},
    "r_precision": {},
    "rbp": {"gain": "grade"},
}

DIALECT = Dialect(
    name="ranx",
    library="ranx",
    version="0.3.21",
    words=WORDS,
    names=NAMES | {f"{own}-l{{level}}": f"{meaning}; min_relevance={{level}}" for own, meaning in NAMES.items()},
    protocol={"no_truth": "judged", "min_relevance": 1},
    unstable=dict.fromkeys(WORDS, LONG),
    note="Equal scores keep their order in lists of up to 15 items; in longer ones ranx orders them in its own way. "
    "Its bpref is not a number where nothing was judged irrelevant; it is not spoken here.",
)
