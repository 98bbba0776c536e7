"""The definitions that started the project where they name several metrics at once, each with its arithmetic."""

from __future__ import annotations

import math

import pytest

import atkay

approx = pytest.approx


def test_next_item_in_a_session() -> None:
    # Four steps; the next item stands at rank 1, at rank 3, at rank 6 and nowhere. X = 5.
    recs = {
        ("s1", 1): ["a", "b", "c", "d", "e", "f"],
        ("s1", 2): ["c", "b", "a", "d", "e", "f"],
        ("s2", 1): ["b", "c", "d", "e", "f", "a"],
        ("s2", 2): ["b", "c", "d", "e", "f", "g"],
    }
    truth = {step: ["a"] for step in recs}
    result = atkay.evaluate(recs, truth, ["mrr@5", "hit@5", "precision@5", "recall@5"])
    assert result["mrr@5"] == approx((1 + 1 / 3 + 0 + 0) / 4)
    assert result["hit@5"] == approx(2 / 4)
    assert result["precision@5"] == approx((1 / 5 + 1 / 5 + 0 + 0) / 4)
    assert result["recall@5"] == approx((1 / 1 + 1 / 1 + 0 + 0) / 4)


def test_next_basket_with_seen_items_removed_before_the_top_k() -> None:
    # User 1 bought milk before; it is removed, and "jam" moves up to rank 2.
    recs = {1: ["milk", "tea", "jam", "rye"], 2: ["oat", "tea"]}
    basket = {1: ["jam", "rye", "pear"], 2: ["tea"]}
    metrics = ["hit@2", "recall@2", "precision@2", "ndcg@2", "mrr@2"]
    result = atkay.evaluate(recs, basket, metrics, exclude={1: ["milk"]})
    assert result["hit@2"] == approx((1 + 1) / 2)
    assert result["recall@2"] == approx((1 / 3 + 1 / 1) / 2)
    assert result["precision@2"] == approx((1 / 2 + 1 / 2) / 2)
    second = 1 / math.log2(3)
    # IDCG over min(|G|, K): two places for user 1, one for user 2.
    assert result["ndcg@2"] == approx((second / (1 + second) + second / 1) / 2)
    assert result["mrr@2"] == approx((1 / 2 + 1 / 2) / 2)
    assert result.population.excluded == 1


# Relevance 0 1 0 1 0 1 0, three relevant items in all.
NOTES_LIST = {1: ["n1", "r1", "n2", "r2", "n3", "r3", "n4"]}
NOTES_TRUTH = {1: ["r1", "r2", "r3"]}


@pytest.mark.parametrize(
    ("spec", "value"),
    [
        ("precision@1", 0),
        ("precision@3", 1 / 3),
        ("precision@5", 2 / 5),
        ("recall@1", 0),
        ("recall@3", 1 / 3),
        ("map(per=hits)@7", (1 / 2 + 2 / 4 + 3 / 6) / 3),
        ("hit(count=share)@3", 1 / 3),
    ],
)
def test_course_notes_worked_example(spec: str, value: float) -> None:
    assert atkay.evaluate(NOTES_LIST, NOTES_TRUTH, spec)[spec] == approx(value)


def test_course_notes_print_the_precision_as_recall_at_5() -> None:
    result = atkay.evaluate(NOTES_LIST, NOTES_TRUTH, ["recall@5", "precision@5"])
    printed = 2 / 5
    assert result["recall@5"] == approx(2 / 3)
    assert result["recall@5"] != approx(printed)
    assert result["precision@5"] == approx(printed)


def test_course_notes_three_users() -> None:
    # p@3 of 1/3, 2/3 and 2/3, three relevant items each.
    truth = {user: ["a", "b", "c"] for user in (1, 2, 3)}
    recs = {1: ["a", "x", "y"], 2: ["a", "b", "x"], 3: ["x", "b", "c"]}
    result = atkay.evaluate(recs, truth, ["hr@3", "p@3", "r@3"])
    assert result["hr@3"] == 1
    assert result["p@3"] == approx((1 / 3 + 2 / 3 + 2 / 3) / 3) == approx(5 / 9)
    assert result["r@3"] == approx(5 / 9)
