"""Popularity lift: worked cases, and an oracle in plain loops."""

from __future__ import annotations

from typing import Any

import pytest

import atkay
from loops_history import NAN, User, check, mean, tables, values


def test_popularity_lift_of_users_and_of_their_group() -> None:
    # n: a 3, b 1, c 1. User 1 had a and b (2) and is shown a (3): 1/2. User 2 had a (3) and is shown b and z (1/2):
    # -5/6. User 3 had a and c (2) and is shown z (0): -1. User 4 had nothing. Together: (1 - 5/2 - 2) / (2 + 3 + 2).
    train = {1: ["a", "b"], 2: ["a"], 3: ["a", "c"]}
    recs = {1: ["a"], 2: ["b", "z"], 3: ["z"], 4: ["a"]}
    assert values(recs, recs, "popularity_lift", train=train) == pytest.approx([1 / 2, -5 / 6, -1, NAN], nan_ok=True)
    spec = "popularity_lift(average=pooled)"
    assert atkay.evaluate(recs, recs, spec, train=train)[spec] == pytest.approx(-3.5 / 7)
    # Whoever has no relevant item has a lift all the same, whatever the protocol gives for lists without truth.
    lifted = atkay.evaluate(recs, {1: ["a"]}, spec, train=train, no_truth="one")
    assert lifted[spec] == pytest.approx(-3.5 / 7)


def popularity_lift(_: Any, u: User, top: list[int], __: int) -> float:
    before = mean([u.n[item] for item in u.had])
    return (mean([u.n[item] for item in top]) - before) / before


@tables
def test_every_value_is_that_of_the_oracle(**given: Any) -> None:
    check("popularity_lift", popularity_lift, **given)
