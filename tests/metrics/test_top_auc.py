"""AUC of the top k: worked values."""

from __future__ import annotations

import pytest

import atkay

RECS, TRUTH = {1: ["x", "a", "y", "b", "z"]}, {1: ["a", "b", "c"]}


@pytest.mark.parametrize(
    ("spec", "value"),
    [
        ("top_auc@2", 0.0),  # x stands above a
        ("top_auc@3", 1 / 2),
        ("top_auc@4", 1 / 4),  # a above y, of a-x, a-y, b-x, b-y
        ("top_auc", 3 / 6),
    ],
)
def test_by_hand(spec: str, value: float) -> None:
    assert atkay.evaluate(RECS, TRUTH, spec)[spec] == value


def test_lists_without_a_pair() -> None:
    # User 1 has hits alone, user 2 none, user 3 one pair in the right order.
    recs, truth = {1: ["a"], 2: ["x"], 3: ["a", "x"]}, {1: ["a"], 2: ["a"], 3: ["a"]}
    specs = ["top_auc@2", "top_auc(one_kind=zero)@2", "top_auc(one_kind=hit)@2"]
    result = atkay.evaluate(recs, truth, specs)
    assert result.summaries[specs[0]].undefined == 2
    assert [result[spec] for spec in specs] == [1, 1 / 3, 2 / 3]


def test_pooled() -> None:
    recs, truth = RECS | {2: ["a", "x"]}, TRUTH | {2: ["a"]}
    assert atkay.evaluate(recs, truth, "top_auc(average=pooled)")["top_auc(average=pooled)"] == 4 / 7
