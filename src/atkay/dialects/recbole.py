"""RecBole's metric functions."""

from __future__ import annotations

from atkay.dialects.dialect import Dialect

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
        "group_auc": {"weight": "relevant"},
    },
    names={
        "hit@{k}": "hit@{k}",
        "mrr@{k}": "mrr@{k}",
        "map@{k}": "map(per=capped)@{k}",
        "ndcg@{k}": "ndcg(gain=binary)@{k}",
        "gauc": "group_auc(weight=relevant)",
    },
    apart={"group_auc": {"unlisted": "ignored", "ties": "expected"}},
    note="Its AUC is one for the rows of all users together; it is not spoken here.",
)
