"""Rank-biased precision: worked values, and plain loops."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest
from hypothesis import given

import atkay
from atkay.errors import SpecError
from variants import ListsAndGrades, anchored, lists_and_grades


def rbp(listed: list[int], grades: dict[int, float], p: float, gain: str, highest: float, k: int | None) -> float:
    value = 0.0
    for rank, item in enumerate(listed[:k], 1):
        grade = grades.get(item, 0.0)
        worth = {"binary": float(grade > 0), "linear": min(grade / highest, 1.0), "grade": grade}[gain]
        value += worth * p ** (rank - 1)
    return (1 - p) * value


@given(lists_and_grades)
def test_against_plain_loops(users: ListsAndGrades) -> None:
    recs, truth = anchored(users)
    specs: dict[str, Callable[[list[int], dict[int, float]], float]] = {}
    for k, cut in ((1, "@1"), (3, "@3"), (None, "")):
        specs[f"rbp{cut}"] = partial(rbp, p=0.8, gain="binary", highest=1, k=k)
        specs[f"rbp(p=0.5,gain=linear,highest=3){cut}"] = partial(rbp, p=0.5, gain="linear", highest=3, k=k)
        specs[f"rbp(p=0.5,gain=grade){cut}"] = partial(rbp, p=0.5, gain="grade", highest=1, k=k)
    result = atkay.evaluate(recs, truth, list(specs))
    for row in result.per_query.to_dicts():
        for spec, by_the_book in specs.items():
            value = by_the_book(recs[row["user"]], truth[row["user"]])
            assert row[spec] == pytest.approx(value, abs=1e-12), (row["user"], spec)


def test_a_published_vector() -> None:
    # 0.2 * (1 + 0.8²) = 0.2 * 1.64
    assert atkay.evaluate({1: ["a", "x", "b"]}, {1: ["a", "b"]}, "rbp")["rbp"] == pytest.approx(0.328, abs=1e-15)


def test_a_grade_above_the_highest_counts_as_the_highest() -> None:
    spec = "rbp(gain=linear,highest=2)"
    assert atkay.evaluate({1: ["a"]}, {1: {"a": 9}}, spec)[spec] == pytest.approx(0.2)


def test_a_user_without_a_list_scores_0() -> None:
    assert atkay.evaluate({1: ["a"]}, {1: ["a"], 2: ["b"]}, "rbp").per_query["rbp"][1] == 0


def test_rbp_never_passes_one() -> None:
    items = list(range(2000))
    for p in ("0.8", "0.3", "0.7"):
        assert 0.999999 < atkay.evaluate({1: items}, {1: items}, f"rbp(p={p})")[f"rbp(p={p})"] <= 1


def test_refuses_and_defines() -> None:
    with pytest.raises(SpecError, match="rbp: p must be a number between 0 and 1, got '1'"):
        atkay.parse("rbp(p=1)")
    linear = atkay.parse("rbp(gain=linear,highest=5)").define()
    assert atkay.parse("rbp@5").define().formula == "(1 - 0.8) Σ 0.8^(rank - 1)"
    assert linear.formula == "(1 - 0.8) Σ min(grade / 5, 1) · 0.8^(rank - 1)"
    assert atkay.parse("rbp(gain=grade)").define().formula == "(1 - 0.8) Σ grade · 0.8^(rank - 1)"
