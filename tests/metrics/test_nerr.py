"""Normalised expected reciprocal rank: worked values."""

from __future__ import annotations

import math

import pytest

import atkay

RECS, TRUTH = {1: ["a", "x", "b"]}, {1: {"a": 1, "b": 2}}
"""R is 1/4 at rank 1 and 1/2 at rank 3 where the highest grade is 4: the ranks are reached with chance 1, 3/4, 3/4."""


@pytest.mark.parametrize(
    ("spec", "b"),
    [
        ("nerr(highest=4)@3", (1, 1, 1)),
        ("nerr(patience=rank,highest=4)@3", (1, 1 / 2, 1 / 3)),
        ("nerr(patience=geometric,highest=4)@3", (1, 0.9, 0.81)),
        ("nerr(patience=geometric,p=0.5,highest=4)@3", (1, 0.5, 0.25)),
        ("nerr(patience=insq,highest=4)@3", (1, 4 / 9, 4 / 16)),
        ("nerr(patience=insq,t=2,highest=4)@3", (1, 16 / 25, 16 / 36)),
    ],
)
def test_by_hand(spec: str, b: tuple[float, float, float]) -> None:
    gained = b[0] * 1 / 4 + b[2] * 3 / 4 * 1 / 2
    read = b[0] + b[1] * 3 / 4 + b[2] * 3 / 4
    assert atkay.evaluate(RECS, TRUTH, spec)[spec] == pytest.approx(gained / read, abs=1e-15)


def test_an_uncut_list() -> None:
    # geometric, p = 1/2: ranks 4, 5, ... are reached with 3/8 and add (1/8 + 1/16 + ...) * 3/8. insq, t = 1/2: 1 / r^2.
    specs = ["nerr(patience=geometric,p=0.5,highest=4)", "nerr(patience=insq,t=0.5,highest=4)"]
    result = atkay.evaluate(RECS, TRUTH, specs)
    half = (1 / 4 + 1 / 4 * 3 / 8) / (1 + 3 / 8 + 3 / 16 + 1 / 4 * 3 / 8)
    assert result[specs[0]] == pytest.approx(half, abs=1e-15)
    below = (math.pi**2 / 6 - 1 - 1 / 4 - 1 / 9) * 3 / 8
    assert result[specs[1]] == pytest.approx((1 / 4 + 3 / 8 / 9) / (1 + 3 / 16 + 3 / 36 + below), abs=1e-15)


def test_a_sure_hit_ends_the_reading() -> None:
    # The first hit satisfies for certain: rank 2 is read by everybody, rank 3 by nobody.
    assert atkay.evaluate({1: ["x", "a", "b"]}, {1: ["a", "b"]}, "nerr@3")["nerr@3"] == 1 / 2
