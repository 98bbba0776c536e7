"""Keras-RS, on torch: one list after the other, of the listed items in file order, as batches of one. Relevant items
that are not listed are unknown to it, a user without a list has none, and one without truth has labels of zero. Equal
scores are shuffled; the seed is set before each data set.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

os.environ["KERAS_BACKEND"] = "torch"

import keras
import numpy as np
from entries import CUTOFFS, Data, Entry, grouped
from keras_rs import metrics

INPUTS = {
    "lists": "{user: (labels, scores)}: arrays in single precision of the listed items; label 0 if truth has none",
    "fed": "lambda metric, lists: float(metric.result()) after metric.update_state(labels, scores) for each list",
    "linear": "lambda label: label",
}
KINDS = ("PrecisionAtK", "RecallAtK", "MeanReciprocalRank", "MeanAveragePrecision", "NDCG", "DCG")
GAINS = ("NDCG", "DCG")


def ask(data: Data) -> tuple[dict[str, Any], Iterator[Entry]]:
    keras.utils.set_random_seed(0)
    lists = {
        user: (
            np.array([data.grades.get(user, {}).get(item, 0) for item, _ in row], np.float32),
            np.array([score for _, score in row], np.float32),
        )
        for user, row in grouped(data.recs).items()
    }
    scope = {name: getattr(metrics, name) for name in KINDS}
    return scope | {"lists": lists, "fed": fed, "linear": lambda label: label}, entries(data)


def fed(metric: Any, lists: dict[str, tuple[Any, Any]]) -> float:
    for labels, scores in lists.values():
        metric.update_state(labels, scores)
    return float(metric.result())


def entries(data: Data) -> Iterator[Entry]:
    graded = any(grade > 1 for _, _, grade in data.truth)
    for name in KINDS:
        for k in (None, *CUTOFFS):
            for gain in ("", "linear") if graded and name in GAINS else ("",):
                chosen = {"gain_fn": gain} if gain else {}
                given = ", ".join(f"{key}={value}" for key, value in (({"k": k} if k else {}) | chosen).items())
                each = f"{{u: fed({name}({given}), {{u: each}}) for u, each in lists.items()}}"
                yield Entry(name, f"fed({name}({given}), lists)", k, chosen, each)
