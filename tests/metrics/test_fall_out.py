"""Fall-out: worked values."""

from __future__ import annotations

import pytest

import atkay

CATALOG = list("abcuvwxyz")
RECS, TRUTH = {1: ["a", "x", "b", "y"]}, {1: ["a", "b", "c"]}
"""Nine items in the catalogue, six of them irrelevant; the list has two of these."""


@pytest.mark.parametrize(
    ("spec", "value"),
    [("fall_out@1", 0.0), ("fall_out@3", 1 / 6), ("fall_out", 2 / 6), ("fall_out(among=listed)@3", 1 / 2)],
)
def test_by_hand(spec: str, value: float) -> None:
    assert atkay.evaluate(RECS, TRUTH, spec, catalog=CATALOG)[spec] == value


def test_the_whole_list_needs_no_catalogue() -> None:
    assert atkay.evaluate(RECS, TRUTH, "fall_out(among=listed)@2")["fall_out(among=listed)@2"] == 1 / 2


def test_what_is_not_in_the_catalogue_does_not_count() -> None:
    # y and c are not in it: of a, b, u, v, w, x, z four others than a and b are irrelevant, u, v, w and z; and x.
    catalog = list("abuvwxz")
    result = atkay.evaluate(RECS, TRUTH, "fall_out@4", catalog=catalog)
    assert result["fall_out@4"] == 1 / 5


def test_without_an_irrelevant_candidate_there_is_no_value() -> None:
    result = atkay.evaluate({1: ["a"], 2: ["x"]}, {1: ["a"], 2: ["a"]}, "fall_out(among=listed)@1")
    assert result["fall_out(among=listed)@1"] == 1
    assert result.summaries["fall_out(among=listed)@1"].undefined == 1
