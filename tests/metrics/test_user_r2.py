"""R², user by user: worked cases."""

from __future__ import annotations

import pytest

import atkay


def test_worked_case() -> None:
    # Ann's grades 4, 1 and 1 have the mean 2 and a spread of 4 + 1 + 1; her errors are 1, 1/2 and 0. Bob's are equal,
    # their mean is rounded.
    recs = {"ann": {"a": 5.0, "b": 1.5, "c": 1}, "bob": {"a": 1, "b": 2, "c": 3}}
    truth = {"ann": {"a": 4, "b": 1, "c": 1}, "bob": dict.fromkeys("abc", 0.1)}
    result = atkay.evaluate(recs, truth, "user_r2")
    assert result.per_query["user_r2"].to_list() == [pytest.approx(1 - (1 + 1 / 4) / 6), None]
    assert result.summaries["user_r2"].undefined == 1


def test_equal_grades() -> None:
    truth = {user: dict.fromkeys("abc", 0.1) for user in (1, 2, 3)}
    recs = {1: {"a": 1, "b": 2, "c": 3}, 2: truth[2], 3: {"a": 0.1}}
    result = atkay.evaluate(recs, truth, "user_r2(constant=zero)")
    assert result.per_query["user_r2(constant=zero)"].to_list() == [0, 1, None]
