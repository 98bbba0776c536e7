"""INSQ: worked values."""

from __future__ import annotations

import math

import pytest

import atkay


def test_by_hand() -> None:
    # t = 1: ranks 1, 2, 3 are read with chance 1, (2/3)^2, (2/4)^2; hits at 2 and 3.
    read = 1 + 4 / 9 + 1 / 4
    result = atkay.evaluate({1: ["x", "a", "b"]}, {1: ["a", "b"]}, ["insq@3", "insq@2"])
    assert result["insq@3"] == pytest.approx((4 / 9 + 1 / 4) / read, abs=1e-15)
    assert result["insq@2"] == pytest.approx((4 / 9) / (1 + 4 / 9), abs=1e-15)


def test_a_grade_counts_as_its_share_of_the_highest() -> None:
    # t = 2: ranks 1 and 2 with chance 1 and (4/5)^2; the gains are 1/4 and, for a grade of 9, 1.
    result = atkay.evaluate({1: ["a", "b"]}, {1: {"a": 1, "b": 9}}, "insq(t=2,highest=4)@2")
    assert result["insq(t=2,highest=4)@2"] == pytest.approx((1 / 4 + 16 / 25) / (1 + 16 / 25), abs=1e-15)


def test_an_uncut_list_never_ends() -> None:
    # t = 1/2: the chances are 1 / r^2, which add up to pi^2 / 6; t = 1: 4 (pi^2 / 6 - 1).
    result = atkay.evaluate({1: ["a"]}, {1: ["a"]}, ["insq(t=0.5)", "insq"])
    assert result["insq(t=0.5)"] == pytest.approx(6 / math.pi**2, abs=1e-15)
    assert result["insq"] == pytest.approx(1 / (4 * (math.pi**2 / 6 - 1)), abs=1e-15)


def test_a_user_without_a_hit_scores_0() -> None:
    assert atkay.evaluate({1: ["a"], 2: ["x"]}, {1: ["a"], 2: ["b"]}, "insq").per_query["insq"][1] == 0
