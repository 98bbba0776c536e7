"""rs_metrics: dicts of lists. There are no scores and no grades."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import rs_metrics
from entries import CUTOFFS, Data, Entry, grouped

KINDS = ("precision", "recall", "hitrate", "mapr", "mrr", "ndcg")
INPUTS = {
    "true": "{user: [item]}: the rows of truth.csv that the option 'truth' names",
    "pred": "{user: [item]}: recs.csv by descending score, equal scores in file order",
}


def ask(data: Data) -> tuple[dict[str, Any], Iterator[Entry]]:
    return {name: getattr(rs_metrics, name) for name in KINDS} | {"pred": data.lists}, entries(data)


def entries(data: Data) -> Iterator[Entry]:
    for rows, which in data.interactions():
        scope = {"true": {user: [item for item, _ in row] for user, row in grouped(rows).items()}}
        for name in KINDS:
            for k in CUTOFFS:
                call = f"{name}(true, pred, k={k})"
                each = f"dict(zip(true, {name}(true, pred, k={k}, apply_mean=False)))"
                yield Entry(name, call, k, which, each, scope)
