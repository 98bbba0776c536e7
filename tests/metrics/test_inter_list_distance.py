"""Inter-list distance: worked cases, and plain loops."""

from __future__ import annotations

import itertools
import math

import pytest
from hypothesis import given

import atkay
from loops_runs import Recs, anchored, at, cut, cutoffs, lists, number, same


def test_inter_list_distance_of_the_published_lists() -> None:
    recs = {1: ["a", "b"], 2: ["a", "c"], 3: ["a", "b"]}
    truth = {user: ["a"] for user in recs}
    # Pairs: 1 - 1/2, 1 - 2/2, 1 - 1/2; in closed form 1 - (3 x 2 + 2 x 1) / (3 x 2 x 2)
    for spec in ("inter_list_distance@2", "inter_list_distance", "inter_list_distance(per=listed)@2"):
        assert round(atkay.evaluate(recs, truth, spec)[spec], 6) == 0.333333


def test_inter_list_distance_of_ragged_lists() -> None:
    recs = {1: ["a", "b", "c"], 2: ["a"], 3: ["b", "a"]}
    truth = {1: ["a"], 2: ["a"], 3: ["a"], 4: ["a"]}  # user 4 has no list and forms no pair
    specs = ["inter_list_distance@4", "inter_list_distance", "inter_list_distance(per=listed)@4"]
    per_k, whole, listed = atkay.evaluate(recs, truth, specs).values()
    # Overlaps: 1 and 2 share a, 1 and 3 share a and b, 2 and 3 share a: 1, 2, 1, on average 4/3.
    assert per_k == pytest.approx(1 - 4 / 3 / 4)
    assert whole == pytest.approx(1 - 4 / 3 / 3)  # the longest list has 3
    assert listed == pytest.approx(1 - 4 / 3 / 2)  # they have (3 + 1 + 2) / 3 on average
    assert math.isnan(atkay.evaluate({1: ["a"]}, truth, "inter_list_distance@2")["inter_list_distance@2"])


def test_inter_list_distance_at_the_deepest_cutoff() -> None:
    recs = {1: ["a"], 2: ["a"]}
    spec = "inter_list_distance@10000000"
    assert atkay.evaluate(recs, {user: ["a"] for user in recs}, spec)[spec] == pytest.approx(1 - 1e-7)


@given(recs=lists, k=cutoffs)
def test_inter_list_distance_by_its_pairs(recs: Recs, k: int | None) -> None:
    recs = anchored(recs)
    tops = [set(items) for items in cut(recs, k).values()]
    overlaps = [len(one & other) for one, other in itertools.combinations(tops, 2)]
    for per, by in (("k", k or max(map(len, tops))), ("listed", sum(map(len, tops)) / len(tops))):
        expected = sum(1 - overlap / by for overlap in overlaps) / len(overlaps) if overlaps else math.nan
        assert same(number(recs, at(f"inter_list_distance(per={per})", k)), expected)
