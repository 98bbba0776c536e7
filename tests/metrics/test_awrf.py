"""Attention-weighted rank fairness: worked cases; the fuzz compares with plain loops."""

from __future__ import annotations

import math
from typing import Any

import pytest

import atkay
from loops_categories import check_digits, check_needs_categories, value

KINDS = {"a": ["men"], "b": ["men"], "c": ["women"], "d": ["women"], "e": ["women"], "f": ["men", "women"]}
"""Of six items 2.5 are men's and 3.5 women's."""


def js(p: dict[str, float], q: dict[str, float]) -> float:
    def divergence(one: dict[str, float]) -> float:
        return sum(one[kind] * math.log(one[kind] / ((p[kind] + q[kind]) / 2)) for kind in one if one[kind])

    return (divergence(p) + divergence(q)) / 2


def test_the_default_is_that_of_trec() -> None:
    # Attention: a 1, c 1, f 1 / log2(3), in halves.
    third = 1 / math.log2(3)
    men = (1 + third / 2) / (2 + third)
    p = {"men": 2.5 / 6, "women": 3.5 / 6}
    found = value("awrf@3", "acf", features=KINDS)
    assert found == pytest.approx(1 - js(p, {"men": men, "women": 1 - men}))
    # A list of men against a target of women is as far off as can be.
    assert (
        value("awrf(target=relevant)@2", "ac", truth="c", features=KINDS)
        > value("awrf(target=relevant)@1", "ac", truth="c", features=KINDS)
        == pytest.approx(1 - math.log(2))
    )


@pytest.mark.parametrize(
    ("weight", "weights"),
    [
        ("jk", (1, 1, 1 / math.log2(3))),
        ("log2", (1, 1 / math.log2(3), 1 / 2)),
        ("geometric", (1, 1 / 2, 1 / 4)),
        ("geometric,patience=0.8", (1, 0.8, 0.64)),
        ("uniform", (1, 1, 1)),
    ],
)
def test_the_attention_to_a_place(weight: str, weights: tuple[float, ...]) -> None:
    # Women stand at rank 2 of 3 and should have half: variation of two groups is the difference of one share.
    known = {"a": ["men"], "c": ["women"], "b": ["men"], "d": ["women"]}
    expected = 1 - abs(0.5 - weights[1] / sum(weights))
    spec = str(atkay.parse(f"awrf(distance=variation,weight={weight})@3"))
    assert value(spec, "acb", features=known) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("target", "women"),
    [
        ("items", 3.5 / 6),
        ("even", 1 / 2),
        ("train", (3 + 0.5) / 5),  # training has a, c twice, d, and f in halves
        ("relevant", 1.5 / 2),  # c and f are relevant
    ],
)
def test_the_target(target: str, women: float) -> None:
    train = {1: ["a", "c"], 2: ["c", "d", "f"]}
    # With equal weights one of two places is women's.
    known: Any = {"truth": "cf", "features": KINDS, "train": train}
    spec = str(atkay.parse(f"awrf(target={target},distance=variation,weight=uniform)@2"))
    assert value(spec, "ac", **known) == pytest.approx(1 - abs(women - 1 / 2))


def test_a_category_that_the_list_lacks() -> None:
    # |1 - 2.5/6| for men and |0 - 3.5/6| for women, halved.
    assert value("awrf(distance=variation)@1", "ac", features=KINDS) == pytest.approx(2.5 / 6)


def test_items_without_a_category_are_left_out() -> None:
    spec = "awrf(distance=variation,weight=uniform)@3"
    assert value(spec, "axc", features=KINDS) == pytest.approx(1 - (3.5 / 6 - 1 / 2))
    assert math.isnan(value(spec, "xyz", truth="x", features=KINDS))


def test_digits_depend_on_the_list_alone() -> None:
    check_digits("awrf")
    check_digits("awrf(target=relevant)")
    check_needs_categories("awrf@2")
