"""Utility: worked cases."""

from __future__ import annotations

import pytest

import atkay
from atkay.errors import SpecError

RECS = {1: ["a", "x", "b", "y"], 2: ["x"], 3: ["c"]}
TRUTH = {1: {"a": 1, "b": 1, "c": 1}, 2: {"x": 0}, 3: {"c": 1}}


@pytest.mark.parametrize(
    ("spec", "values"),
    [
        # Two hits, two others, one missed; a list without relevant items costs what it shows; one hit.
        ("utility", [2 - 2, 0 - 1, 1]),
        ("utility@1", [1 - 0, 0 - 1, 1]),
        ("utility(hit=2,wrong=-0.5,missed=-1)", [4 - 1 - 1, -0.5, 2]),
        ("utility(missed=-1)@1", [1 - 0 - 2, -1, 1]),
    ],
)
def test_worked_cases(spec: str, values: list[float]) -> None:
    result = atkay.evaluate(RECS, TRUTH, [spec], no_truth="zero")
    assert result.per_query[spec].to_list() == values


def test_the_fourth_weight_is_a_constant() -> None:
    # trec_eval -m utility.1,-1,0,0.25 -N 100: d = 100 - 4 - 3 + 2 = 95, so 1 · 2 - 1 · 2 + 0.25 · 95.
    spec = "utility(hit=0.75,wrong=-1.25,missed=-0.25)"
    assert atkay.evaluate(RECS, TRUTH, [spec]).per_query[spec][0] + 0.25 * 100 == 2 - 2 + 0.25 * 95


def test_refuses() -> None:
    with pytest.raises(SpecError, match="hit must be a number, at most a million"):
        atkay.parse("utility(hit=nan)")
