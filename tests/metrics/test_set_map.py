"""Set MAP: worked cases."""

from __future__ import annotations

import pytest

import atkay


@pytest.mark.parametrize(
    ("listed", "value"), [("axb", 2 / 3 * 2 / 4), ("bxa", 2 / 3 * 2 / 4), ("abcd", 1.0), ("x", 0.0)]
)
def test_worked_cases(listed: str, value: float) -> None:
    recs = {1: list(listed), 2: ["a"]}  # user 2 keeps an item in common
    truth = {1: ["a", "b", "c", "d"], 2: ["a"]}
    assert atkay.evaluate(recs, truth, "set_map").per_query["set_map"][0] == pytest.approx(value)


def test_depth_cuts_the_set_and_an_empty_list_scores_0() -> None:
    # Of the first item alone: precision 1, recall 1/2.
    recs, truth = {1: ["a", "x", "b"]}, {1: ["a", "b"], 2: ["a"]}
    assert atkay.evaluate(recs, truth, "set_map", depth=1).per_query["set_map"].to_list() == [0.5, 0]
