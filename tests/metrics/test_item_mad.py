"""Item MAD: worked cases; the fuzz compares with plain loops."""

from __future__ import annotations

import math

import pytest

import atkay

KINDS = {"a": ["red"], "b": ["red", "blue"], "c": ["blue"], "d": ["green"], "e": ["grey"]}
RECS = {1: ["a", "b", "d"], 2: ["a", "c", "b"], 3: ["c", "a", "x"]}
TRUTH = {1: ["a", "d"], 2: ["a", "b"], 3: ["c", "x"]}
"""Hits and lists: a 2 of 3, b 1 of 2, c 1 of 2, d 1 of 1, x 1 of 1; nobody is shown e."""


def test_the_mean_over_pairs_of_groups() -> None:
    red, blue, green = (2 / 3 + 1 / 2) / 2, (1 / 2 + 1 / 2) / 2, 1
    found = atkay.evaluate(RECS, TRUTH, "item_mad", features=KINDS)["item_mad"]
    assert found == pytest.approx(((red - blue) + (green - blue) + (green - red)) / 3)


def test_a_cutoff_and_popularity() -> None:
    # In the top 1: a 2 of 2, c 1 of 1. In the top 2: a 2 of 3, b 0 of 1, c 1 of 2.
    train = {n: ["a"] for n in range(8)} | {8: ["b"], 9: ["c"]}  # a holds 8 of 10: the head; b and c the tail
    specs = [f"item_mad(groups=popularity)@{k}" for k in (1, 2)]
    found = atkay.evaluate(RECS, TRUTH, specs, train=train)
    assert list(found.values()) == pytest.approx([0, 2 / 3 - (0 + 1 / 2) / 2])


def test_one_group_is_nothing_to_compare() -> None:
    spec = "item_mad@1"
    assert math.isnan(atkay.evaluate({1: ["a"]}, {1: ["a"]}, spec, features={"a": "red", "c": "blue"})[spec])
