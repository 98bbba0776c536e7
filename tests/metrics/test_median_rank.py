"""Median rank: worked values, and plain loops."""

from __future__ import annotations

import itertools
import math
import statistics

import pytest
from hypothesis import given

import atkay
from atkay.metrics.spec import parse
from variants import ListsAndGrades, anchored, lists_and_grades


@given(lists_and_grades)
def test_against_plain_loops(users: ListsAndGrades) -> None:
    recs, truth = anchored(users)
    for missed, k in itertools.product(("beyond", "last", "skip"), (None, 1, 3)):
        ranks: list[float] = []
        for user, listed in recs.items():
            hits = [rank for rank, item in enumerate(listed[:k], 1) if truth[user].get(item)]
            last = k + 1 if k else len(listed) + 1 if listed else math.inf
            ranks += hits[:1] or {"beyond": [math.inf], "last": [last], "skip": []}[missed]
        median = statistics.median(ranks) if ranks else math.inf
        spec = str(parse(f"median_rank(missed={missed})" + ("" if k is None else f"@{k}")))
        value = atkay.evaluate(recs, truth, spec)[spec]
        assert math.isnan(value) if math.isinf(median) else value == median


def test_median_rank_by_hand() -> None:
    recs = {1: ["a"], 2: ["x", "a"], 3: ["x", "y", "z"], 4: ["x", "y", "a"]}
    truth = {1: ["a"], 2: ["a"], 3: ["a"], 4: ["a"]}
    specs = ["median_rank", "median_rank(missed=last)", "median_rank(missed=skip)", "median_rank@2"]
    specs += ["median_rank(missed=last)@2", "median_rank(missed=skip)@1", "median_rank(missed=last)@10"]
    result = atkay.evaluate(recs, truth, specs)
    # Ranks 1, 2, 3 and a miss. The middle of 1 2 3 miss is (2 + 3) / 2, of 1 2 3 it is 2; at 2: 1, 2, miss, miss.
    assert [result[spec] for spec in specs] == pytest.approx([2.5, 2.5, 2, math.nan, (2 + 3) / 2, 1, 2.5], nan_ok=True)
    # Without Bob: 1, 3, and the miss at 4 below a list of three, or at 11 below ten places.
    del recs[1], recs[2], truth[1], truth[2]
    result = atkay.evaluate(recs, truth, ["median_rank(missed=last)", "median_rank(missed=last)@10"])
    assert list(result.to_dict().values()) == [(3 + 4) / 2, (3 + 11) / 2]


def test_an_empty_list_does_not_rank_first() -> None:
    truth = {1: ["a"], 2: ["a"], 3: ["a"]}
    assert math.isnan(atkay.evaluate({1: ["a"]}, truth, "median_rank(missed=last)")["median_rank(missed=last)"])
