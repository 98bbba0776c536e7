"""Row AUC: worked cases, equal scores, and rows that are kept until the end."""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import atkay


def value(recs: object, truth: object, spec: str = "row_auc", **words: Any) -> float:
    return atkay.evaluate(recs, truth, spec, no_truth="zero", **words)[spec]


def test_worked_case() -> None:
    # Relevant 0.4 and 0.9; others 0.4, 0.1 and bob's 0.6: right are 1/2 + 1 + 0 and 1 + 1 + 1 of six pairs.
    recs = {"ann": {"a": 0.4, "b": 0.4, "c": 0.1}, "bob": {"a": 0.9}, "cat": {"a": 0.6, "b": 0.95}}
    truth = {"ann": {"a": 1, "b": 0, "c": 0}, "bob": {"a": 1}, "cat": {"a": 0}}
    assert value(recs, truth) == (1 / 2 + 1 + 0 + 3) / 6
    # Cat's b was listed and has no grade: above both.
    assert value(recs, truth, "row_auc(rows=listed)") == (1 / 2 + 1 + 0 + 0 + 3 + 0) / 8
    assert value(recs, {"ann": ["a"], "bob": ["a"]}, "row_auc(rows=listed)") == (1 / 2 + 1 + 0 + 0 + 3 + 0) / 8
    assert value(recs, truth, min_relevance=0.5) == value(recs, truth)


def test_nothing_to_compare() -> None:
    assert math.isnan(value({1: {"a": 1, "b": 2}}, {1: ["a", "b"]}))


@given(st.lists(st.tuples(st.sampled_from([-1e300, -2.5, -5e-324, -0.0, 0.0, 0.5, 3.0]), st.booleans()), min_size=1))
def test_every_pair(rows: list[tuple[float, bool]]) -> None:
    """One row each of as many users; those of whatever sign are in the right order."""
    recs = {user: {"a": score} for user, (score, _) in enumerate(rows)} | {-1: {"b": 0.0}}
    truth = {user: {"a": int(clicked)} for user, (_, clicked) in enumerate(rows)} | {-1: {"b": 1}}
    sides = [[score for score, clicked in [*rows, (0.0, True)] if clicked is side] for side in (True, False)]
    right = [(one > other) + (one == other) / 2 for one, other in product(*sides)]
    assert value(recs, truth) == pytest.approx(sum(right) / len(right) if right else math.nan, nan_ok=True)
