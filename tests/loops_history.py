"""What users had, and what is expected: one user in plain lists, and data to try metrics on."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import atkay
from atkay.core.types import WHOLE
from variants import every_variant

NAN = math.nan
ITEMS = list(range(8))
some_lists = st.lists(st.permutations(ITEMS).flatmap(lambda o: st.integers(0, 6).map(lambda n: o[:n])), min_size=4)
VECTORS = {0: (1.0, 0.0), 1: (0.0, 2.0), 2: (3.0, 4.0), 3: (-1.0, 1.0), 4: (0.0, 0.0), 6: (-2.0, -1.0)}
CATALOG = [0, 1, 2, 3, 4, 5]
tables = given(recs=some_lists, truth=some_lists, reference=some_lists, train=some_lists)


def values(recs: Any, truth: Any, spec: str, **side: Any) -> list[float]:
    """The value of each user, in the order of their names."""
    found: list[float] = atkay.evaluate(recs, truth, spec, no_truth="zero", **side).query_values[:, 0].tolist()
    return found


class User:
    """What is known of one user, in plain lists."""

    def __init__(self, listed: list[int], relevant: list[int], base: list[int], had: list[int], train: list[list[int]]):
        self.listed, self.relevant, self.base, self.had = listed, relevant, base, had
        self.train = [items for items in train if items]
        self.n = {item: sum(item in items for items in self.train) for item in ITEMS}
        self.pairs = sum(self.n.values())

    def bits(self, item: int, of: str) -> float:
        return math.log2((len(self.train) if of == "users" else self.pairs) / max(self.n[item], 1))

    def cosine(self, i: int, j: int, similarity: str) -> float:
        if similarity == "shared":
            both = sum(i in items and j in items for items in self.train)
            return both / math.sqrt(self.n[i] * self.n[j]) if both else 0.0
        a, b = VECTORS.get(i, (0.0, 0.0)), VECTORS.get(j, (0.0, 0.0))
        lengths = math.hypot(*a) * math.hypot(*b)
        return (a[0] * b[0] + a[1] * b[1]) / lengths if lengths else 0.0


def mean(numbers: list[float]) -> float:
    return sum(numbers) / len(numbers) if numbers else NAN


Oracle = Callable[[Any, User, list[int], int], float]


def check(
    name: str, oracle: Oracle, *, recs: Any, truth: Any, reference: list[list[int]], train: list[list[int]]
) -> None:
    """Every variant of the metric comes to what the oracle says; it takes metric, user, top k and k."""
    metrics = [metric for metric in every_variant(None, 1, 3) if metric.name == name]
    recs, truth = [[0], *recs], [[0], *truth]
    # One more list each, so that there is always something to read.
    reference, train = [*reference, [1, 0]], [*train, [1, 6]]
    rows = {"recs": recs, "truth": truth, "reference": reference, "train": train}
    users = {table: {user: items for user, items in enumerate(each) if items} for table, each in rows.items()}
    result = atkay.evaluate(
        users["recs"],
        users["truth"],
        metrics,
        no_truth="zero",
        no_recs="zero",
        reference=users["reference"],
        train=users["train"],
        catalog=CATALOG,
        features=pl.DataFrame({"item": list(VECTORS), "v": list(VECTORS.values())}),
    )
    names = result.ids["user"].to_list()
    assert names == sorted(users["recs"] | users["truth"])
    for row, user in zip(result.query_values.tolist(), names, strict=True):
        listed, relevant, base, had = (users[table].get(user, []) for table in rows)
        one = User(listed, relevant, base, had, train)
        for value, metric in zip(row, metrics, strict=True):
            k = metric.cutoffs[0]
            expected = oracle(metric, one, listed[:k], len(listed) if k == WHOLE else k)
            expected = 0.0 if metric.needs_truth and not relevant else expected  # as the protocol says
            assert value == pytest.approx(expected, abs=1e-12, nan_ok=True), (metric, user)
