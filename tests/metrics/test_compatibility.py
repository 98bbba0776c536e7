"""Compatibility: worked values."""

from __future__ import annotations

import pytest

import atkay


def overlap(p: float, shared: list[int]) -> float:
    return sum(p ** (d - 1) * o / d for d, o in enumerate(shared, 1))


def test_by_hand() -> None:
    # The ideal list is c, a, b: a grade of 2 first, then a before b as they are listed. In the top 1 to 4 of both
    # lists: nothing; a; a and c; all three.
    recs, truth = {1: ["a", "x", "c", "b"]}, {1: {"b": 1, "a": 1, "c": 2}}
    specs = ["compatibility(p=0.5)", "compatibility(p=0.5)@2", "compatibility(p=0.5,per=weights)"]
    result = atkay.evaluate(recs, truth, specs)
    assert result[specs[0]] == pytest.approx(overlap(0.5, [0, 1, 2, 3]) / overlap(0.5, [1, 2, 3, 3]), abs=1e-15)
    assert result[specs[1]] == pytest.approx(overlap(0.5, [0, 1]) / overlap(0.5, [1, 2]), abs=1e-15)
    assert result[specs[2]] == pytest.approx(overlap(0.5, [0, 1, 2, 3]) / (1 + 1 / 2 + 1 / 4 + 1 / 8), abs=1e-15)


def test_what_is_not_listed_stands_last_among_its_equals() -> None:
    # Ideal: b before a and z, which have the same grade, z not being listed. Shared: 1, 1, 2 of 1, 2, 3.
    recs, truth = {1: ["b", "x", "a"]}, {1: {"z": 1, "a": 1, "b": 1}}
    result = atkay.evaluate(recs, truth, "compatibility(p=0.5)")
    assert result["compatibility(p=0.5)"] == pytest.approx(overlap(0.5, [1, 1, 2]) / overlap(0.5, [1, 2, 3]), abs=1e-15)


def test_a_list_shorter_than_the_truth_is_compared_to_the_end_of_it() -> None:
    result = atkay.evaluate({1: ["a"]}, {1: ["a", "b", "c"]}, "compatibility(p=0.5)")
    assert result["compatibility(p=0.5)"] == pytest.approx(overlap(0.5, [1, 1, 1]) / overlap(0.5, [1, 2, 3]), abs=1e-15)


def test_order_among_grades() -> None:
    # Two users whose grades differ in scale: places in the ideal list are found user by user.
    recs = {1: ["a", "b"], 2: ["a", "b"]}
    result = atkay.evaluate(recs, {1: {"a": 5, "b": 1}, 2: {"a": 1, "b": 5}}, "compatibility(p=0.5)")
    worse = overlap(0.5, [0, 2]) / overlap(0.5, [1, 2])
    assert result.per_query["compatibility(p=0.5)"].to_list() == pytest.approx([1, worse], abs=1e-15)
