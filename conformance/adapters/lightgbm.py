"""LightGBM: a group of rows for each user, one row for each listed item, labelled with its relevance. Relevant items
that are not listed are unknown to it. Nothing is trained: a booster without trees predicts the initial scores.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import lightgbm
import numpy as np
from entries import CUTOFFS, Data, Entry, grouped

INPUTS = {
    "rows": "{user: (relevances, scores)} of the items in recs.csv, in file order",
    "evaluated": "evaluated(rows, params): Booster(params, Dataset with labels, groups and scores as init_score)"
    ".eval_train()[0][2]",
}
LINEAR = {"label_gain": "0,1,2,3"}


def evaluated(rows: dict[str, tuple[list[int], list[float]]], params: dict[str, Any]) -> float:
    labels = [label for row, _ in rows.values() for label in row]
    data = lightgbm.Dataset(
        np.arange(len(labels), dtype=float).reshape(-1, 1),
        label=labels,
        group=[len(row) for row, _ in rows.values()],
        init_score=[score for _, row in rows.values() for score in row],
        params={"min_data_in_bin": 1, "verbose": -1},
    )
    return float(lightgbm.Booster({"objective": "lambdarank", "verbose": -1} | params, data).eval_train()[0][2])


def ask(data: Data) -> tuple[dict[str, Any], Iterator[Entry]]:
    rows = {
        user: ([data.grades.get(user, {}).get(item, 0) for item, _ in row], [score for _, score in row])
        for user, row in grouped(data.recs).items()
    }
    return {"evaluated": evaluated, "rows": rows}, entries()


def entries() -> Iterator[Entry]:
    asked: list[tuple[str, int | None, dict[str, str]]] = [("map", k, {}) for k in CUTOFFS]
    asked += [("ndcg", k, options) for options in ({}, LINEAR) for k in CUTOFFS]
    for name, k, options in [*asked, ("auc", None, {})]:
        params = {"metric": name} | ({"eval_at": [k]} if k else {}) | options
        each = f"{{user: evaluated({{user: row}}, {params}) for user, row in rows.items()}}"
        # The area under the curve is one for the rows of all users together.
        yield Entry(name, f"evaluated(rows, {params})", k, options, "" if name == "auc" else each)
