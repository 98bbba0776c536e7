"""Subtopic recall, by hand."""

from __future__ import annotations

import pytest

from loops_subtopics import both, check_no_subtopics


@pytest.mark.parametrize(
    ("spec", "listed", "expected"),
    [
        ("subtopic_recall@1", "abxd", 2 / 4),
        ("subtopic_recall@3", "abxd", 2 / 4),  # b has nothing new
        ("subtopic_recall", "abxd", 4 / 4),
        ("subtopic_recall@2", "xc", 1 / 4),
        ("strec@5", "da", 4 / 4),
    ],
)
def test_by_hand(spec: str, listed: str, expected: float) -> None:
    assert both(spec.replace("strec", "subtopic_recall"), listed) == expected


def test_edges() -> None:
    check_no_subtopics("subtopic_recall@2")
