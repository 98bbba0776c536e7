"""RecBole's metric functions."""

from __future__ import annotations

from atkay.dialects.base import Dialect

DIALECT = Dialect(
    name="recbole",
    library="recbole",
    version="1.2.1",
    words={
        "precision": {},
        "recall": {},
        "hit": {},
        "map": {"per": "capped"},
        "mrr": {},
        "ndcg": {"gain": "binary"},
    },
    names={
        "hit@{k}": "hit@{k}",
        "mrr@{k}": "mrr@{k}",
        "map@{k}": "map(per=capped)@{k}",
        "ndcg@{k}": "ndcg(gain=binary)@{k}",
    },
)
