"""nNRBP, by hand."""

from __future__ import annotations

import pytest

from loops_subtopics import both, check_alpha, check_no_subtopics


@pytest.mark.parametrize(
    ("spec", "listed", "expected"),
    [
        # The ideal begins with d (2, 3, 4), then a (1 new, 2 again: 1.5), then b and c, 0.5 each.
        ("nnrbp", "abxd", (2 + 0.5 / 2 + 2.5 / 8) / (3 + 1.5 / 2 + 0.5 / 4 + 0.5 / 8)),
        ("nnrbp@2", "abxd", (2 + 0.5 / 2) / (3 + 1.5 / 2)),
        ("nnrbp(beta=0.8)@2", "abxd", (2 + 0.5 * 0.8) / (3 + 1.5 * 0.8)),
        ("nnrbp(beta=0)", "abxd", 2 / 3),
        ("nnrbp", "dabc", 1),
    ],
)
def test_by_hand(spec: str, listed: str, expected: float) -> None:
    assert both(spec, listed) == pytest.approx(expected, rel=1e-12)


def test_edges() -> None:
    check_no_subtopics("nnrbp")
    check_alpha("nnrbp")
