"""Exposure of item groups, statistical parity and equal opportunity: worked cases, and oracles in plain loops."""

from __future__ import annotations

import math
import statistics
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import atkay
from atkay.errors import SideError
from atkay.metrics.exposure import _whole
from atkay.metrics.item_groups import in_head

Items = dict[int, list[int]]

lists = st.dictionaries(st.integers(0, 5), st.lists(st.integers(0, 7), min_size=1, max_size=6, unique=True), max_size=6)
cutoffs = st.sampled_from([1, 3, None])
words = st.dictionaries(st.integers(0, 9), st.lists(st.sampled_from("rgb"), min_size=1, unique=True), min_size=1)
OF = ("ratio", "inverse", "gap", "highest", "lowest")


def at(spec: str, k: int | None) -> str:
    return spec if k is None else f"{spec}@{k}"


def same(found: float, expected: float) -> bool:
    return found == pytest.approx(expected, abs=1e-12, nan_ok=True)


# Worked cases


def test_ranks_one_and_two_against_three_and_four() -> None:
    colours = {"p": "green", "q": "green", "r": "red", "s": "red"}
    recs, truth = {1: ["p", "q", "r", "s"]}, {1: ["p", "r", "s"]}
    specs = [f"exposure(of={of})@4" for of in OF]
    first, second = (1 + 1 / math.log2(3)) / 2, (1 / 2 + 1 / math.log2(5)) / 2
    ratio, inverse, gap, highest, lowest = atkay.evaluate(recs, truth, specs, features=colours).values()
    assert round(ratio, 6) == 1.752413
    assert [highest, lowest, gap] == pytest.approx([first, second, first - second])
    assert inverse == pytest.approx(second / first)
    # Per relevant item: 2 x first over 1 relevant, 2 x second over 2
    spec = "exposure(per=relevant)@4"
    assert atkay.evaluate(recs, truth, spec, features=colours)[spec] == pytest.approx(2 * first / second)


def test_a_group_that_is_never_shown() -> None:
    colours = {"p": "green", "q": "red"}
    specs = [f"exposure(of={of})@1" for of in OF]
    found = atkay.evaluate({1: ["p", "q"]}, {1: ["p"]}, specs, features=colours)
    assert list(found.values()) == [pytest.approx(math.nan, nan_ok=True), 0, 1, 1, 0]
    # Per listed place red has no exposure, and one group is nothing to compare.
    spec = "exposure(per=listed,of=gap)@1"
    assert math.isnan(atkay.evaluate({1: ["p", "q"]}, {1: ["p"]}, spec, features=colours)[spec])


def test_an_item_of_several_groups_counts_in_each() -> None:
    kinds = {"p": ["green", "round"], "q": ["green"], "r": ["round"]}
    # Per item: green (1 + 1/log2 3) / 2, round (1 + 0) / 2, as r is not listed, and o belongs to no group
    found = atkay.evaluate({1: ["p", "q", "o"]}, {1: ["p"]}, "exposure", features=kinds)["exposure"]
    assert found == pytest.approx(1 + 1 / math.log2(3))


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


def test_popularity_groups() -> None:
    train = {n: ["a"] for n in range(8)} | {8: ["b"], 9: ["c"]}  # a holds 8 of 10: the head; b and c the tail
    recs, truth = {"u": ["a", "b", "new"]}, {"u": ["a", "b", "c", "new"]}
    specs = ["pop_rsp@3", "pop_reo@3", "exposure(groups=popularity)@3", "pop_rsp(head=0.9)@3"]
    result = atkay.evaluate(recs, truth, specs, train={str(user): items for user, items in train.items()})
    # Listed: 1 of 1 and 1 of 2; mean 3/4, std 1/4. The same for relevant items. What is new is in no group.
    assert result["pop_rsp@3"] == result["pop_reo@3"] == pytest.approx(1 / 3)
    # Exposure: 1 / 1 against (1 / log2 3) / 2
    assert result["exposure(groups=popularity)@3"] == pytest.approx(2 * math.log2(3))
    # b and c are equal, so a head of 0.9 has all three, and there is nothing to compare with.
    assert math.isnan(result["pop_rsp(head=0.9)@3"])


def test_what_is_missing_is_said() -> None:
    recs, truth = {1: ["a"]}, {1: ["a"]}
    with pytest.raises(SideError, match="needs features="):
        atkay.evaluate(recs, truth, "exposure@1")
    with pytest.raises(SideError, match="pop_rsp@1 needs train="):
        atkay.evaluate(recs, truth, "pop_rsp@1")
    with pytest.raises(SideError, match=r"needs train="):
        atkay.evaluate(recs, truth, "pop_rsp(groups=categories)@1", features={"a": "red"})
    with pytest.raises(SideError, match="exposure@1 needs categories, and features= has nothing but numbers"):
        atkay.evaluate(recs, truth, "exposure@1", features={"a": 1.5})


