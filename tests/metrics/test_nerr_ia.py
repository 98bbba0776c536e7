"""nERR-IA, by hand."""

from __future__ import annotations

import pytest

import atkay
from loops_subtopics import both, check_alpha, check_no_subtopics


@pytest.mark.parametrize(
    ("spec", "listed", "expected"),
    [
        # The ideal begins with d (2, 3, 4), then a (1 new, 2 again: 1.5), then b and c, 0.5 each.
        ("nerr_ia@4", "abxd", (2 + 0.5 / 2 + 2.5 / 4) / (3 + 1.5 / 2 + 0.5 / 3 + 0.5 / 4)),
        ("nerr_ia@1", "abxd", 2 / 3),
        ("nerr_ia", "xa", (2 / 2) / (3 + 1.5 / 2 + 0.5 / 3 + 0.5 / 4)),
        ("nerr_ia(alpha=1)@2", "ab", 2 / (3 + 1 / 2)),
        ("nerr_ia@2", "da", 1),
    ],
)
def test_by_hand(spec: str, listed: str, expected: float) -> None:
    assert both(spec, listed) == pytest.approx(expected, rel=1e-12)


def test_of_equal_gains_the_last_id_as_text_comes_first() -> None:
    # 10, 9 and 8 have two subtopics each. As text 9 is the last, and then 8 has two new ones: 2 + 2/2.
    topics = {"10": ["1", "3"], "9": ["1", "2"], "8": ["3", "4"]}
    result = atkay.evaluate({"u": ["9", "8"]}, {"u": [*topics]}, "nerr_ia@2", features=topics)
    assert result["nerr_ia@2"] == 1


def test_edges() -> None:
    check_no_subtopics("nerr_ia@2")
    check_alpha("nerr_ia")
