"""Ranking-based statistical parity: worked cases, and plain loops."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import polars as pl
import pytest

import atkay
from atkay.errors import SideError
from atkay.metrics.item_groups import in_head
from loops_groups import Items, at, by_category, by_popularity, chances, everything, same, spread, tables


def test_statistical_parity_leaves_out_what_the_user_had() -> None:
    colours = {"p": "green", "q": "green", "r": "red", "s": "red"}
    recs, truth = {1: ["p", "q", "r"], 2: ["q", "s"]}, {1: ["p"], 2: ["q"]}
    train = {1: ["p"], 2: ["r", "x"], 3: ["s"]}
    unseen, every = "pop_rsp(groups=categories)@3", "pop_rsp(groups=categories,items=all)@3"
    result = atkay.evaluate(recs, truth, [unseen, every], features=colours, train=train)
    # Unseen: green is q for user 1 (p was had), p and q for user 2: 2 of 3 listed. Red is r, s and s: 2 of 3 listed.
    assert result[unseen] == 0
    # All: green 3 of 4 listed, red 2 of 4; mean 5/8, std 1/8
    assert result[every] == pytest.approx(1 / 5)
    assert atkay.evaluate(recs, truth, every, features=colours)[every] == result[every]  # needs no train


def test_two_queries_of_one_training_user() -> None:
    key = atkay.Columns(user=("user", "step"))
    recs = pl.DataFrame({"user": [1, 1, 2], "step": [1, 2, 1], "item": ["p", "r", "q"]})
    train, colours = {1: ["q"], 2: ["r"]}, {"p": "green", "q": "green", "r": "red"}
    spec = "pop_rsp(groups=categories)@1"
    result = atkay.evaluate(
        recs, recs, spec, columns={"recs": key, "truth": key}, average_over="user", train=train, features=colours
    )
    # Green: p for the two queries of user 1, p and q for user 2: 4, of which p and q are listed.
    # Red: r for the two queries of user 1: 2, of which one is listed. Both 1/2.
    assert result[spec] == 0


def test_the_head_and_the_tail() -> None:
    train = {str(n): ["a"] for n in range(8)} | {"8": ["b"], "9": ["c"]}  # a holds 8 of 10: the head; b and c the tail
    recs, truth = {"u": ["a", "b", "new"]}, {"u": ["a", "b", "c", "new"]}
    result = atkay.evaluate(recs, truth, ["pop_rsp@3", "pop_rsp(head=0.9)@3"], train=train)
    # Listed: 1 of 1 and 1 of 2; mean 3/4, std 1/4. What is new is in no group.
    assert result["pop_rsp@3"] == pytest.approx(1 / 3)
    # b and c are equal, so a head of 0.9 has all three, and there is nothing to compare with.
    assert math.isnan(result["pop_rsp(head=0.9)@3"])


def test_the_head_holds_the_first_share_of_interactions() -> None:
    def head(counts: list[int], share: float) -> list[bool]:
        return [bool(there) for there in in_head(np.array(counts), share)]

    assert head([5, 3, 1, 1], 0.8) == [True, True, False, False]  # 8 of 10
    assert head([1, 5, 3, 1], 0.81) == [True, True, True, True]  # one of the last two is needed, and they are equal
    assert head([6, 2, 2], 0.7) == [True, True, True]
    assert head([6, 2, 2, 0], 0.6) == [True, False, False, False]
    assert head([1] * 3 + [7], 0.7) == [False, False, False, True]
    assert head([0, 0], 0.8) == [False, False]
    assert head([], 0.8) == []


def test_what_is_missing_is_named() -> None:
    recs, truth = {1: ["a"]}, {1: ["a"]}
    with pytest.raises(SideError, match="pop_rsp@1 needs train="):
        atkay.evaluate(recs, truth, "pop_rsp@1")
    with pytest.raises(SideError, match="needs train="):
        atkay.evaluate(recs, truth, "pop_rsp(groups=categories)@1", features={"a": "red"})


@tables
def test_by_its_definition(recs: Items, truth: Items, kinds: Any, train: Items, k: int | None) -> None:
    recs, truth, side = everything(recs, truth, kinds, train)
    listed = [(user, i) for user in truth for i in recs.get(user, [])[:k]]
    named = {"categories": by_category(kinds), "popularity": by_popularity(side["train"], 0.8)}
    for name, groups in named.items():
        pairs = [(user, i) for user in truth for i in set().union(*groups.values())]
        new = [(user, i) for user, i in pairs if i not in side["train"].get(user, [])]
        cases = {
            f"pop_rsp(groups={name},items=all)": (listed, pairs),
            f"pop_rsp(groups={name})": ([pair for pair in listed if pair in new], new),
        }
        for spec, (shown, could) in cases.items():
            result = atkay.evaluate(recs, truth, at(spec, k), **side)
            assert same(result[at(spec, k)], spread(chances(groups, shown, could))), at(spec, k)
