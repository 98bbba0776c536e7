"""Matthews' correlation: worked values."""

from __future__ import annotations

import math

import pytest

import atkay

CATALOG = list("abcuvwxyz")
RECS, TRUTH = {1: ["a", "x", "b", "y"]}, {1: ["a", "b", "c"]}
"""Nine items, three relevant; in the top 3 there are two hits and one other item."""


def test_by_hand() -> None:
    # Shown and relevant 2, shown only 1, relevant only 1, neither 5.
    result = atkay.evaluate(RECS, TRUTH, "mcc@3", catalog=CATALOG)
    assert result["mcc@3"] == pytest.approx((2 * 5 - 1 * 1) / math.sqrt(3 * 3 * 6 * 6), abs=1e-15)


def test_the_ends() -> None:
    recs, truth = {1: ["a", "b"], 2: ["x", "y"], 3: ["a", "b", "x", "y"]}, {1: ["a", "b"], 2: ["a", "b"], 3: ["a", "b"]}
    result = atkay.evaluate(recs, truth, "mcc", catalog=list("abxy"))
    assert result.per_query["mcc"].to_list() == [1, -1, 0]
