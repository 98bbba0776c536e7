"""Mean absolute error: worked cases."""

from __future__ import annotations

import pytest

import atkay


def test_worked_case() -> None:
    # Errors are 1 and -2 for ann, 1/2 for bob; cat's list has nothing that she rated.
    recs = {"ann": {"a": 5.0, "b": 2.0}, "bob": {"a": 3.5}, "cat": {"a": 1}}
    truth = {"ann": {"a": 4, "b": 4, "c": 1}, "bob": {"a": 3}, "cat": {"b": 5}}
    result = atkay.evaluate(recs, truth, ["mae", "mae(average=users)"])
    assert result["mae"] == pytest.approx((1 + 2 + 1 / 2) / 3)
    assert result["mae(average=users)"] == pytest.approx(((1 + 2) / 2 + 1 / 2) / 2)
    assert result.summaries["mae"].undefined == result.summaries["mae(average=users)"].undefined == 1
