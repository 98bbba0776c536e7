"""P-IA, by hand, and as the mean of precision over subtopics."""

from __future__ import annotations

import pytest

import atkay
from loops_subtopics import WEB, both, check_no_subtopics


@pytest.mark.parametrize(
    ("spec", "listed", "expected"),
    [
        ("p_ia@2", "abxd", (2 / 2 + 1 / 2) / 4),  # subtopic 1 twice and 2 once
        ("p_ia@5", "abxd", (2 + 2 + 1 + 1) / 5 / 4),
        ("p_ia(per=listed)@5", "abxd", (2 + 2 + 1 + 1) / 4 / 4),
        ("p_ia(per=listed)@2", "abxd", (2 / 2 + 1 / 2) / 4),
        ("p_ia", "xa", (1 / 2 + 1 / 2) / 4),  # the list has two items
    ],
)
def test_by_hand(spec: str, listed: str, expected: float) -> None:
    assert both(spec, listed) == pytest.approx(expected, rel=1e-12)


def test_the_mean_over_subtopics_of_precision() -> None:
    users = {topic: [item for item, topics in WEB.items() if topic in topics] for topic in "1234"}
    result = atkay.evaluate({key: list("xcbad") for key in users}, users, "precision@4")
    assert both("p_ia@4", "xcbad") == pytest.approx(result["precision@4"], rel=1e-12)


def test_edges() -> None:
    check_no_subtopics("p_ia@2")
