"""Normalised gain: worked cases."""

from __future__ import annotations

import math

import pytest

import atkay

RECS, TRUTH = {1: ["b", "x", "a", "y", "c"]}, {1: {"a": 3, "b": 1, "c": 1, "x": 0}}
# The ideal gains are 3, 1, 1: C is 3, 4, 5, 6 and 7 at ranks 1 to 5. S is 1 at rank 1, 4 at rank 3, 5 at rank 5.
G = (1 / math.log2(2 + 3 - 1) + 3 / math.log2(2 + 5 - 4) + 1 / math.log2(2 + 7 - 5)) / 5
# None, one and two other items stand above the hits.
BINARY = (1 / math.log2(2) + 1 / math.log2(3) + 1 / math.log2(4)) / 3
# Gains 7, 1, 1: C is 7, 8, 9, 10, 11; S is 1, 8, 9.
EXP2 = (1 / math.log2(2 + 7 - 1) + 7 / math.log2(2 + 9 - 8) + 1 / math.log2(2 + 11 - 9)) / 9


def test_worked_cases() -> None:
    specs = ["normalized_gain", "normalized_gain(gain=binary)", "normalized_gain(gain=exp2)", "normalized_gain@2"]
    result = atkay.evaluate(RECS, TRUTH, specs)
    assert list(result.values()) == pytest.approx([G, BINARY, EXP2, (1 / math.log2(4)) / 5])


def test_which_grades_count_is_a_matter_of_the_protocol() -> None:
    # From grade 2 on a alone is relevant, at rank 3: C = 3 + 1 + 1, S = 3. trec_eval's G counts every grade.
    specs = ["normalized_gain", "normalized_gain(gain=binary)"]
    strict = atkay.evaluate(RECS, TRUTH, specs, min_relevance=2)
    assert list(strict.values()) == pytest.approx([3 / math.log2(2 + 5 - 3) / 3, 1 / math.log2(4)])
    every = atkay.evaluate(RECS, TRUTH, specs, min_relevance=2, gains="positive")
    assert list(every.values()) == pytest.approx([G, 1 / math.log2(4)])


def test_a_perfect_list_scores_1() -> None:
    recs = {1: ["a", "b", "c", "x"]}
    assert list(atkay.evaluate(recs, TRUTH, ["normalized_gain", "normalized_gain(gain=exp2)"]).values()) == [1, 1]


def test_gains_of_a_table() -> None:
    # As exp2, of which the grades are 1 and 3.
    result = atkay.evaluate(RECS, TRUTH, atkay.NormalizedGain(gain={1: 1, 3: 7}))
    assert list(result.values()) == pytest.approx([EXP2])
    assert "{1:1,3:7}[grade] / log2" in atkay.parse("normalized_gain(gain={1:1,3:7})").define().words


def test_each_place_counts_at_least_1() -> None:
    # C is 1 where the ideal gain is 0.5, S is 0.5.
    result = atkay.evaluate({1: ["a"]}, {1: {"a": 0.5}}, "normalized_gain")
    assert result["normalized_gain"] == pytest.approx(0.5 / math.log2(2 + 1 - 0.5) / 0.5)
