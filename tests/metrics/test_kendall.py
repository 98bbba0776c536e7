"""Kendall's rank correlation: worked values."""

from __future__ import annotations

import math
import random

import pytest
from scipy.stats import kendalltau

import atkay

RECS, TRUTH = {1: ["a", "x", "b", "c", "d"]}, {1: {"a": 2, "b": 3, "c": 0, "d": 2}}
"""The grades are 2, 3, 0, 2, x not counting: 2-0, 3-0 and 3-2 agree, 2-3 and 0-2 do not, 2-2 is even; n = 4."""


@pytest.mark.parametrize(
    ("spec", "value"),
    [
        ("kendall", 1 / math.sqrt(6 * 5)),
        ("kendall(form=a)", 1 / 6),
        ("kendall(form=gamma)", 1 / 5),
        ("kendall@4", (2 - 1) / 3),
        ("kendall@3", -1.0),
    ],
)
def test_by_hand(spec: str, value: float) -> None:
    assert atkay.evaluate(RECS, TRUTH, spec)[spec] == pytest.approx(value, abs=1e-15)


def test_it_is_that_of_scipy() -> None:
    rng = random.Random(3)
    truth = {user: {item: rng.choice([0.0, 0.5, 1.0, 2.0, 7.5]) for item in range(12)} for user in range(20)}
    recs = {user: rng.sample(range(15), 14) for user in truth}
    found = atkay.evaluate(recs, truth, "kendall").per_query["kendall"]
    for user, value in enumerate(found):
        grades = [truth[user][item] for item in recs[user] if item in truth[user]]
        assert value == pytest.approx(kendalltau(range(len(grades), 0, -1), grades).statistic, abs=1e-14)


def test_without_two_grades_there_is_no_value() -> None:
    recs, truth = {1: ["a", "b"], 2: ["a", "b"]}, {1: {"a": 1, "b": 1}, 2: {"a": 2, "b": 1}}
    assert atkay.evaluate(recs, truth, "kendall").summaries["kendall"].undefined == 1
