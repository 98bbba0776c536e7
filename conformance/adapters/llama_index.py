"""LlamaIndex: its metrics of retrieval, on one user's list and relevant items after the other, and the mean of what
they say. A metric takes no cutoff, so lists are cut before, as a retriever's top_k does. A user without a list or
without truth is an error there and is left out here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from entries import CUTOFFS, Data, Entry, grouped
from llama_index.core.evaluation.retrieval import metrics

KINDS = {
    "HitRate": ("", "use_granular_hit_rate=True"),
    "MRR": ("", "use_granular_mrr=True"),
    "Precision": ("",),
    "Recall": ("",),
    "AveragePrecision": ("",),
    "NDCG": ("", "mode='exponential'"),
}
INPUTS = {
    "expected": "{user: [item]}: the rows of truth.csv that the option 'truth' names, of users with a list",
    "retrieved": "{user: [item]}: recs.csv by descending score, equal scores in file order, of users in expected",
    "scored": "lambda metric, k: {user: metric.compute(expected_ids=expected[user], "
    "retrieved_ids=retrieved[user][:k]).score for each user}",
    "mean": "lambda values: sum(values.values()) / len(values)",
}


def ask(data: Data) -> tuple[dict[str, Any], Iterator[Entry]]:
    called = {name: getattr(metrics, name) for name in KINDS}
    return called | {"mean": lambda values: sum(values.values()) / len(values)}, entries(data)


def entries(data: Data) -> Iterator[Entry]:
    for rows, which in data.interactions():
        expected = {user: [item for item, _ in row] for user, row in grouped(rows).items() if user in data.lists}
        scope = {"scored": scored(expected, {user: data.lists[user] for user in expected})}
        for name, choices in KINDS.items():
            for choice in choices:
                option, _, word = choice.partition("=")
                options = which | ({option: word.strip("'")} if choice else {})
                for k in (None, *CUTOFFS):
                    each = f"scored({name}({choice}), {k})"
                    yield Entry(name, f"mean({each})", k, options, each, scope)


def scored(expected: dict[str, list[str]], retrieved: dict[str, list[str]]) -> Callable[..., dict[str, float]]:
    def values(metric: metrics.BaseRetrievalMetric, k: int | None) -> dict[str, float]:
        return {
            user: metric.compute(expected_ids=relevant, retrieved_ids=retrieved[user][:k]).score
            for user, relevant in expected.items()
        }

    return values
