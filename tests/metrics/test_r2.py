"""R² of all ratings: worked cases."""

from __future__ import annotations

import math

import pytest

import atkay


def test_worked_case() -> None:
    # Grades 4, 1 and -2 have the mean 1 and a spread of 9 + 0 + 9; errors are 1, 1/2 and 2.
    recs, truth = {1: {"a": 5.0, "b": 1.5}, 2: {"a": 0}}, {1: {"a": 4, "b": 1}, 2: {"a": -2, "b": 1}}
    assert atkay.evaluate(recs, truth, "r2")["r2"] == pytest.approx(1 - (1 + 1 / 4 + 4) / 18)


def test_the_mean_explains_nothing_and_truth_everything() -> None:
    truth = {1: {"a": 1, "b": 2}, 2: {"a": 3}}
    for score, value in (({1: {"a": 2, "b": 2}, 2: {"a": 2}}, 0.0), (truth, 1.0)):
        assert atkay.evaluate(score, truth, "r2")["r2"] == value


def test_equal_grades() -> None:
    # Their mean is rounded; their spread is 0 all the same.
    grades = dict.fromkeys("abc", 0.1)
    wrong, right = {1: {"a": 1, "b": 2, "c": 3}}, {1: grades}
    specs = ["r2", "r2(constant=zero)"]
    for recs, values in ((wrong, [math.nan, 0]), (right, [math.nan, 1]), ({1: {"a": 0.1}}, [math.nan, math.nan])):
        found = atkay.evaluate(recs, {1: grades}, specs).means.values()
        assert list(found) == pytest.approx(values, nan_ok=True)
