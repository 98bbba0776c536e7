"""XGBoost: a group of rows for each user, one row for each listed item, labelled with its relevance. Relevant items
that are not listed are unknown to it. Nothing is trained: a booster without trees predicts the base margin, which it
keeps in single precision.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import xgboost
from entries import CUTOFFS, Data, Entry, grouped

INPUTS = {
    "rows": "{user: (relevances, scores)} of the items in recs.csv, in file order",
    "binary": "the same with 1 where the relevance is above 0",
    "evaluated": "evaluated(rows, params): train(params, DMatrix with labels, groups and scores as base_margin, "
    "num_boost_round=0).eval(...)",
}


def evaluated(rows: dict[str, tuple[list[int], list[float]]], params: dict[str, Any]) -> float:
    labels = [label for row, _ in rows.values() for label in row]
    data = xgboost.DMatrix(np.zeros((len(labels), 1)), label=labels)
    data.set_group([len(row) for row, _ in rows.values()])
    data.set_base_margin([score for _, row in rows.values() for score in row])
    booster = xgboost.train({"objective": "rank:ndcg", "verbosity": 0} | params, data, num_boost_round=0)
    return float(booster.eval(data).rpartition(":")[2])


def ask(data: Data) -> tuple[dict[str, Any], Iterator[Entry]]:
    rows = {
        user: ([data.grades.get(user, {}).get(item, 0) for item, _ in row], [score for _, score in row])
        for user, row in grouped(data.recs).items()
    }
    binary = {user: ([int(label > 0) for label in labels], scores) for user, (labels, scores) in rows.items()}
    return {"evaluated": evaluated, "rows": rows, "binary": binary}, entries()


def entries() -> Iterator[Entry]:
    asked: list[tuple[str, str, int | None, dict[str, Any]]] = []
    for k in (None, *CUTOFFS):
        cut = f"@{k}" if k else ""
        # A minus after the name makes a group without relevant rows 0 instead of 1.
        asked += [("ndcg", f"ndcg{cut}{minus}", k, {"minus": bool(minus)}) for minus in ("", "-")]
        asked += [
            ("ndcg", f"ndcg{cut}{minus}", k, {"minus": bool(minus), "ndcg_exp_gain": False}) for minus in ("", "-")
        ]
        asked += [("map", f"map{cut}{minus}", k, {"minus": bool(minus)}) for minus in ("", "-")]
        asked += [("pre", f"pre{cut}", k, {})]
    asked += [("auc", "auc", None, {}), ("aucpr", "aucpr", None, {})]
    for name, metric, k, options in asked:
        params = {"eval_metric": metric} | {key: value for key, value in options.items() if key != "minus"}
        labels = "rows"
        if name != "ndcg":  # the others demand binary labels
            labels, params = "binary", {"objective": "rank:map" if name in ("map", "pre") else "rank:pairwise"} | params
        each = f"{{user: evaluated({{user: row}}, {params}) for user, row in {labels}.items()}}"
        yield Entry(name, f"evaluated({labels}, {params})", k, options, each)
