"""Count: worked cases."""

from __future__ import annotations

import pytest

import atkay

# a and b are relevant, n is not, p is named without a judgement; nobody judged x.
RECS = {1: ["a", "x", "n", "p"], 2: ["b"]}
TRUTH = {1: {"a": 1, "b": 2, "n": 0, "p": -1}, 2: {"b": 1}, 3: {"a": 1}}


@pytest.mark.parametrize(
    ("spec", "values"),
    [
        ("count", [4, 1, 0]),
        ("count@3", [3, 1, 0]),
        ("count(of=relevant)@1", [2, 1, 1]),
        ("count(of=hits)", [1, 1, 0]),
        ("count(of=nonrelevant)", [1, 0, 0]),
        ("count(of=nonrelevant)@2", [0, 0, 0]),
        ("count(of=unjudged)", [2, 0, 0]),
        ("count(of=unjudged)@2", [1, 0, 0]),
    ],
)
def test_worked_cases(spec: str, values: list[int]) -> None:
    result = atkay.evaluate(RECS, TRUTH, spec, negative="unjudged")
    assert result.per_query[spec].to_list() == values
    assert result[spec] == pytest.approx(sum(values) / 3)
