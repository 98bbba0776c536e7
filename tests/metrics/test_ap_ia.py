"""AP-IA, by hand, and as the mean of average precision over subtopics."""

from __future__ import annotations

import pytest

import atkay
from loops_subtopics import WEB, both, check_no_subtopics


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        # Of abxd: 1 has a and b, at 1 and 2; 2 has a and d, at 1 and 4; 3 has c and d, of which d is at 4; 4 has d.
        ("ap_ia", ((1 + 2 / 2) / 2 + (1 + 2 / 4) / 2 + (1 / 4) / 2 + 1 / 4) / 4),
        ("ap_ia@2", ((1 + 2 / 2) / 2 + 1 / 2) / 4),
    ],
)
def test_by_hand(spec: str, expected: float) -> None:
    assert both(spec, "abxd") == pytest.approx(expected, rel=1e-12)


def test_the_mean_over_subtopics_of_average_precision() -> None:
    users = {topic: [item for item, topics in WEB.items() if topic in topics] for topic in "1234"}
    result = atkay.evaluate({key: list("xcbad") for key in users}, users, "map")
    assert both("ap_ia", "xcbad") == pytest.approx(result["map"], rel=1e-12)


def test_edges() -> None:
    check_no_subtopics("ap_ia")
