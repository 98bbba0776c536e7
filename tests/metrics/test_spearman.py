"""Spearman's rank correlation: worked values."""

from __future__ import annotations

import math
import random

import pytest
from scipy.stats import spearmanr

import atkay


def test_by_hand() -> None:
    # Places 1, 2, 3, 4; by the grades 2, 3, 0, 2 they are 2.5, 1, 4, 2.5. Away from 2.5: -1.5, -0.5, 0.5, 1.5 and
    # 0, -1.5, 1.5, 0.
    recs, truth = {1: ["a", "x", "b", "c", "d"]}, {1: {"a": 2, "b": 3, "c": 0, "d": 2}}
    result = atkay.evaluate(recs, truth, ["spearman", "spearman@3"])
    assert result["spearman"] == pytest.approx((0.75 + 0.75) / math.sqrt(5 * 4.5), abs=1e-15)
    assert result["spearman@3"] == -1


def test_it_is_that_of_scipy() -> None:
    rng = random.Random(4)
    truth = {user: {item: rng.choice([0.0, 0.5, 1.0, 2.0, 7.5]) for item in range(12)} for user in range(20)}
    recs = {user: rng.sample(range(15), 14) for user in truth}
    found = atkay.evaluate(recs, truth, "spearman").per_query["spearman"]
    for user, value in enumerate(found):
        grades = [truth[user][item] for item in recs[user] if item in truth[user]]
        assert value == pytest.approx(spearmanr(range(len(grades), 0, -1), grades).statistic, abs=1e-14)


def test_without_two_grades_there_is_no_value() -> None:
    recs, truth = {1: ["a", "b"], 2: ["a", "b"]}, {1: {"a": 1, "b": 1}, 2: {"a": 2, "b": 1}}
    assert atkay.evaluate(recs, truth, "spearman").summaries["spearman"].undefined == 1
