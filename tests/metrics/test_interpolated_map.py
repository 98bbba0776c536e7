"""Interpolated average precision: worked cases."""

from __future__ import annotations

import pytest

import atkay
from atkay.errors import SpecError


def test_worked_cases() -> None:
    # Hits at ranks 1 and 4 of two relevant items: precision 1 up to a recall of 0.5 (0, 0.1, ..., 0.5), then 2/4.
    recs, truth = {1: ["a", "x", "y", "b"]}, {1: ["a", "b"]}
    result = atkay.evaluate(recs, truth, ["interpolated_map", "interpolated_map(points=3)", "11pt_avg"])
    assert list(result.values()) == pytest.approx([(6 * 1 + 5 * 2 / 4) / 11, (1 + 1 + 2 / 4) / 3])


def test_rounding() -> None:
    # Three relevant items, the first at rank 2 and the second at rank 3: the best precision is 2/3, down to the second.
    # Levels 0, 1/2 and 1 are 0, 1.5 and 3 items; the third item is missing. 1.5 is 2, rounded in either way.
    recs, truth = {1: ["x", "a", "b"]}, {1: ["a", "b", "c"]}
    for rounding in ("up", "from_tenth", "nearest"):
        spec = f"interpolated_map(points=3,rounding={rounding})"
        assert list(atkay.evaluate(recs, truth, [spec]).values()) == pytest.approx([(2 / 3 + 2 / 3 + 0) / 3])
    # Of 11 levels 0 to 0.6 are up to 1.8 items; 0.7 is 2.1 items: 3, or 2 where it is rounded to the nearest.
    result = atkay.evaluate(recs, truth, ["interpolated_map", "interpolated_map(rounding=nearest)"])
    assert list(result.values()) == pytest.approx([7 * 2 / 3 / 11, 9 * 2 / 3 / 11])


def test_levels_of_recall() -> None:
    # Of four relevant items two are listed, at ranks 2 and 3: up to a recall of 1/2 the best precision is 2/3.
    recs, truth = {1: ["x", "a", "b"]}, {1: ["a", "b", "c", "d"]}
    metric = atkay.InterpolatedMAP(points=[0.75, 0.25, 0.5])
    assert str(metric) == "interpolated_map(points={0.25,0.5,0.75})"
    assert atkay.parse(str(metric)) == metric
    assert atkay.evaluate(recs, truth, metric)[str(metric)] == pytest.approx((2 / 3 + 2 / 3 + 0) / 3)
    assert metric.define().formula.startswith("(1/3)")
    assert "the levels {0.25,0.5,0.75} of recall" in metric.define().words


def test_refuses() -> None:
    for points in ("{0.5,1.2}", "{}", "{a}"):
        with pytest.raises(SpecError, match=r"or levels of recall from 0 to 1, such as points=\{0.2,0.5,0.8\}"):
            atkay.parse(f"interpolated_map(points={points})")
    for points in ("1", "2.5", "1002"):
        with pytest.raises(SpecError, match="points must be an integer from 2 to 1001"):
            atkay.parse(f"interpolated_map(points={points})")
