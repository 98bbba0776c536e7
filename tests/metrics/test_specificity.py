"""Specificity: worked values."""

from __future__ import annotations

import pytest

import atkay

CATALOG = list("abcuvwxyz")
RECS, TRUTH = {1: ["a", "x", "b", "y"]}, {1: ["a", "b", "c"]}
"""Nine items in the catalogue, six of them irrelevant; the list has two of these."""


@pytest.mark.parametrize(
    ("spec", "value"),
    [("specificity@1", 1.0), ("specificity@3", 5 / 6), ("specificity", 4 / 6), ("specificity(among=listed)@3", 1 / 2)],
)
def test_by_hand(spec: str, value: float) -> None:
    assert atkay.evaluate(RECS, TRUTH, spec, catalog=CATALOG)[spec] == pytest.approx(value, abs=1e-15)
