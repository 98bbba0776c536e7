"""MLflow: its metrics of retrievers, called as mlflow.evaluate calls them, on a list and the relevant items of each
user. Whom it averages over are the rows that it is given: here all users with a list or truth.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas as pd
from entries import CUTOFFS, Data, Entry, grouped
from mlflow import metrics

KINDS = ("precision", "recall", "ndcg")
INPUTS = {
    "predictions": "Series of lists by user: recs.csv by descending score, equal scores in file order; [] where there "
    "is none",
    "targets": "Series of lists by user: the rows of truth.csv that the option 'truth' names; [] where there are none",
}


def ask(data: Data) -> tuple[dict[str, Any], Iterator[Entry]]:
    called = {f"{name}_at_k": getattr(metrics, f"{name}_at_k") for name in KINDS}
    return called | {"predictions": pd.Series({u: data.lists.get(u, []) for u in data.users})}, entries(data)


def entries(data: Data) -> Iterator[Entry]:
    for rows, which in data.interactions():
        relevant = {user: [item for item, _ in row] for user, row in grouped(rows).items()}
        scope = {"targets": pd.Series({u: relevant.get(u, []) for u in data.users})}
        for name in KINDS:
            for k in CUTOFFS:
                call = f"{name}_at_k({k}).eval_fn(predictions, targets)"
                each = f"dict(zip(targets.index, {call}.scores))"
                yield Entry(f"{name}_at", f"{call}.aggregate_results['mean']", k, which, each, scope)
