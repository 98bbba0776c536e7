"""Precision: worked cases."""

from __future__ import annotations

import pytest

import atkay


def test_textbook_precision_is_relevant_retrieved_over_retrieved() -> None:
    result = atkay.evaluate({1: ["a", "x", "b"]}, {1: ["a", "b"]}, ["precision(per=listed)", "precision@10"])
    assert result["precision(per=listed)"] == pytest.approx(2 / 3)
    assert result["precision@10"] == pytest.approx(2 / 10)


@pytest.mark.parametrize(
    ("spec", "value"),
    [
        # Hits at ranks 1 and 3 of a list of 3; two relevant items.
        ("precision@1", 1 / 1),
        ("precision@2", 1 / 2),
        ("precision@5", 2 / 5),
        ("precision(per=listed)@5", 2 / 3),
        ("precision(per=capped)@5", 2 / min(5, 2)),
        ("precision(per=capped)@1", 1 / min(1, 2)),
        ("precision(per=possible)", 2 / min(3, 2)),
        ("precision(per=possible)@1", 1 / min(1, 2)),
    ],
)
def test_worked_cases(spec: str, value: float) -> None:
    assert atkay.evaluate({1: ["a", "x", "b"]}, {1: ["a", "b"]}, spec)[spec] == pytest.approx(value)
