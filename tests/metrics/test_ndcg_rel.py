"""nDCG at the relevant items: worked cases."""

from __future__ import annotations

from math import log2

import pytest

import atkay

# Grades 1 and 3 at ranks 1 and 3; b2 is missed. The ideal gains are 3, 2, 1.
RECS, TRUTH = {1: ["c", "x", "a"]}, {1: {"a": 3, "b": 2, "c": 1, "x": 0}}
IDEAL = [3, 3 + 2 / log2(3), 3 + 2 / log2(3) + 1 / 2]


def test_worked_cases() -> None:
    last = (1 + 3 / 2) / IDEAL[2]
    result = atkay.evaluate(RECS, TRUTH, ["ndcg_rel", "ndcg_rel(gain=binary)"])
    # Binary: 1 at rank 1, and at rank 3 as for the missed item (1 + 1/2) / (1 + 1/log2(3) + 1/2).
    binary = (1 + 2 * 1.5 / (1.5 + 1 / log2(3))) / 3
    assert list(result.values()) == pytest.approx([(1 / IDEAL[0] + last + last) / 3, binary])


def test_a_list_that_ends_before_the_ideal_one() -> None:
    # c at rank 1: 1/3; the two missed items have nDCG of the whole list, 1 / IDCG.
    result = atkay.evaluate({1: ["c"]}, TRUTH, "ndcg_rel")
    assert result["ndcg_rel"] == pytest.approx((1 / 3 + 2 * 1 / IDEAL[2]) / 3)


def test_a_grade_of_0_gains_nothing() -> None:
    # With min_relevance=0 x is relevant, too, but worth nothing: three items count.
    assert atkay.evaluate(RECS, TRUTH, "ndcg_rel", min_relevance=0) == pytest.approx(
        atkay.evaluate(RECS, TRUTH, "ndcg_rel").to_dict()
    )


def test_gains_of_a_table() -> None:
    found = atkay.evaluate(RECS, TRUTH, ["ndcg_rel(gain=exp2)", "ndcg_rel(gain={1:1,2:3,3:7})"])
    assert len({*found.values()}) == 1
