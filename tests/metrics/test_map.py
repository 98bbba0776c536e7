"""Mean average precision: published values, each with its arithmetic."""

from __future__ import annotations

import pytest

import atkay


@pytest.mark.parametrize(
    ("spec", "value"),
    # Hits at ranks 1 and 3 of four relevant items: the sum is 1/1 + 2/3.
    [("map@3", (5 / 3) / 4), ("map(per=capped)@3", (5 / 3) / 3), ("map(per=hits)@3", (5 / 3) / 2)],
)
def test_average_precision(spec: str, value: float) -> None:
    result = atkay.evaluate({1: ["a", "x", "b"]}, {1: ["a", "b", "c", "d"]}, spec)
    assert result[spec] == pytest.approx(value)
    assert result[spec] == pytest.approx(
        {"map@3": 0.416667, "map(per=capped)@3": 0.555556}.get(spec, 0.833333), abs=1e-6
    )


def test_average_precision_over_the_matched_items() -> None:
    # Matches at ranks 2 and 5 (l1 = 2, l2 = 5, N = 2), a third true item is not listed.
    result = atkay.evaluate({1: ["x", "a", "y", "z", "b"]}, {1: ["a", "b", "c"]}, "map(per=hits)@5")
    assert result["map(per=hits)@5"] == pytest.approx((1 / 2 + 2 / 5) / 2)


@pytest.mark.parametrize(
    ("per", "value"),
    [
        # Hits at ranks 1 and 3 of a list of 4, three relevant items, k = 5: the sum is 1/1 + 2/3.
        ("relevant", (1 + 2 / 3) / 3),
        ("capped", (1 + 2 / 3) / min(5, 3)),
        ("hits", (1 + 2 / 3) / 2),
        ("k", (1 + 2 / 3) / 5),
        ("listed", (1 + 2 / 3) / min(3, 4)),
        ("places", (1 / 1 + 1 / 2 + 2 / 3 + 2 / 4 + 2 / 5) / 5),
    ],
)
def test_every_divisor(per: str, value: float) -> None:
    result = atkay.evaluate({1: ["a", "x", "b", "y"]}, {1: ["a", "b", "c"]}, f"map(per={per})@5")
    assert list(result.values()) == pytest.approx([value])
