"""Recall: worked cases."""

from __future__ import annotations

import polars as pl
import pytest

import atkay


def test_next_basket_averaged_per_user_first() -> None:
    # User 1 has two orders with recall 1 and 0, user 2 one order with recall 1.
    rows = {"user": [1, 1, 2], "order": [1, 2, 1]}
    recs = pl.DataFrame({**rows, "item": ["a", "x", "c"]})
    truth = pl.DataFrame({**rows, "item": ["a", "b", "c"]})
    columns = atkay.Columns(user=("user", "order"))
    assert atkay.evaluate(recs, truth, "recall@1", columns=columns)["recall@1"] == pytest.approx((1 + 0 + 1) / 3)
    per_user = atkay.evaluate(recs, truth, "recall@1", columns=columns, average_over="user")
    assert per_user["recall@1"] == pytest.approx(((1 + 0) / 2 + 1) / 2)
    assert per_user.summaries["recall@1"].users == 2


def test_course_notes_hit_rate_of_everything_is_pooled() -> None:
    # TP = 1 + 1, FN = 2 + 0.
    recs, truth = {1: ["a"], 2: ["b"]}, {1: ["a", "c", "d"], 2: ["b"]}
    result = atkay.evaluate(recs, truth, ["recall(average=pooled)", "recall"])
    assert result["recall(average=pooled)"] == pytest.approx(2 / (2 + 2))
    assert result["recall"] == pytest.approx((1 / 3 + 1) / 2)


@pytest.mark.parametrize(
    ("spec", "value"),
    [("recall@1", 1 / 3), ("recall@2", 1 / 3), ("recall(per=capped)@2", 1 / min(2, 3)), ("recall", 2 / 3)],
)
def test_worked_cases(spec: str, value: float) -> None:
    # Hits at ranks 1 and 3, three relevant items.
    assert atkay.evaluate({1: ["a", "x", "b"]}, {1: ["a", "b", "c"]}, spec)[spec] == pytest.approx(value)
