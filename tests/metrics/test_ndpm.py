"""NDPM: worked values."""

from __future__ import annotations

import pytest

import atkay


def test_by_hand() -> None:
    # Grades 1, 0, 3 and 0: b-a and x-a of five pairs are in the wrong order.
    result = atkay.evaluate({1: ["b", "x", "a", "y"]}, {1: {"a": 3, "b": 1}}, ["ndpm", "ndpm@3", "opa"])
    assert result["ndpm"] == 2 / 5
    assert result["ndpm@3"] == 2 / 3
    assert result["ndpm"] + result["opa"] == pytest.approx(1)


@pytest.mark.parametrize(("listed", "distance"), [("abcx", 0.0), ("xcba", 1.0)])
def test_the_ends(listed: str, distance: float) -> None:
    assert atkay.evaluate({1: list(listed)}, {1: {"a": 3, "b": 2, "c": 1}}, "ndpm")["ndpm"] == distance
