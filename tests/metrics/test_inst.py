"""INST: worked values."""

from __future__ import annotations

import pytest

import atkay


def goes_on(rank: int, t: float, missing: float) -> float:
    return float(((rank - 1 + t + missing) / (rank + t + missing)) ** 2)


def test_by_hand() -> None:
    # t = 2; gains 1/4 and 1 at ranks 1 and 3: 7/4, 7/4 and 3/4 are still hoped for below ranks 1, 2 and 3.
    second = goes_on(1, 2, 7 / 4)
    third = second * goes_on(2, 2, 7 / 4)
    fourth = third * goes_on(3, 2, 3 / 4)
    specs = ["inst(t=2,highest=4)@3", "inst(t=2,highest=4)@4"]
    result = atkay.evaluate({1: ["a", "x", "b"]}, {1: {"a": 1, "b": 5}}, specs)
    assert result[specs[0]] == pytest.approx((1 / 4 + third) / (1 + second + third), abs=1e-15)
    assert result[specs[1]] == pytest.approx((1 / 4 + third) / (1 + second + third + fourth), abs=1e-15)


def test_finding_more_than_hoped_for() -> None:
    # t = 1/2, hits at 1 and 2: after the first, -1/2 is missing and the chance to go on is ((1/2 - 1/2) / 1)^2 = 0.
    assert atkay.evaluate({1: ["a", "b"]}, {1: ["a", "b"]}, "inst(t=0.5)@2")["inst(t=0.5)@2"] == 1


def test_an_uncut_list_never_ends() -> None:
    # t = 1, one hit at rank 1: rank r is read with chance 1 / r^2, in all pi^2 / 6.
    assert atkay.evaluate({1: ["a"]}, {1: ["a"]}, "inst")["inst"] == pytest.approx(6 / 3.141592653589793**2, abs=1e-15)


def test_a_user_without_a_hit_scores_0() -> None:
    assert atkay.evaluate({1: ["a"], 2: ["x"]}, {1: ["a"], 2: ["b"]}, "inst@5").per_query["inst@5"][1] == 0
