"""User coverage: worked cases, and plain loops."""

from __future__ import annotations

import pytest
from hypothesis import given

import atkay
from loops_runs import Recs, anchored, at, cutoffs, lists


def test_user_coverage() -> None:
    recs = {"a": [1, 2, 3], "b": [1], "c": [9], "d": [1, 2]}
    truth = {user: [1] for user in "abcde"}  # e has no list, that of c is emptied
    specs = ["user_coverage@2", "user_coverage", "user_coverage(count=full)@1,2,3", "user_coverage(count=full)"]
    result = atkay.evaluate(recs, truth, specs, exclude={"c": [9]})
    assert list(result.values()) == [3 / 5, 3 / 5, 3 / 5, 2 / 5, 1 / 5, 3 / 5]
    assert result.per_query["user_coverage@2"].to_list() == [1, 1, 0, 1, 0]
    skipped = atkay.evaluate(recs, truth, specs, exclude={"c": [9]}, no_recs="skip")
    assert skipped["user_coverage@2"] == 3 / 4  # e is not evaluated
    # A user without truth who is evaluated has a list all the same.
    assert atkay.evaluate(recs, {"a": [1], "b": [1]}, "user_coverage", no_truth="zero")["user_coverage"] == 1


@given(recs=lists, k=cutoffs)
def test_user_coverage_by_counting(recs: Recs, k: int | None) -> None:
    recs = anchored(recs)
    truth = {user: [0] for user in (*range(8), 99)}
    result = atkay.evaluate(recs, truth, [at("user_coverage", k), at("user_coverage(count=full)", k)])
    full = [user for user, items in recs.items() if len(items) >= (k or 1)]
    assert list(result.values()) == [pytest.approx(len(recs) / 9), pytest.approx(len(full) / 9)]
