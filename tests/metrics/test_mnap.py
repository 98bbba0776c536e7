"""Mean normalised average precision: worked cases."""

from __future__ import annotations

import pytest

import atkay

# Relevance 0 1 0 1 0 1 0, three relevant items in all.
NOTES_LIST = {1: ["n1", "r1", "n2", "r2", "n3", "r3", "n4"]}
NOTES_TRUTH = {1: ["r1", "r2", "r3"]}


@pytest.mark.parametrize(
    ("spec", "value"),
    [("mnap@7", (1 / 2 + 2 / 4 + 3 / 6) / min(3, 7)), ("mnap@2", (1 / 2) / min(3, 2)), ("mnap@1", 0)],
)
def test_course_notes_worked_example(spec: str, value: float) -> None:
    assert atkay.evaluate(NOTES_LIST, NOTES_TRUTH, spec)[spec] == pytest.approx(value)


def test_is_map_per_capped() -> None:
    metrics = ["mnap@1,3,7", "map(per=capped)@1,3,7"]
    values = list(atkay.evaluate(NOTES_LIST, NOTES_TRUTH, metrics).values())
    assert values[:3] == values[3:]
