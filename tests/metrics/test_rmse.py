"""Root mean squared error of all predictions: worked cases, and sums without rounding."""

from __future__ import annotations

import math

import numpy as np
import pytest

import atkay


def test_worked_case() -> None:
    # Errors are 1 and -2 for ann, 1/2 for bob; cat's list has nothing that she rated.
    recs = {"ann": {"a": 5.0, "b": 2.0}, "bob": {"a": 3.5}, "cat": {"a": 1}}
    truth = {"ann": {"a": 4, "b": 4, "c": 1}, "bob": {"a": 3}, "cat": {"b": 5}}
    result = atkay.evaluate(recs, truth, "rmse", slices={"ann": "x", "bob": "y", "cat": "y"})
    assert result["rmse"] == pytest.approx(math.sqrt((1 + 4 + 1 / 4) / 3))
    assert (result.summaries["rmse"].users, result.summaries["rmse"].undefined) == (2, 1)
    of_segments = result.slices.filter(metric="rmse").select("segment", "mean").rows()
    assert of_segments == [("x", pytest.approx(math.sqrt(5 / 2))), ("y", pytest.approx(1 / 2))]


def test_nothing_to_compare() -> None:
    assert math.isnan(atkay.evaluate({1: {"a": 1}}, {1: {"b": 1}, 2: {"a": 1}}, "rmse", min_relevance=1)["rmse"])


def test_large_and_small_errors_add_up_exactly() -> None:
    # 1e16 and one thousand times 1: in floats, one by one, the latter would be lost.
    recs = {1: {0: 1e8} | dict.fromkeys(range(1, 1001), 1.0)}
    truth = {1: dict.fromkeys(range(1001), 0) | {2000: 1}}
    assert atkay.evaluate(recs, truth, "rmse")["rmse"] == math.sqrt((10**16 + 1000) / 1001)


def test_streams_merge_to_the_same_bytes() -> None:
    """0.1² has a sum of many digits, so that the digits of parts carry."""
    scores, grades = np.linspace(-0.3, 0.9, 40).reshape(20, 2), np.arange(60.0).reshape(20, 3) % 7 + 1
    metrics = ["rmse", "r2", "ece(of=logits)", "row_auc"]

    def stream(*parts: slice) -> atkay.Stream:
        whole = atkay.Stream(metrics, n_items=3, no_truth="zero")
        for users in parts:
            part = atkay.Stream(metrics, n_items=3, no_truth="zero")
            part.update(np.tile([[0, 1]], (20, 1))[users], grades[users], scores=scores[users])
            whole.merge(part.to_bytes())
        return whole

    whole = stream(slice(0, 20))
    assert stream(slice(7, 20), slice(2, 7), slice(0, 2)).to_bytes() == whole.to_bytes()
    errors = (scores - grades[:, :2]).ravel()
    assert whole.compute()["rmse"] == pytest.approx(math.sqrt(errors @ errors / 40))
