"""Scaled discounted cumulative gain: worked values."""

from __future__ import annotations

import math

import pytest

import atkay


def test_by_hand() -> None:
    # Grades 3 and 1 of 4 at ranks 1 and 3 of 4.
    discounts = [1 / math.log2(rank + 1) for rank in (1, 2, 3, 4)]
    result = atkay.evaluate({1: ["a", "x", "b", "y"]}, {1: {"a": 3, "b": 1}}, ["sdcg(highest=4)@3", "sdcg(highest=4)"])
    assert result["sdcg(highest=4)@3"] == pytest.approx((3 / 4 + 1 / 4 / 2) / sum(discounts[:3]), abs=1e-15)
    assert result["sdcg(highest=4)"] == pytest.approx((3 / 4 + 1 / 4 / 2) / sum(discounts), abs=1e-15)


def test_the_ideal_has_the_highest_grade_everywhere() -> None:
    # ndcg is 1: the truth has no more. Here ranks 2 and 3 are missed: 1 / (1 + 1 / log2(3) + 1 / 2).
    result = atkay.evaluate({1: ["a"]}, {1: ["a"]}, ["ndcg@3", "sdcg@3"])
    assert result["ndcg@3"] == 1
    assert result["sdcg@3"] == pytest.approx(1 / (1.5 + 1 / math.log2(3)), abs=1e-15)


def test_uncut_a_shorter_list_can_score_higher() -> None:
    truth = {1: {"a": 3, "b": 1}}
    short = atkay.evaluate({1: ["a"]}, truth, "sdcg(highest=4)")["sdcg(highest=4)"]
    long = atkay.evaluate({1: ["a", "b"]}, truth, "sdcg(highest=4)")["sdcg(highest=4)"]
    assert short == 3 / 4
    assert long == pytest.approx((3 / 4 + 1 / 4 / math.log2(3)) / (1 + 1 / math.log2(3)), abs=1e-15)
