"""Alpha-DCG, by hand."""

from __future__ import annotations

import math

import pytest

from loops_subtopics import both, check_alpha, check_no_subtopics

LOG = math.log2


@pytest.mark.parametrize(
    ("spec", "listed", "expected"),
    [
        # a has two new subtopics, b is the second with subtopic 1, x is not relevant, d has 3 and 4 new and 2 again.
        ("alpha_dcg(per=nothing)@4", "abxd", 2 + 0.5 / LOG(3) + 2.5 / LOG(5)),
        (
            "alpha_dcg@4",
            "abxd",
            (2 + 0.5 / LOG(3) + 2.5 / LOG(5)) / (4 * (1 + 0.5 / LOG(3) + 0.25 / 2 + 0.125 / LOG(5))),
        ),
        ("alpha_dcg@2", "abxd", (2 + 0.5 / LOG(3)) / (4 * (1 + 0.5 / LOG(3)))),
        ("alpha_dcg@1", "abxd", 2 / 4),
        ("alpha_dcg", "ab", (2 + 0.5 / LOG(3)) / (4 * (1 + 0.5 / LOG(3)))),  # as long as the list
        ("alpha_dcg(alpha=0)@2", "ab", (2 + 1 / LOG(3)) / (4 * (1 + 1 / LOG(3)))),
        ("alpha_dcg(alpha=1)@2", "ab", 2 / 4),
    ],
)
def test_by_hand(spec: str, listed: str, expected: float) -> None:
    assert both(spec, listed) == pytest.approx(expected, rel=1e-12)


def test_items_with_all_subtopics_score_one() -> None:
    every = {key: ["1", "2", "3"] for key in "abc"}
    assert both("alpha_dcg(alpha=0.3)@3", "cab", every) == 1


def test_edges() -> None:
    check_no_subtopics("alpha_dcg@2")
    check_alpha("alpha_dcg")
