"""Numbers of whole runs: lists to try them on, and how often they show an item."""

from __future__ import annotations

from typing import Any

import pytest
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


def cut(recs: Recs, k: int | None) -> dict[int, list[int]]:
    return {user: items[:k] for user, items in recs.items()}


def times(recs: Recs, k: int | None, item: int) -> int:
    return sum(item in items for items in cut(recs, k).values())


def anchored(recs: Recs) -> Recs:
    """Lists and truth must have something in common."""
    return {**recs, 99: [0]}


def same(found: float, expected: float) -> bool:
    return found == pytest.approx(expected, abs=1e-12, nan_ok=True)
