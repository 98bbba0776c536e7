"""Accuracy: worked values."""

from __future__ import annotations

import pytest

import atkay

CATALOG = list("abcuvwxyz")
RECS, TRUTH = {1: ["a", "x", "b", "y"]}, {1: ["a", "b", "c"]}
"""Nine items, three relevant; two hits and two other items are listed."""


@pytest.mark.parametrize(
    ("spec", "value"),
    [
        ("accuracy@1", (1 + 6) / 9),  # a is shown; x, y, z, u, v, w are not
        ("accuracy@3", (2 + 5) / 9),
        ("accuracy", (2 + 4) / 9),
    ],
)
def test_by_hand(spec: str, value: float) -> None:
    assert atkay.evaluate(RECS, TRUTH, spec, catalog=CATALOG)[spec] == value


def test_what_is_not_in_the_catalogue_does_not_count() -> None:
    # Of a, x and c: a is rightly shown, x wrongly, c wrongly not.
    assert atkay.evaluate(RECS, TRUTH, "accuracy@4", catalog=list("axc"))["accuracy@4"] == 1 / 3
