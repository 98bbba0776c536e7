"""nDCG where the ideal list changes its grade: worked cases."""

from __future__ import annotations

from math import log2

import pytest

import atkay

# The ideal gains are 3, 1, 1: nDCG is taken at 1 and at 3.
TRUTH = {1: {"a": 3, "b": 1, "c": 1, "x": 0}}
IDEAL = 3 + 1 / log2(3) + 1 / 2


@pytest.mark.parametrize(
    ("listed", "value"),
    [
        # At 1: 1/3; at 3: b and a at ranks 1 and 3.
        ("bxa", (1 / 3 + (1 + 3 / 2) / IDEAL) / 2),
        # A list that ends early has what it has.
        ("b", (1 / 3 + 1 / IDEAL) / 2),
        # One place more than there are relevant items changes nothing, two places add the nDCG of the whole list.
        ("bxay", (1 / 3 + (1 + 3 / 2) / IDEAL) / 2),
        ("bxayc", (1 / 3 + (1 + 3 / 2) / IDEAL + (1 + 3 / 2 + 1 / log2(6)) / IDEAL) / 3),
        ("yz", 0.0),
    ],
)
def test_worked_cases(listed: str, value: float) -> None:
    recs = {1: list(listed), 2: ["a"]}  # user 2 keeps an item in common
    assert atkay.evaluate(recs, TRUTH | {2: {"a": 1}}, "rndcg").per_query["rndcg"][0] == pytest.approx(value)


def test_binary_gains_are_one_level() -> None:
    # b and a at ranks 1 and 3 of three relevant items: (1 + 1/2) / (1 + 1/log2(3) + 1/2), at 3 alone.
    result = atkay.evaluate({1: ["b", "x", "a"]}, TRUTH, "rndcg(gain=binary)")
    assert result["rndcg(gain=binary)"] == pytest.approx(1.5 / (1.5 + 1 / log2(3)))


def test_every_grade_counts_unless_nothing_is_relevant() -> None:
    # From grade 2 on user 2 has no relevant item and scores 0; user 1 has one, and all grades are gains.
    truth = TRUTH | {2: {"a": 1, "x": 0}}
    recs = {1: ["b", "x", "a"], 2: ["a"]}
    result = atkay.evaluate(recs, truth, "rndcg", min_relevance=2, gains="positive", no_truth="zero")
    assert result.per_query["rndcg"].to_list() == pytest.approx([(1 / 3 + (1 + 3 / 2) / IDEAL) / 2, 0])


def test_grades_of_one_gain_are_one_level() -> None:
    # Gains 2, 2 and 5: nDCG is taken at 1 and at 3. b is at rank 1, a at rank 3.
    truth, best = {1: {"a": 4, "b": 1, "c": 2}}, 5 + 2 / log2(3) + 2 / 2
    result = atkay.evaluate({1: ["b", "x", "a"]}, truth, atkay.RNDCG(gain={1: 2, 2: 2, 4: 5}))
    assert result["rndcg(gain={1:2,2:2,4:5})"] == pytest.approx((2 / 5 + (2 + 5 / 2) / best) / 2)
