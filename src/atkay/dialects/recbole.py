"""RecBole's metric functions."""

from __future__ import annotations

from atkay.dialects.dialect import Dialect

DIALECT = Dialect(
    name="recbole",
    library="recbole",
    version="1.2.1",
    metrics=(
        "precision",
        "recall",
        "hit",
        "map(per=capped)",
        "mrr",
        "ndcg(gain=binary)",
        "group_auc(weight=relevant); unlisted=ignored ties=expected",
    ),
    note="Its AUC is computed over the rows of all users together; it is not supported here.",
)
