"""PyTorch-Ignite: matrices of users and all items, in double precision. Every user has a score for every item; items
that are not listed come below all others, in the order of their ids.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from entries import CUTOFFS, Data, Entry
from ignite.metrics import rec_sys

INPUTS = {
    "y_pred": "{user: tensor of one row, a score for each item}: recs.csv; an item that is not listed has a score "
    "below all others, the lower the later its id",
    "y": "{user: tensor of one row}: the relevance of each item, 0 where truth has none",
    "fed": "lambda metric, users: metric.compute()[0] after metric.update((y_pred[user], y[user])) for each user",
    "users": "all users",
}
CHOICES: dict[str, tuple[dict[str, Any], ...]] = {
    "HitRate": ({}, {"ignore_zero_hits": False}),
    "NDCG": ({}, {"ignore_zero_hits": False}, {"relevance_threshold": 2}, {"gain_function": "linear_rank"}),
}


def ask(data: Data) -> tuple[dict[str, Any], Iterator[Entry]]:
    lowest = min(score for _, _, score in data.recs) - 1
    y_pred, y = {}, {}
    for user in data.users:
        scores, grades = data.run.get(user, {}), data.grades.get(user, {})
        y_pred[user] = torch.tensor(
            [[scores.get(item, lowest - place) for item, place in data.items.items()]], dtype=torch.float64
        )
        y[user] = torch.tensor([[grades.get(item, 0) for item in data.items]], dtype=torch.float64)

    def fed(metric: Any, users: list[str]) -> float:
        for user in users:
            metric.update((y_pred[user], y[user]))
        return float(metric.compute()[0])

    scope = {name: getattr(rec_sys, name) for name in CHOICES}
    return scope | {"fed": fed, "users": list(data.users)}, entries(data)


def entries(data: Data) -> Iterator[Entry]:
    graded = any(grade > 1 for _, _, grade in data.truth)
    relevant = [user for user in data.users if any(data.grades.get(user, {}).values())]
    for name, choices in CHOICES.items():
        for options in choices:
            if graded or not options.keys() & {"relevance_threshold", "gain_function"}:
                for k in CUTOFFS:
                    given = ", ".join((f"[{k}]", *(f"{key}={value!r}" for key, value in options.items())))
                    call = f"fed({name}({given}), users)"
                    # A user without truth is nobody to it, and a metric of nobody is an error.
                    each = f"{{u: {call.replace('users', '[u]')} for u in relevant}}"
                    scope = {"relevant": relevant}
                    yield Entry(name, call, k, {"ranks": "every item"} | options, each, scope)
