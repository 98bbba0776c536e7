"""F1: worked cases."""

from __future__ import annotations

import pytest

import atkay


@pytest.mark.parametrize(
    ("spec", "value"),
    [
        # Two hits in the top 4, three relevant items: P = 1/2, R = 2/3.
        ("f1@4", 2 * (1 / 2) * (2 / 3) / (1 / 2 + 2 / 3)),
        ("f1(beta=2)@4", 5 * (1 / 2) * (2 / 3) / (4 * (1 / 2) + 2 / 3)),
        ("f1(beta=0.5)@4", 1.25 * (1 / 2) * (2 / 3) / (0.25 * (1 / 2) + 2 / 3)),
    ],
)
def test_worked_cases(spec: str, value: float) -> None:
    result = atkay.evaluate({1: ["a", "x", "b", "y"]}, {1: ["a", "b", "c"]}, spec)
    assert result[spec] == pytest.approx(value)


def test_pooled_puts_the_sums_into_the_formula() -> None:
    # One hit in two places of three relevant items, none in two places of one: 2 * 1 / (4 + 4).
    spec = "f1(average=pooled)@2"
    result = atkay.evaluate({1: ["a", "x"], 2: ["x", "y"]}, {1: ["a", "b", "c"], 2: ["a"]}, spec)
    assert result[spec] == pytest.approx(2 * 1 / ((3 + 1) + (2 + 2)))
