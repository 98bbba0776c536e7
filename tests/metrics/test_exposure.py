"""Exposure of item groups: worked cases, and plain loops."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import atkay
from atkay.errors import SideError
from atkay.metrics.exposure import _integers
from loops_groups import OF, Items, at, by_category, by_popularity, everything, same, tables


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


def test_the_head_and_the_tail() -> None:
    train = {str(n): ["a"] for n in range(8)} | {"8": ["b"], "9": ["c"]}  # a holds 8 of 10: the head; b and c the tail
    recs, truth = {"u": ["a", "b", "new"]}, {"u": ["a", "b", "c", "new"]}
    spec = "exposure(groups=popularity)@3"
    # 1 / 1 against (1 / log2 3) / 2; what is new is in no group.
    assert atkay.evaluate(recs, truth, spec, train=train)[spec] == pytest.approx(2 * math.log2(3))


def test_what_is_missing_is_named() -> None:
    recs, truth = {1: ["a"]}, {1: ["a"]}
    with pytest.raises(SideError, match="needs features="):
        atkay.evaluate(recs, truth, "exposure@1")
    with pytest.raises(SideError, match=r"exposure@1 needs item categories.*choose groups=popularity"):
        atkay.evaluate(recs, truth, "exposure@1", features={"a": 1.5})


def test_weights_keep_all_their_digits() -> None:
    weights = 1 / np.log2(1 + np.concatenate((np.arange(1, 1000), 10 ** np.arange(3, 18))))
    for weight, coarse, fine in zip(weights.tolist(), *_integers(weights), strict=True):
        assert (int(coarse) * 2**30 + int(fine)) / 2**60 == weight


def compare(exposures: list[float]) -> dict[str, float]:
    if len(exposures) < 2 or not any(exposures):
        return dict.fromkeys(OF, math.nan)
    high, low = max(exposures), min(exposures)
    ratio = high / low if low else math.nan
    return {"ratio": ratio, "inverse": low / high, "gap": high - low, "highest": high, "lowest": low}


@tables
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
                denominator = {
                    "items": len(truth) * len(group),
                    "relevant": sum(i in group for i in relevant),
                    "listed": sum(i in group for i, _ in shown),
                }[per]
                if denominator:
                    exposures.append(sum(weight for i, weight in shown if i in group) / denominator)
            for of, expected in compare(exposures).items():
                assert same(result[specs[groups, per, of]], expected), specs[groups, per, of]
