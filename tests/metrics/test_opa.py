"""Ordered pair accuracy: worked values."""

from __future__ import annotations

import pytest

import atkay

RECS, TRUTH = {1: ["b", "x", "a", "y", "c"]}, {1: {"a": 3, "b": 1, "c": 1}}
"""The grades are 1, 0, 3, 0, 1: b-x, b-y, a-y and a-c are in the right order, b-a, x-a, x-c and y-c are not."""


@pytest.mark.parametrize(("spec", "value"), [("opa", 4 / 8), ("opa@3", 1 / 3), ("opa@4", 3 / 5), ("opa@2", 1.0)])
def test_by_hand(spec: str, value: float) -> None:
    assert atkay.evaluate(RECS, TRUTH, spec)[spec] == value


def test_pairs_are_pooled_or_users_averaged() -> None:
    result = atkay.evaluate(RECS | {2: ["x", "a"]}, TRUTH | {2: {"a": 1}}, ["opa", "opa(average=pooled)"])
    assert result["opa"] == (4 / 8 + 0) / 2
    assert result["opa(average=pooled)"] == 4 / 9


def test_without_two_grades_there_is_no_value() -> None:
    result = atkay.evaluate({1: ["a"], 2: ["a", "x"]}, {1: ["a"], 2: ["a"]}, "opa")
    assert result["opa"] == 1
    assert result.summaries["opa"].undefined == 1


def test_on_truth_without_grades_it_is_the_auc_of_what_is_listed() -> None:
    recs, truth = {1: ["x", "a", "y", "b", "c"], 2: ["a", "x"]}, {1: ["a", "b", "c", "d"], 2: ["a"]}
    result = atkay.evaluate(recs, truth, ["opa", "auc(unlisted=skip)"])
    assert result["opa"] == result["auc(unlisted=skip)"]
