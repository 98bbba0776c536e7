"""Coverage of users, Gini, entropy and inter-list distance: worked cases, and oracles in plain loops."""

from __future__ import annotations

import itertools
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import atkay

Recs = dict[int, list[int]]

lists = st.dictionaries(st.integers(0, 5), st.lists(st.integers(0, 7), min_size=1, max_size=6, unique=True), max_size=6)
catalogs = st.lists(st.integers(0, 9), min_size=1, unique=True)
cutoffs = st.sampled_from([1, 3, None])


def number(recs: Any, spec: str, **kwargs: Any) -> float:
    """The number; what is relevant matters to none of these metrics."""
    truth = {user: [0] for user in recs}
    return atkay.evaluate(recs, truth, spec, **kwargs)[spec]


def shown(counts: dict[str, int], spec: str, **kwargs: Any) -> float:
    """The number for lists of one item, so many for each item."""
    items = [item for item, count in counts.items() for _ in range(count)]
    recs = {user: [item] for user, item in enumerate(items)}
    return atkay.evaluate(recs, dict.fromkeys(recs, items[-1:]), spec, **kwargs)[spec]


def at(spec: str, k: int | None) -> str:
    return spec if k is None else f"{spec}@{k}"


# Worked cases


def test_gini_of_published_counts() -> None:
    four = ["a", "b", "c", "d"]
    # (-3 x 1 - 1 x 2 + 1 x 3 + 3 x 4) / (4 x 10) = 10 / 40
    assert shown({"a": 1, "b": 2, "c": 3, "d": 4}, "gini@1", catalog=four) == 0.25
    # 3 x 10 / (4 x 10)
    assert shown({"d": 10}, "gini@1", catalog=four) == 0.75
    assert shown({"a": 2, "b": 2, "c": 2, "d": 2}, "gini@1", catalog=four) == 0
    # Divided by n - 1: 10 / (3 x 10), and 3 x 10 / (3 x 10)
    assert shown({"a": 1, "b": 2, "c": 3, "d": 4}, "gini(divisor=n_less_1)@1", catalog=four) == 10 / 30
    assert shown({"d": 10}, "gini(divisor=n_less_1)@1", catalog=four) == 1


def test_gini_counts_the_catalogue_and_nothing_else() -> None:
    # b is not in the catalogue; a stands in 2 lists, c in none: (-1 x 0 + 1 x 2) / (2 x 2)
    assert shown({"b": 5, "a": 2}, "gini@1", catalog=["a", "c"]) == 0.5
    assert math.isnan(shown({"b": 5}, "gini@1", catalog=["a", "c"]))
    assert shown({"a": 2}, "gini@1", catalog=["a"]) == 0
    assert math.isnan(shown({"a": 2}, "gini(divisor=n_less_1)@1", catalog=["a"]))


def test_entropy_in_bits_and_as_a_share() -> None:
    assert shown({"a": 1, "b": 1, "c": 1, "d": 1}, "entropy@1") == 2
    assert shown({"a": 3}, "entropy@1") == 0
    # 1/2 x 1 + 1/4 x 2 + 1/4 x 2 = 1.5 bits, of log2 8 = 3
    assert shown({"a": 2, "b": 1, "c": 1}, "entropy(unit=share)@1", catalog=list("abcdefgh")) == 0.5
    # Items outside of the catalogue count for the bits (4 items alike: 2) and not for the share (2 of 2 alike: 1)
    four = {"a": 1, "b": 1, "c": 1, "d": 1}
    assert (shown(four, "entropy"), shown(four, "entropy(unit=share)", catalog=["a", "b"])) == (2, 1)
    assert math.isnan(shown({"a": 3}, "entropy(unit=share)", catalog=["a"]))
    assert math.isnan(shown({"a": 3}, "entropy(unit=share)", catalog=["b", "c"]))


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


