"""Root mean squared error, user by user: worked cases."""

from __future__ import annotations

import math

import pytest

import atkay


def test_worked_case() -> None:
    # Errors are 1 and -2 for ann, 1/2 for bob; cat's list has nothing that she rated.
    recs = {"ann": {"a": 5.0, "b": 2.0}, "bob": {"a": 3.5}, "cat": {"a": 1}}
    truth = {"ann": {"a": 4, "b": 4, "c": 1}, "bob": {"a": 3}, "cat": {"b": 5}}
    result = atkay.evaluate(recs, truth, "user_rmse")
    assert result.per_query["user_rmse"].to_list() == [pytest.approx(math.sqrt(5 / 2)), 0.5, None]
    assert result["user_rmse"] == pytest.approx((math.sqrt(5 / 2) + 1 / 2) / 2)
