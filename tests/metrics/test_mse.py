"""Mean squared error: worked cases, what counts as a prediction, and what is refused."""

from __future__ import annotations

import polars as pl
import pytest

import atkay
from atkay.errors import InputError, SkippedWarning

RECS = {"ann": {"a": 5.0, "b": 2.0, "z": 9.0}, "bob": {"a": 3.5}}
TRUTH = {"ann": {"a": 4, "b": 4, "c": 1}, "bob": {"a": 3}}


def test_worked_case() -> None:
    # Errors are 1 and -2 for ann, 1/2 for bob; ann's z has no grade and her c no prediction.
    result = atkay.evaluate(RECS, TRUTH, ["mse", "mse(average=users)"])
    assert result["mse"] == pytest.approx((1 + 4 + 1 / 4) / 3)
    assert result["mse(average=users)"] == pytest.approx(((1 + 4) / 2 + 1 / 4) / 2)
    assert result.per_query["mse"].to_list() == [2.5, 0.25]


def test_a_grade_of_zero_and_below_counts() -> None:
    # (1/2 - 0)² and (1/2 + 1)² next to (1/2 - 1)².
    recs, truth = {1: {"a": 0.5, "b": 0.5, "c": 0.5}}, {1: {"a": 0, "b": -1, "c": 1}}
    assert atkay.evaluate(recs, truth, "mse")["mse"] == pytest.approx((1 / 4 + 9 / 4 + 1 / 4) / 3)
    assert atkay.evaluate(recs, truth, "mse", negative="unjudged")["mse"] == pytest.approx((1 / 4 + 1 / 4) / 2)


def test_equal_scores_and_thresholds_change_nothing() -> None:
    recs, truth = {1: {"a": 2, "b": 2, "c": 1}}, {1: {"a": 1, "b": 4, "c": 3}}
    for ties in ("given", "worst", "expected", "together"):
        assert atkay.evaluate(recs, truth, "mse", ties=ties, min_relevance=3)["mse"] == pytest.approx((1 + 4 + 4) / 3)


def test_scores_beside_ranks() -> None:
    frame = pl.DataFrame({"user": [1, 1], "item": ["a", "b"], "rank": [1, 2], "score": [3.0, 1.0]})
    assert atkay.evaluate(frame, {1: {"a": 1, "b": 2}}, "mse")["mse"] == pytest.approx((4 + 1) / 2)


def test_lists_without_scores_are_refused() -> None:
    with pytest.raises(InputError, match="recs: has no scores, which mse compares") as raised:
        atkay.evaluate({1: ["a", "b"]}, {1: {"a": 3}}, "mse")
    assert "Add a column of scores" in str(raised.value)


def test_users_that_are_left_out_are_named() -> None:
    recs, truth = {1: {"a": 0.9}, 2: {"a": 0.9}}, {1: {"a": 1}, 2: {"a": 0}}
    with pytest.warns(SkippedWarning, match="1 user without a relevant item left out: .* mse should count"):
        assert atkay.evaluate(recs, truth, "mse")["mse"] == pytest.approx(0.01)
    assert atkay.evaluate(recs, truth, "mse", no_truth="zero")["mse"] == pytest.approx((0.01 + 0.81) / 2)
    assert atkay.evaluate(recs, truth, "mse", no_truth="judged")["mse"] == pytest.approx((0.01 + 0.81) / 2)
