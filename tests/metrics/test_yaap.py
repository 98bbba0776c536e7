"""Yet another average precision: worked cases."""

from __future__ import annotations

import math

import pytest

import atkay


@pytest.mark.parametrize(
    ("listed", "spec", "value"),
    [
        # Hits at ranks 1 and 3 of three relevant items: S = 1/1 + 2/3.
        ("axb", "yaap", math.log((1 + 5 / 3) / (1 + 3 - 5 / 3))),
        ("axb", "yaap@1", math.log((1 + 1) / (1 + 3 - 1))),
        ("abc", "yaap", math.log(4 / 1)),
        ("x", "yaap", math.log(1 / 4)),
    ],
)
def test_worked_cases(listed: str, spec: str, value: float) -> None:
    recs = {1: list(listed), 2: ["a"]}  # user 2 keeps an item in common
    result = atkay.evaluate(recs, {1: ["a", "b", "c"], 2: ["a"]}, spec)
    assert result.per_query[spec][0] == pytest.approx(value)


def test_rounding_does_not_pass_a_perfect_list() -> None:
    truth = {1: list(range(49))}
    assert atkay.evaluate(truth, truth, "yaap")["yaap"] == pytest.approx(math.log(50))
