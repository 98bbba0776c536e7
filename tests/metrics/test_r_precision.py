"""R-precision: worked cases."""

from __future__ import annotations

import pytest

import atkay
from atkay.errors import SpecError


@pytest.mark.parametrize(
    ("listed", "relevant", "value"),
    [("axyb", "abc", 1 / 3), ("abx", "ab", 2 / 2), ("xab", "ab", 1 / 2), ("x", "a", 0 / 1), ("a", "ab", 1 / 2)],
)
def test_worked_cases(listed: str, relevant: str, value: float) -> None:
    # User 2 keeps an item in common.
    recs, truth = {1: list(listed), 2: ["a"]}, {1: list(relevant), 2: ["a"]}
    assert atkay.evaluate(recs, truth, "r_precision").per_query["r_precision"][0] == pytest.approx(value)


def test_takes_no_cutoff() -> None:
    with pytest.raises(SpecError, match="r_precision takes no cutoff"):
        atkay.parse("r_precision@5")


@pytest.mark.parametrize(
    ("multiple", "places"),
    # Of five relevant items 0.5 · 5 = 2.5 makes 3 places, 0.41 · 5 = 2.05 makes 2, and 0.01 · 5 none.
    [(0.5, 3), (0.41, 2), (0.01, 0), (1.4, 7), (3, 15)],
)
def test_multiples(multiple: float, places: int) -> None:
    listed = ["a", "x", "y", "b", "z", "u", "c", "v"]
    metric = atkay.RPrecision(multiple=multiple)
    value = sum(item in "abc" for item in listed[:places]) / places if places else 0
    assert atkay.evaluate({1: listed}, {1: list("abcde")}, metric)[str(metric)] == pytest.approx(value)