def test_weights_keep_all_their_digits() -> None:
    weights = 1 / np.log2(1 + np.concatenate((np.arange(1, 1000), 10 ** np.arange(3, 18))))
    for weight, coarse, fine in zip(weights.tolist(), *_whole(weights), strict=True):
        assert (int(coarse) * 2**30 + int(fine)) / 2**60 == weight


# Oracles


def by_category(kinds: dict[int, list[str]]) -> dict[str, set[int]]:
    return {kind: {item for item in kinds if kind in kinds[item]} for words in kinds.values() for kind in words}


def by_popularity(train: Items, share: float) -> dict[str, set[int]]:
    """An item is in the head where the items that are more popular do not hold the share yet."""
    popularity = {item: sum(item in had for had in train.values()) for had in train.values() for item in had}
    total = sum(popularity.values())
    head = {
        item
        for item, count in popularity.items()
        if sum(other for other in popularity.values() if other > count) < share * total
    }
    return {"head": head, "tail": set(popularity) - head}


def spread(chances: list[float]) -> float:
    if len(chances) < 2 or not any(chances):
        return math.nan
    return statistics.pstdev(chances) / statistics.fmean(chances)


def chances(groups: dict[str, set[int]], listed: list[tuple[int, int]], could: list[tuple[int, int]]) -> list[float]:
    """Of the pairs of a user and an item of each group that could be listed, how many are."""
    counts = [(sum(i in group for _, i in listed), sum(i in group for _, i in could)) for group in groups.values()]
    return [above / below for above, below in counts if below]


def compare(exposures: list[float]) -> dict[str, float]:
    if len(exposures) < 2 or not any(exposures):
        return dict.fromkeys(OF, math.nan)
    high, low = max(exposures), min(exposures)
    ratio = high / low if low else math.nan
    return {"ratio": ratio, "inverse": low / high, "gap": high - low, "highest": high, "lowest": low}


def everything(
    recs: Items, truth: Items, kinds: dict[int, list[str]], train: Items
) -> tuple[Items, Items, dict[str, Any]]:
    """Lists and truth with something in common; some training data, and some features."""
    side: dict[str, Any] = {"features": kinds, "train": {**train, 98: [0, 1]}}
    return {**recs, 99: [0, 5]}, {**truth, 99: [0]}, side


@given(recs=lists, truth=lists, kinds=words, train=lists, k=cutoffs)
def test_exposure_by_its_definition(recs: Items, truth: Items, kinds: Any, train: Items, k: int | None) -> None:
    recs, truth, side = everything(recs, truth, kinds, train)
    named = {"categories": by_category(kinds), "popularity": by_popularity(side["train"], 0.8)}
    specs = {
        (groups, per, of): at(f"exposure(groups={groups},per={per},of={of})", k)
        for groups in named
        for per in ("items", "relevant", "listed")
        for of in OF
    }
    result = atkay.evaluate(recs, truth, list(specs.values()), **side)
    shown = [(i, 1 / math.log2(1 + rank)) for user in truth for rank, i in enumerate(recs.get(user, [])[:k], 1)]
    relevant = [i for items in truth.values() for i in items]
    for groups, members in named.items():
        for per in ("items", "relevant", "listed"):
            exposures = []
            for group in filter(None, members.values()):
                below = {
                    "items": len(truth) * len(group),
                    "relevant": sum(i in group for i in relevant),
                    "listed": sum(i in group for i, _ in shown),
                }[per]
                if below:
                    exposures.append(sum(weight for i, weight in shown if i in group) / below)
            for of, expected in compare(exposures).items():
                assert same(result[specs[groups, per, of]], expected), specs[groups, per, of]


@given(recs=lists, truth=lists, kinds=words, train=lists, k=cutoffs)
def test_parity_by_its_definition(recs: Items, truth: Items, kinds: Any, train: Items, k: int | None) -> None:
    recs, truth, side = everything(recs, truth, kinds, train)
    listed = [(user, i) for user in truth for i in recs.get(user, [])[:k]]
    named = {"categories": by_category(kinds), "popularity": by_popularity(side["train"], 0.8)}
    for name, groups in named.items():
        pairs = [(user, i) for user in truth for i in set().union(*groups.values())]
        new = [(user, i) for user, i in pairs if i not in side["train"].get(user, [])]
        wanted = [(user, i) for user in truth for i in truth[user]]
        cases = {
            f"pop_rsp(groups={name},items=all)": (listed, pairs),
            f"pop_rsp(groups={name})": ([pair for pair in listed if pair in new], new),
            f"pop_reo(groups={name})": ([pair for pair in listed if pair in wanted], wanted),
        }
        for spec, (found, could) in cases.items():
            result = atkay.evaluate(recs, truth, at(spec, k), **side)
            assert same(result[at(spec, k)], spread(chances(groups, found, could))), at(spec, k)
