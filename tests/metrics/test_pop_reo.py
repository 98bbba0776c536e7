"""Ranking-based equal opportunity: worked cases, and plain loops."""

from __future__ import annotations

from typing import Any

import pytest

import atkay
from loops_groups import Items, at, by_category, by_popularity, chances, everything, same, spread, tables


def test_equal_opportunity_of_published_chances() -> None:
    # Listed: 4 of 10 relevant items of one group, 1 of 10 of the other. std(.4, .1) / mean = .15 / .25
    truth = {1: [*range(10), *range(20, 30)]}
    groups = {item: "one" if item < 20 else "other" for item in truth[1]}
    spec = "pop_reo(groups=categories)@6"
    result = atkay.evaluate({1: [0, 1, 99, 20, 2, 3, 4]}, truth, spec, features=groups)
    assert round(result[spec], 6) == 0.6
    # Cut at 3, two of ten against none: std(.2, 0) / mean = 1
    assert atkay.evaluate({1: [0, 1, 99, 20]}, truth, "pop_reo(groups=categories)@3", features=groups).means == {
        "pop_reo(groups=categories)@3": 1.0
    }


def test_the_head_and_the_tail() -> None:
    train = {str(n): ["a"] for n in range(8)} | {"8": ["b"], "9": ["c"]}  # a holds 8 of 10: the head; b and c the tail
    recs, truth = {"u": ["a", "b", "new"]}, {"u": ["a", "b", "c", "new"]}
    # Of the relevant items 1 of 1 is listed, and 1 of 2; mean 3/4, std 1/4. What is new is in no group.
    assert atkay.evaluate(recs, truth, "pop_reo@3", train=train)["pop_reo@3"] == pytest.approx(1 / 3)


@tables
def test_by_its_definition(recs: Items, truth: Items, kinds: Any, train: Items, k: int | None) -> None:
    recs, truth, side = everything(recs, truth, kinds, train)
    listed = [(user, i) for user in truth for i in recs.get(user, [])[:k]]
    named = {"categories": by_category(kinds), "popularity": by_popularity(side["train"], 0.8)}
    for name, groups in named.items():
        could = [(user, i) for user in truth for i in truth[user]]
        shown = [pair for pair in listed if pair in could]
        spec = at(f"pop_reo(groups={name})", k)
        result = atkay.evaluate(recs, truth, spec, **side)
        assert same(result[spec], spread(chances(groups, shown, could))), spec
