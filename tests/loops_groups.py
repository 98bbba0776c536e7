"""Groups of items: lists, categories and training to try them on, and the groups in plain loops."""

from __future__ import annotations

import math
import statistics
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

Items = dict[int, list[int]]
Tables = tuple[Items, Items, dict[str, Any]]
OF = ("ratio", "inverse", "gap", "highest", "lowest")

lists = st.dictionaries(st.integers(0, 5), st.lists(st.integers(0, 7), min_size=1, max_size=6, unique=True), max_size=6)
cutoffs = st.sampled_from([1, 3, None])
words = st.dictionaries(st.integers(0, 9), st.lists(st.sampled_from("rgb"), min_size=1, unique=True), min_size=1)
tables = given(recs=lists, truth=lists, kinds=words, train=lists, k=cutoffs)


def at(spec: str, k: int | None) -> str:
    return spec if k is None else f"{spec}@{k}"


def same(found: float, expected: float) -> bool:
    return found == pytest.approx(expected, abs=1e-12, nan_ok=True)


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
    return [shown / possible for shown, possible in counts if possible]


def everything(
    recs: Items, truth: Items, kinds: dict[int, list[str]], train: Items
) -> tuple[Items, Items, dict[str, Any]]:
    """Lists and truth with something in common; some training data, and some features."""
    side: dict[str, Any] = {"features": kinds, "train": {**train, 98: [0, 1]}}
    return {**recs, 99: [0, 5]}, {**truth, 99: [0]}, side
