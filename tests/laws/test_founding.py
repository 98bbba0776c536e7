"""The definitions that started the project (VECTORS, part 1), each with its arithmetic."""

from __future__ import annotations

import math

import polars as pl
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


def test_average_precision_over_the_matched_items() -> None:
    # Matches at ranks 2 and 5 (l1 = 2, l2 = 5, N = 2), a third true item is not listed.
    result = atkay.evaluate({1: ["x", "a", "y", "z", "b"]}, {1: ["a", "b", "c"]}, "map(per=hits)@5")
    assert result["map(per=hits)@5"] == approx((1 / 2 + 2 / 5) / 2)


def test_textbook_precision_is_relevant_retrieved_over_retrieved() -> None:
    result = atkay.evaluate({1: ["a", "x", "b"]}, {1: ["a", "b"]}, ["precision(per=listed)", "precision@10"])
    assert result["precision(per=listed)"] == approx(2 / 3)
    assert result["precision@10"] == approx(2 / 10)


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


def test_next_basket_averaged_per_user_first() -> None:
    # User 1 has two orders with recall 1 and 0, user 2 one order with recall 1.
    rows = {"user": [1, 1, 2], "order": [1, 2, 1]}
    recs = pl.DataFrame({**rows, "item": ["a", "x", "c"]})
    truth = pl.DataFrame({**rows, "item": ["a", "b", "c"]})
    columns = atkay.Columns(user=("user", "order"))
    assert atkay.evaluate(recs, truth, "recall@1", columns=columns)["recall@1"] == approx((1 + 0 + 1) / 3)
    per_user = atkay.evaluate(recs, truth, "recall@1", columns=columns, average_over="user")
    assert per_user["recall@1"] == approx(((1 + 0) / 2 + 1) / 2)
    assert per_user.summaries["recall@1"].users == 2


def test_course_notes_hit_rate_of_everything_is_pooled() -> None:
    # TP = 1 + 1, FN = 2 + 0.
    recs, truth = {1: ["a"], 2: ["b"]}, {1: ["a", "c", "d"], 2: ["b"]}
    result = atkay.evaluate(recs, truth, ["recall(average=pooled)", "recall"])
    assert result["recall(average=pooled)"] == approx(2 / (2 + 2))
    assert result["recall"] == approx((1 / 3 + 1) / 2)


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
        ("mnap@7", (1 / 2 + 2 / 4 + 3 / 6) / min(3, 7)),
        ("mnap@2", (1 / 2) / min(3, 2)),
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


def test_course_notes_dcg_by_natural_logarithm() -> None:
    # Grades 2, 0, 1 at ranks 1, 2, 3; grade 3 is missed.
    recs, truth = {1: ["a", "x", "b"]}, {1: {"a": 2, "b": 1, "c": 3}}
    specs = ["dcg@3", "dcg(discount=ln)@3", "ndcg@3", "ndcg(discount=ln)@3"]
    result = atkay.evaluate(recs, truth, specs)
    assert result["dcg@3"] == approx(3 / math.log2(2) + 1 / math.log2(4))
    assert result["dcg(discount=ln)@3"] == approx(3 / math.log(2) + 1 / math.log(4))
    ideal = 7 / math.log2(2) + 3 / math.log2(3) + 1 / math.log2(4)
    assert result["ndcg@3"] == approx((3 / math.log2(2) + 1 / math.log2(4)) / ideal)
    assert result["ndcg(discount=ln)@3"] == approx(result["ndcg@3"])


PLACES = pl.DataFrame(
    {
        "place": ["S001", "S002", "S003", "S004", "S005", "S006", "S007", "S008"],
        "theme": [1, 1, 1, 1, 2, 2, 2, 2],
        "visits": [120, 300, 80, 45, 60, 40, 210, 90],
        "weighted": [0.92, 0.75, 0.60, 0.40, 0.85, 0.70, 0.55, 0.30],
        "normalised": [0.80, 0.20, 0.95, 0.50, 0.65, 0.10, 0.45, 0.90],
    }
)


@pytest.mark.parametrize(
    ("score", "first", "corrected"),
    [
        # Theme 1 alone: S001 S002 ...: its most visited place S002 is second. Theme 2: S005 S006 S007: third.
        # All together: S001 (theme 1), S005 (theme 2), ...: the themes' first places stand at ranks 1 and 2.
        ("weighted", [1 / 2, 1 / 3], [1 / 1, 1 / 2]),
        # Theme 1 alone: S003 S001 S004 S002: fourth. Theme 2: S008 S005 S007: third. Together: S003, S008, ...
        ("normalised", [1 / 4, 1 / 3], [1 / 1, 1 / 2]),
    ],
)
def test_two_ways_to_compute_one_mrr(score: str, first: list[float], corrected: list[float]) -> None:
    themes = PLACES.select(pl.col("theme").unique())
    recs = themes.join(PLACES.select("place", score=score), how="cross")  # every theme ranks all eight places
    truth = PLACES.select("theme", "place", relevance="visits")
    columns = atkay.Columns(user="theme", item="place")
    spec = "mrr(target=best)"
    by_theme = atkay.evaluate(recs, truth, spec, columns=columns, unjudged="drop")
    together = atkay.evaluate(recs, truth, "mrr", columns=columns)
    assert by_theme.per_query[spec].to_list() == approx(first)
    assert together.per_query["mrr"].to_list() == approx(corrected)
    assert by_theme[spec] == approx({"weighted": 0.4167, "normalised": 0.2917}[score], abs=5e-5)
    assert together["mrr"] == approx(0.75)
