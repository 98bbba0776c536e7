"""Mean average recall: worked values."""

from __future__ import annotations

import pytest

import atkay


@pytest.mark.parametrize(
    ("spec", "value"),
    [
        ("mar@1", 0.0),
        ("mar@4", (0 + 1 + 1 + 2) / (4 * 3)),  # recall is 0, 1/3, 1/3, 2/3
        ("mar@6", (0 + 1 + 1 + 2 + 2 + 2) / (6 * 3)),  # places that the list leaves empty count
        ("mar", (0 + 1 + 1 + 2) / (4 * 3)),
    ],
)
def test_by_hand(spec: str, value: float) -> None:
    result = atkay.evaluate({1: ["x", "a", "y", "b"]}, {1: ["a", "b", "c"]}, spec)
    assert result[spec] == pytest.approx(value, abs=1e-15)


def test_it_is_the_mean_of_recalls() -> None:
    recs, truth = {1: ["x", "a", "y", "b"], 2: ["a"]}, {1: ["a", "b", "c"], 2: ["a", "d"]}
    recalls = atkay.evaluate(recs, truth, "recall@1,2,3,4,5")
    assert atkay.evaluate(recs, truth, "mar@5")["mar@5"] == pytest.approx(sum(recalls.means.values()) / 5)
