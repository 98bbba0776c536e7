"""Ragas: its context precision and recall by id, on one user after the other. They take no cutoff, so lists are cut
before, as a retriever's top k does. A user whose number is NaN is left out of the mean, as Ragas does it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from typing import Any

from entries import CUTOFFS, Data, Entry, grouped
from ragas import SingleTurnSample
from ragas.metrics import IDBasedContextPrecision, IDBasedContextRecall
from ragas.utils import safe_nanmean

INPUTS = {
    "reference": "{user: [item]}: the rows of truth.csv that the option 'truth' names; [] without such a row",
    "retrieved": "{user: [item]}: recs.csv by descending score, equal scores in file order; [] without a list",
    "scored": "lambda metric, k: {user: the metric's single_turn_ascore of SingleTurnSample("
    "retrieved_context_ids=retrieved[user][:k], reference_context_ids=reference[user])}",
    "mean": "ragas.utils.safe_nanmean of the values",
}
KINDS = {"id_based_context_precision": IDBasedContextPrecision, "id_based_context_recall": IDBasedContextRecall}


def ask(data: Data) -> tuple[dict[str, Any], Iterator[Entry]]:
    called = {kind.__name__: kind for kind in KINDS.values()}
    return called | {"mean": lambda values: safe_nanmean(list(values.values()))}, entries(data)


def entries(data: Data) -> Iterator[Entry]:
    for rows, which in data.interactions():
        relevant = {user: [item for item, _ in row] for user, row in grouped(rows).items()}
        scope = {"scored": scored(data, relevant)}
        for name, kind in KINDS.items():
            for k in (None, *CUTOFFS):
                each = f"scored({kind.__name__}(), {k})"
                yield Entry(name, f"mean({each})", k, which, each, scope)


def scored(data: Data, relevant: dict[str, list[str]]) -> Callable[..., dict[str, float]]:
    def values(metric: Any, k: int | None) -> dict[str, float]:
        samples = {
            user: SingleTurnSample(
                retrieved_context_ids=data.lists.get(user, [])[:k], reference_context_ids=relevant.get(user, [])
            )
            for user in data.users
        }
        return {user: asyncio.run(metric.single_turn_ascore(one)) for user, one in samples.items()}

    return values
