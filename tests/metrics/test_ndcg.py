"""Normalised discounted cumulative gain: published values and worked cases."""

from __future__ import annotations

import math
from typing import Any

import pytest

import atkay


def graded(gains: list[int], missed: list[int]) -> tuple[dict[int, list[int]], dict[int, dict[int, int]]]:
    """One list whose items have these gains, and items that it misses."""
    return {1: list(range(len(gains)))}, {1: dict(enumerate([*gains, *missed]))}


def test_jarvelin_and_kekalainen_2002() -> None:
    gains, ideal = [3, 2, 3, 0, 0, 1, 2, 2, 3, 0], [3, 3, 3, 2, 2, 2, 1, 1, 1, 1]
    missed = list(ideal)
    for gain in gains:
        if gain:
            missed.remove(gain)
    spec = f"ndcg(gain=linear,discount=jk)@{','.join(map(str, range(1, 11)))}"
    result = atkay.evaluate(*graded(gains, missed), spec)
    assert list(result.values()) == pytest.approx([1, 0.83, 0.87, 0.78, 0.71, 0.69, 0.73, 0.77, 0.83, 0.81], abs=0.0051)


@pytest.mark.parametrize(
    ("spec", "value"),
    [
        ("ndcg(gain=linear)@6", 0.785002),
        ("ndcg(gain=linear,ideal=listed)@6", 0.960808),
        ("ndcg@6", 0.751083),
    ],
)
def test_graded_list_with_missed_items(spec: str, value: float) -> None:
    assert atkay.evaluate(*graded([3, 2, 3, 0, 1, 2], [3, 2]), spec)[spec] == pytest.approx(value, abs=1e-6)


@pytest.mark.parametrize(
    ("scores", "spec", "value"),
    [
        ([0.1, 0.2, 0.3, 4, 70], "ndcg(gain=linear)", 0.695694),
        ([0.05, 1.1, 1, 0.5, 0], "ndcg(gain=linear)", 0.493680),
        ([0.05, 1.1, 1, 0.5, 0], "ndcg(gain=linear)@4", 0.352024),
    ],
)
def test_scikit_learn(scores: list[float], spec: str, value: float) -> None:
    truth = {1: dict(enumerate([10, 0, 0, 1, 5]))}
    assert atkay.evaluate({1: dict(enumerate(scores))}, truth, spec)[spec] == pytest.approx(value, abs=1e-6)


@pytest.mark.parametrize(("ties", "value"), [("best", 1.0), ("worst", 0.5)])
def test_scikit_learn_ties_lie_between_best_and_worst(ties: Any, value: float) -> None:
    # Scores 1 0 0 0 1: grades 10 and 5 tie for the first place. Best 10/10, worst 5/10; scikit-learn averages to 0.75.
    recs, truth = {1: dict(enumerate([1, 0, 0, 0, 1]))}, {1: dict(enumerate([10, 0, 0, 1, 5]))}
    spec = "ndcg(gain=linear)@1"
    assert atkay.evaluate(recs, truth, spec, ties=ties)[spec] == value


def test_course_notes_by_natural_logarithm() -> None:
    # Grades 2, 0, 1 at ranks 1, 2, 3; grade 3 is missed.
    recs, truth = {1: ["a", "x", "b"]}, {1: {"a": 2, "b": 1, "c": 3}}
    result = atkay.evaluate(recs, truth, ["ndcg@3", "ndcg(discount=ln)@3"])
    ideal = 7 / math.log2(2) + 3 / math.log2(3) + 1 / math.log2(4)
    assert result["ndcg@3"] == pytest.approx((3 / math.log2(2) + 1 / math.log2(4)) / ideal)
    assert result["ndcg(discount=ln)@3"] == pytest.approx(result["ndcg@3"])


def test_an_ideal_cut_at_the_length_of_the_list() -> None:
    # One item, listed and relevant, of three relevant ones: 1 / 1. Then grades 1 and 3 in a list of two: 2.8928 for
    # 1 / log2(2) + 3 / log2(3), and 4.2619 for 3 / log2(2) + 2 / log2(3), the two best grades there are.
    recs, truth = {1: ["a"], 2: ["b", "a"]}, {user: {"a": 3, "b": 1, "c": 2} for user in (1, 2)}
    for k in (5, 2):
        result = atkay.evaluate(recs, truth, f"ndcg(gain=linear,ideal=possible)@{k}")
        best = 3 / math.log2(2) + 2 / math.log2(3)
        expected = [1, (1 / math.log2(2) + 3 / math.log2(3)) / best]
        assert result.query_values[:, 0] == pytest.approx(expected)
    assert atkay.evaluate(recs, truth, "ndcg(gain=linear,ideal=possible)@1").query_values[:, 0] == pytest.approx(
        [1, 1 / 3]
    )
