"""RecTools: tables of interactions and of ranks. Every row of the interactions is relevant."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import Any

import pandas as pd
from entries import CUTOFFS, Data, Entry
from rectools.metrics import MAP, MRR, NDCG, PAP, F1Beta, HitRate, PartialAUC, Precision, Recall

KINDS = (MAP, MRR, NDCG, PAP, F1Beta, HitRate, PartialAUC, Precision, Recall)
INPUTS = {
    "reco": "table of user_id, item_id, rank: recs.csv by descending score, equal scores in file order",
    "interactions": "table of user_id, item_id: the rows of truth.csv that the option 'truth' names",
}
CALLS = (
    *(
        ("Precision", {}),
        ("Precision", {"r_precision": True}),
        ("Recall", {}),
        ("F1Beta", {}),
        ("F1Beta", {"beta": 0.5}),
    ),
    *(
        ("HitRate", {}),
        ("MAP", {}),
        ("MAP", {"divide_by_k": True}),
        ("MRR", {}),
        ("NDCG", {}),
        ("NDCG", {"log_base": 10}),
    ),
    *(("NDCG", {"divide_by_achievable": True}), ("PartialAUC", {"insufficient_handling": "ignore"})),
    *(("PartialAUC", {"insufficient_handling": "exclude"}), ("PAP", {"insufficient_handling": "ignore"})),
)


def ask(data: Data) -> tuple[dict[str, Any], Iterator[Entry]]:
    ranks = [rank for _, row in groupby(data.ranked, lambda row: row[0]) for rank, _ in enumerate(row, 1)]
    reco = pd.DataFrame(data.ranked, columns=["user_id", "item_id", "score"]).assign(rank=ranks)
    scope = {kind.__name__: kind for kind in KINDS} | {"reco": reco[["user_id", "item_id", "rank"]]}
    return scope, entries(data)


def entries(data: Data) -> Iterator[Entry]:
    for rows, which in data.interactions():
        scope = {"interactions": pd.DataFrame(rows, columns=["user_id", "item_id", "weight"])[["user_id", "item_id"]]}
        for name, options in CALLS:
            for k in CUTOFFS:
                made = ", ".join(f"{key}={value!r}" for key, value in ({"k": k} | options).items())
                call = f"{name}({made}).calc(reco, interactions)"
                each = call.replace(".calc(", ".calc_per_user(") + ".to_dict()"
                yield Entry(name, call, k, options | which, each, scope)
