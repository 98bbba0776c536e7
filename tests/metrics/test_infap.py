"""Inferred average precision: worked cases; trec_eval's own values stand in tests/laws/test_trec_eval.py."""

from __future__ import annotations

import polars as pl
import pytest

import atkay

E = 1e-5
TRUTH = {"a": 1, "b": 2, "n": 0, "p": -1}


@pytest.mark.parametrize(
    ("listed", "value"),
    [
        # Two relevant items; at rank 1 precision is 1.
        ("a", 1 / 2),
        # b is at rank 3, below a and n: 1/3 + 2/3 · (1/1 judged of 2) as r = 1, n = 1: (1 + ε) / (2 + 2ε) = 1/2.
        ("anb", (1 + 1 / 3 + 2 / 3 * 1 / 2) / 2),
        # x is outside the pool, so above b there are a alone: 1/3 + 1/3 · (1 + ε) / (1 + 2ε).
        ("axb", (1 + 1 / 3 + 1 / 3 * (1 + E) / (1 + 2 * E)) / 2),
        # p is in the pool and nobody judged it: it counts as relevant as the others above b are.
        ("apb", (1 + 1 / 3 + 2 / 3 * (1 + E) / (1 + 2 * E)) / 2),
        # Nothing is judged above a: ε / 2ε.
        ("pa", (1 / 2 + 1 / 2 * 1 / 2) / 2),
        ("xn", 0),
    ],
)
def test_worked_cases(listed: str, value: float) -> None:
    recs = {1: list(listed), 2: ["a"]}  # user 2 keeps an item in common
    result = atkay.evaluate(recs, {1: TRUTH, 2: {"a": 1}}, "infap", negative="unjudged")
    assert result.per_query["infap"][0] == pytest.approx(value, abs=1e-12)


def test_a_cutoff_and_items_taken_out() -> None:
    # The top 2 has a and p alone; without p the rank of b is 2, and a is above it.
    recs = {1: ["a", "p", "b"]}
    assert atkay.evaluate(recs, {1: TRUTH}, "infap@2", negative="unjudged")["infap@2"] == 1 / 2
    without = atkay.evaluate(recs, {1: TRUTH}, "infap", negative="unjudged", exclude={1: ["p"]})["infap"]
    assert without == pytest.approx((1 + 1 / 2 + 1 / 2 * (1 + E) / (1 + 2 * E)) / 2)
    dropped = atkay.evaluate(recs, {1: TRUTH}, "infap", negative="unjudged", unjudged="drop")["infap"]
    assert dropped == without


def test_what_one_person_judged_is_judged() -> None:
    # p has the grades -1 and 0: n = 1 above b, at rank 3, with a.
    rows = {"user": [1, 1, 1, 1], "item": ["a", "b", "p", "p"], "relevance": [1, 1, -1, 0]}
    given = {1: ["a", "p", "b"]}, pl.DataFrame(rows)
    found = atkay.evaluate(*given, "infap", negative="unjudged", raters="mean")["infap"]
    assert found == pytest.approx((1 + 1 / 3 + 2 / 3 * 1 / 2) / 2)


def test_definition() -> None:
    assert atkay.parse("infap@5").define().formula == "(1/R) Σ (1/l + (r + n + u)/l · (r + ε) / (r + n + 2ε))"