def test_user_coverage() -> None:
    recs = {"a": [1, 2, 3], "b": [1], "c": [9], "d": [1, 2]}
    truth = {user: [1] for user in "abcde"}  # e has no list, that of c is emptied
    specs = ["user_coverage@2", "user_coverage", "user_coverage(count=full)@1,2,3", "user_coverage(count=full)"]
    result = atkay.evaluate(recs, truth, specs, exclude={"c": [9]})
    assert list(result.values()) == [3 / 5, 3 / 5, 3 / 5, 2 / 5, 1 / 5, 3 / 5]
    assert result.per_query["user_coverage@2"].to_list() == [1, 1, 0, 1, 0]
    skipped = atkay.evaluate(recs, truth, specs, exclude={"c": [9]}, no_recs="skip")
    assert skipped["user_coverage@2"] == 3 / 4  # e is not evaluated
    # A user without truth who is evaluated has a list all the same.
    assert atkay.evaluate(recs, {"a": [1], "b": [1]}, "user_coverage", no_truth="zero")["user_coverage"] == 1


# Oracles


def cut(recs: Recs, k: int | None) -> dict[int, list[int]]:
    return {user: items[:k] for user, items in recs.items()}


def times(recs: Recs, k: int | None, item: int) -> int:
    return sum(item in items for items in cut(recs, k).values())


def anchored(recs: Recs) -> Recs:
    """Lists and truth must have something in common."""
    return {**recs, 99: [0]}


def same(found: float, expected: float) -> bool:
    return found == pytest.approx(expected, abs=1e-12, nan_ok=True)


@given(recs=lists, catalog=catalogs, k=cutoffs)
def test_gini_by_comparing_every_pair(recs: Recs, catalog: list[int], k: int | None) -> None:
    """Half the mean difference of two items, over the mean."""
    recs = anchored(recs)
    x = [times(recs, k, item) for item in catalog]
    n, total = len(x), sum(x)
    apart = sum(abs(one - other) for one in x for other in x)
    expected = apart / (2 * n * total) if total else math.nan
    assert same(number(recs, at("gini", k), catalog=catalog), expected)
    full = expected * n / (n - 1) if n > 1 else math.nan
    assert same(number(recs, at("gini(divisor=n_less_1)", k), catalog=catalog), full)


@given(recs=lists, catalog=catalogs, k=cutoffs)
def test_entropy_by_its_definition(recs: Recs, catalog: list[int], k: int | None) -> None:
    recs = anchored(recs)

    def bits(items: list[int]) -> float:
        x = [times(recs, k, item) for item in items]
        return -sum(n / sum(x) * math.log2(n / sum(x)) for n in x if n) if sum(x) else math.nan

    assert same(number(recs, at("entropy", k)), bits(list(range(8))))
    share = bits(catalog) / math.log2(len(catalog)) if len(catalog) > 1 else math.nan
    assert same(number(recs, at("entropy(unit=share)", k), catalog=catalog), share)


@given(recs=lists, k=cutoffs)
def test_inter_list_distance_by_its_pairs(recs: Recs, k: int | None) -> None:
    recs = anchored(recs)
    tops = [set(items) for items in cut(recs, k).values()]
    overlaps = [len(one & other) for one, other in itertools.combinations(tops, 2)]
    for per, by in (("k", k or max(map(len, tops))), ("listed", sum(map(len, tops)) / len(tops))):
        expected = sum(1 - overlap / by for overlap in overlaps) / len(overlaps) if overlaps else math.nan
        assert same(number(recs, at(f"inter_list_distance(per={per})", k)), expected)


@given(recs=lists, k=cutoffs)
def test_user_coverage_by_counting(recs: Recs, k: int | None) -> None:
    recs = anchored(recs)
    truth = {user: [0] for user in (*range(8), 99)}
    result = atkay.evaluate(recs, truth, [at("user_coverage", k), at("user_coverage(count=full)", k)])
    full = [user for user, items in recs.items() if len(items) >= (k or 1)]
    assert list(result.values()) == [pytest.approx(len(recs) / 9), pytest.approx(len(full) / 9)]
