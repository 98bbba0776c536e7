"""The bejewelled player model: worked values."""

from __future__ import annotations

import pytest

import atkay


@pytest.mark.parametrize(
    ("spec", "value"),
    [
        ("bpm(highest=2)@5", (1 / 2 + 1) / 3),  # 1/2 after rank 1, enough after rank 3
        ("bpm(highest=2)@2", 1 / 2 / 2),  # the time is up at rank 2
        ("bpm(t=1.5,highest=2)@5", (1 / 2 + 1) / 3),  # enough exactly
        ("bpm(t=2,highest=2)@5", (1 / 2 + 1) / 5),  # never enough, and five ranks though only four are listed
        ("bpm(t=2,highest=2)", (1 / 2 + 1) / 4),  # the list's own end
        ("bpm@5", 1.0),  # the first item is enough
    ],
)
def test_by_hand(spec: str, value: float) -> None:
    result = atkay.evaluate({1: ["a", "x", "b", "y"]}, {1: {"a": 1, "b": 2}}, spec)
    assert result[spec] == pytest.approx(value, abs=1e-15)


def test_thirds_add_up() -> None:
    # Three grades of 1 out of 3 are one whole item, not 0.99...
    spec = "bpm(highest=3)@9"
    assert atkay.evaluate({1: ["a", "b", "c"]}, {1: dict.fromkeys("abc", 1)}, spec)[spec] == pytest.approx(1 / 3)


def test_hits_below_the_stop_do_not_count() -> None:
    assert atkay.evaluate({1: ["x", "a", "b"]}, {1: ["a", "b"]}, "bpm@3")["bpm@3"] == 1 / 2
