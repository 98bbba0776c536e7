"""Bias disparity: worked cases; the fuzz compares with plain loops."""

from __future__ import annotations

import math

import pytest

import atkay

KINDS = {"a": ["red"], "b": ["red"], "c": ["blue"], "d": ["blue", "round"], "e": ["blue"]}
TRAIN = {1: ["a", "b", "c", "x"], 2: ["c", "d"], 9: ["e", "e2"]}
"""Users 1 and 2 had red in 2 of 5 cases, blue in 3 and round in 1; x is in no group, and user 9 has no list."""
RECS = {1: ["d", "e", "a"], 2: ["e", "a", "x"]}
"""The top 3 show red in 2 of 5 places, blue in 3 and round in 1; the top 2 in 1 of 4, 3 and 1."""
OF = ("mean", "highest", "lowest")
SPECS = [f"bias_disparity(bias={bias},of={of})@2" for bias in ("disparity", "lists", "train") for of in OF]


def test_disparity_and_its_parts() -> None:
    result = atkay.evaluate(RECS, {1: ["a"], 2: ["e"]}, SPECS, features=KINDS, train=TRAIN)
    red, blue, round_ = (1 / 4) / (2 / 5) - 1, (3 / 4) / (3 / 5) - 1, (1 / 4) / (1 / 5) - 1
    # Of the five items two are red, three blue, one is round.
    lists = [(1 / 4) / (2 / 5), (3 / 4) / (3 / 5), (1 / 4) / (1 / 5)]
    train = [(2 / 5) / (2 / 5), (3 / 5) / (3 / 5), (1 / 5) / (1 / 5)]
    assert list(result.values()) == pytest.approx(
        [
            *((-red + blue + round_) / 3, blue, red),
            *(sum(abs(each - 1) for each in lists) / 3, max(lists), min(lists)),
            *(0, max(train), min(train)),
        ]
    )
    found = atkay.evaluate(RECS, {1: ["a"], 2: ["e"]}, "bias_disparity@3", features=KINDS, train=TRAIN)
    assert found["bias_disparity@3"] == 0  # the shares are those of training


def test_groups_of_users_have_numbers_of_their_own() -> None:
    spec = "bias_disparity(of=highest)@2"
    truth, groups = {1: ["a"], 2: ["e"]}, {1: "old", 2: "young"}
    result = atkay.evaluate(RECS, truth, spec, features=KINDS, train=TRAIN, slices=groups)
    # Old: blue 1 of 3 in training and 2 of 2 listed; round was not there and does not count. Young: blue 2 of 2 and
    # 1 of 2, round 1 of 2 and none; red was not there.
    assert result.slices["mean"].to_list() == pytest.approx([2, -1 / 2])


def test_popularity_and_what_was_not_there() -> None:
    # In training a holds 8 of 10: the head. User 1 had a and b, and is shown b alone.
    train = {n: ["a"] for n in range(2, 9)} | {1: ["a", "b"], 9: ["c"]}
    specs = [f"bias_disparity(groups=popularity,of={of})" for of in ("highest", "lowest", "mean")]
    found = atkay.evaluate({1: ["b"]}, {1: ["b"]}, specs, train=train)
    assert list(found.values()) == [1, -1, 1]
    # Who had nothing has no bias to compare with.
    nothing = atkay.evaluate({1: ["b"]}, {1: ["b"]}, "bias_disparity", features=KINDS, train={7: ["a"]})
    assert math.isnan(nothing["bias_disparity"])
