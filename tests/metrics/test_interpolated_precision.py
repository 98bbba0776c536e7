"""Interpolated precision: worked cases."""

from __future__ import annotations

import pytest

import atkay
from atkay.errors import SpecError

# Hits at ranks 2, 3 and 6 of four relevant items; precisions 1/2, 2/3, 3/6.
RECS, TRUTH = {1: ["x", "a", "b", "y", "z", "c"]}, {1: ["a", "b", "c", "d"]}


@pytest.mark.parametrize(
    ("recall", "value"), [(0, 2 / 3), (0.25, 2 / 3), (0.5, 2 / 3), (0.51, 3 / 6), (0.75, 3 / 6), (0.76, 0), (1, 0)]
)
def test_worked_cases(recall: float, value: float) -> None:
    metric = atkay.InterpolatedPrecision(recall=recall)
    assert atkay.evaluate(RECS, TRUTH, metric)[str(metric)] == pytest.approx(value)


@pytest.mark.parametrize(
    ("recall", "up", "from_tenth", "nearest"),
    [
        # 0.52 · 4 = 2.08 relevant items: 3, or 2 as the rest is below a tenth, or 2.
        (0.52, 3 / 6, 2 / 3, 2 / 3),
        # 0.6 · 4 = 2.4: 3, 3, or 2.
        (0.6, 3 / 6, 3 / 6, 2 / 3),
        # 0.625 · 4 = 2.5: 3 everywhere.
        (0.625, 3 / 6, 3 / 6, 3 / 6),
    ],
)
def test_how_many_items_make_a_level(recall: float, up: float, from_tenth: float, nearest: float) -> None:
    for rounding, value in (("up", up), ("from_tenth", from_tenth), ("nearest", nearest)):
        spec = f"interpolated_precision(recall={recall},rounding={rounding})"
        assert atkay.evaluate(RECS, TRUTH, [spec])[spec.replace(",rounding=up", "")] == pytest.approx(value)


def test_products_a_little_above_a_whole_number() -> None:
    # 0.07 · 100 = 7.000000000000001 in floating point: 7 of 100 items are enough.
    recs, truth = {1: list(range(7))}, {1: list(range(100))}
    assert atkay.evaluate(recs, truth, "iprec(recall=0.07)")["interpolated_precision(recall=0.07)"] == 1


def test_refuses() -> None:
    with pytest.raises(SpecError, match="recall must be a number from 0 to 1"):
        atkay.parse("iprec(recall=1.5)")
    with pytest.raises(SpecError, match="takes no cutoff"):
        atkay.parse("iprec@5")
