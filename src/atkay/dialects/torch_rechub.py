"""Torch-RecHub. Its Hit is the share of all relevant items that were found."""

from __future__ import annotations

from atkay.dialects.dialect import Dialect

DIALECT = Dialect(
    name="torch_rechub",
    library="torch-rechub",
    version="0.9.0",
    metrics=(
        *("precision", "recall", "mrr", "ndcg(gain=binary)", "group_auc; unlisted=ignored ties=expected"),
        "row_auc(rows=listed)",
    ),
    names={"Hit": "recall(average=pooled)", "auc": "row_auc"},
    protocol={"no_recs": "skip", "no_truth": "zero"},
    note="It prints four decimals, pools Hit over all users, and refuses users without a list and lists that are "
    "shorter than the cutoff. A user whose listed items are all relevant or all irrelevant makes its gauc NaN; here "
    "such users are left out.",
)
