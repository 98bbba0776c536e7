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
