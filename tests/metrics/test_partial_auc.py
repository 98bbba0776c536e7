"""Partial AUC: worked values."""

from __future__ import annotations

import pytest

import atkay

RECS, TRUTH = {1: ["a", "x", "b", "y", "c", "z"]}, {1: ["a", "b", "c", "d"]}
"""Above a, b and c stand 0, 1 and 2 irrelevant items; d is not listed."""


@pytest.mark.parametrize(
    ("spec", "value"),
    [
        ("partial_auc@1", 1 / 4),
        ("partial_auc@2", (2 + 1) / (2 * 4)),
        ("partial_auc(relevant=top)@1", 1.0),
        ("partial_auc(relevant=top)@2", (2 + 1) / (2 * 2)),
        ("partial_auc@5", (5 + 4 + 3) / (5 * 4)),
        ("partial_auc", (3 + 2 + 1) / (3 * 4)),
    ],
)
def test_by_hand(spec: str, value: float) -> None:
    assert atkay.evaluate(RECS, TRUTH, spec)[spec] == value


def test_uncut_it_is_auc() -> None:
    result = atkay.evaluate(RECS, TRUTH, ["partial_auc", "auc"])
    assert result["partial_auc"] == result["auc"]


def test_short_lists() -> None:
    # User 1 has three irrelevant items, of five asked for, and misses d; user 2 has one, and all that is relevant.
    spec = "partial_auc(short=skip)@5"
    result = atkay.evaluate(RECS | {2: ["a", "x"]}, TRUTH | {2: ["a"]}, spec)
    assert result[spec] == 1
    assert result.summaries[spec].undefined == 1
