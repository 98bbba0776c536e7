"""Discounted cumulative gain: published values and worked cases."""

from __future__ import annotations

import math

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
    spec = f"dcg(gain=linear,discount=jk)@{','.join(map(str, range(1, 11)))}"
    result = atkay.evaluate(*graded(gains, missed), spec)
    assert list(result.values()) == pytest.approx([3, 5, 6.89, 6.89, 6.89, 7.28, 7.99, 8.66, 9.61, 9.61], abs=0.0051)


def test_graded_list_with_missed_items() -> None:
    result = atkay.evaluate(*graded([3, 2, 3, 0, 1, 2], [3, 2]), "dcg(gain=linear)@6")
    assert list(result.values()) == pytest.approx([6.861127], abs=1e-6)


def test_course_notes_by_natural_logarithm() -> None:
    # Grades 2, 0, 1 at ranks 1, 2, 3; grade 3 is missed.
    recs, truth = {1: ["a", "x", "b"]}, {1: {"a": 2, "b": 1, "c": 3}}
    result = atkay.evaluate(recs, truth, ["dcg@3", "dcg(discount=ln)@3"])
    assert result["dcg@3"] == pytest.approx(3 / math.log2(2) + 1 / math.log2(4))
    assert result["dcg(discount=ln)@3"] == pytest.approx(3 / math.log(2) + 1 / math.log(4))
