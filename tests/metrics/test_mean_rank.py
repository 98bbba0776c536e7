"""Mean rank: worked values."""

from __future__ import annotations

from typing import Any

import pytest

import atkay

RECS, TRUTH = {1: ["x", "a", "y", "b"]}, {1: {"a": 1, "b": 2, "c": 3}}
"""Ranks 2 and 4; c is not listed: place 5."""


@pytest.mark.parametrize(
    ("spec", "value"),
    [
        ("mean_rank", (2 + 4 + 5) / 3),
        ("mean_rank(unlisted=skip)", (2 + 4) / 2),
        ("mean_rank(gain=linear)", (1 * 2 + 2 * 4 + 3 * 5) / 6),
        ("mean_rank(gain=linear,unlisted=skip)", (1 * 2 + 2 * 4) / 3),
    ],
)
def test_by_hand(spec: str, value: float) -> None:
    assert atkay.evaluate(RECS, TRUTH, spec)[spec] == pytest.approx(value, abs=1e-15)


def test_pooled() -> None:
    recs, truth = {1: ["a", "b"], 2: ["x", "y", "a"]}, {1: ["a", "b"], 2: ["a"]}
    result = atkay.evaluate(recs, truth, ["mean_rank", "mean_rank(average=pooled)"])
    assert result["mean_rank"] == (1.5 + 3) / 2
    assert result["mean_rank(average=pooled)"] == (1 + 2 + 3) / 3


def test_a_user_without_a_hit() -> None:
    recs, truth = {1: ["a"], 2: ["x", "y"]}, {1: ["a"], 2: ["b"]}
    result = atkay.evaluate(recs, truth, ["mean_rank", "mean_rank(unlisted=skip)"])
    assert result["mean_rank"] == (1 + 3) / 2
    assert result.summaries["mean_rank(unlisted=skip)"].undefined == 1


def test_users_without_truth_have_no_value_where_lower_is_better() -> None:
    # For bob nothing is relevant. He scores 0 where higher is better: (1 + 0) / 2; 0 would be the best fall-out there
    # is, and the best NDPM, and better than the top rank.
    recs, truth = {"ann": ["a", "x"], "bob": ["x", "y"]}, {"ann": {"a": 1}, "bob": {"x": 0}}
    lower = ["mean_rank", "mpr", "fall_out(among=listed)@2", "fall_out(among=listed,average=pooled)@1", "ndpm"]
    choices: tuple[tuple[Any, float], ...] = ("zero", 1 / 2), ("judged", 1 / 2), ("one", 1.0)
    for no_truth, others in choices:
        result = atkay.evaluate(recs, truth, ["mrr", *lower], no_truth=no_truth)
        assert result["mrr"] == others
        assert [result[name] for name in lower] == [1, 0, 1, 0, 0]  # Ann's alone
        assert [(result.summaries[name].users, result.summaries[name].undefined) for name in lower] == [(1, 1)] * 5
    assert "1 without truth (scored 1 by mrr)" in repr(result)
    assert "1 without truth (without a value)" in repr(atkay.evaluate(recs, truth, "ndpm", no_truth="zero"))
