"""TorchMetrics: a row for each listed item, with its target. Relevant items that are not listed are unknown to it, a
user without a list has no rows, and one without truth has targets of zero. All but nDCG need a binary target.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from entries import CUTOFFS, Data, Entry
from torchmetrics import retrieval

INPUTS = {
    "preds": "scores of recs.csv, in single precision unless the option 'dtype' says otherwise",
    "target": "1 for a row whose item has a relevance above 0, else 0",
    "grades": "the relevance of each row's item, 0 if it has none",
    "indexes": "a number for each row's user",
    "users": "the users in the order of their numbers",
    "keep": "lambda values, dim: values",
}
CALLS = (
    *(("RetrievalPrecision", {}), ("RetrievalPrecision", {"adaptive_k": True}), ("RetrievalRecall", {})),
    *((f"Retrieval{name}", {}) for name in ("HitRate", "MAP", "MRR", "NormalizedDCG")),
    *((("RetrievalAUROC", {}),) if hasattr(retrieval, "RetrievalAUROC") else ()),  # new in 1.3
)
EMPTY = ("neg", "pos", "skip", "error")


def ask(data: Data) -> tuple[dict[str, Any], Iterator[Entry]]:
    grades = [data.grades.get(user, {}).get(item, 0) for user, item, _ in data.recs]
    numbers = {user: place for place, user in enumerate(sorted({user for user, _, _ in data.recs}))}
    scope: dict[str, Any] = {name: getattr(retrieval, name) for name in ("RetrievalRPrecision", *(c for c, _ in CALLS))}
    scope |= {"grades": torch.tensor(grades), "target": torch.tensor([int(grade > 0) for grade in grades])}
    scope |= {"indexes": torch.tensor([numbers[user] for user, _, _ in data.recs]), "users": list(numbers)}
    scope |= {"keep": lambda values, dim: values}
    return scope, entries(data)


def entries(data: Data) -> Iterator[Entry]:
    scores = [score for _, _, score in data.recs]
    for dtype in (torch.float32, torch.float64) if data.name == "near_ties" else (torch.float32,):
        scope = {"preds": torch.tensor(scores, dtype=dtype)}
        precision = {"dtype": "float64"} if dtype == torch.float64 else {}
        for empty in EMPTY:
            for name, options in CALLS:
                # In every data set somebody's list has no hit, so here all that is to be seen is the error.
                for k in (5,) if empty == "error" else (None, *CUTOFFS):
                    yield entry(name, k, options, empty, scope, precision)
            yield entry("RetrievalRPrecision", None, {}, empty, scope, precision)


def entry(
    name: str, k: int | None, options: dict[str, Any], empty: str, scope: dict[str, Any], precision: dict[str, str]
) -> Entry:
    chosen = ({"top_k": k} if k else {}) | options | {"empty_target_action": empty}
    given = ", ".join(f"{key}={value!r}" for key, value in chosen.items())
    rows = f"(preds, {'grades' if name == 'RetrievalNormalizedDCG' else 'target'}, indexes=indexes)"
    # A user who is skipped leaves no value, so then the values have no names.
    each = "" if empty == "skip" else f"dict(zip(users, {name}({given}, aggregation=keep){rows}.tolist()))"
    options = options | {"empty_target_action": empty} | precision
    return Entry(name, f"{name}({given}){rows}", k, options, each, scope)
