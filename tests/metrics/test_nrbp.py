"""NRBP, by hand."""

from __future__ import annotations

import pytest

import atkay
from atkay.errors import SpecError
from loops_subtopics import both, check_alpha, check_no_subtopics


@pytest.mark.parametrize(
    ("spec", "listed", "expected"),
    [
        # Gains 2, 1/2, 0 and 2.5; the factor is 1 - (1 - alpha) beta, over four subtopics.
        ("nrbp", "abxd", (1 - 0.5 * 0.5) / 4 * (2 + 0.5 * 0.5 + 2.5 * 0.125)),
        ("nrbp@2", "abxd", (1 - 0.5 * 0.5) / 4 * (2 + 0.5 * 0.5)),
        ("nrbp(beta=0.8)", "abxd", (1 - 0.5 * 0.8) / 4 * (2 + 0.5 * 0.8 + 2.5 * 0.512)),
        ("nrbp(beta=0)", "abxd", 2 / 4),
        ("nrbp(alpha=0.25,beta=0.8)", "ab", (1 - 0.75 * 0.8) / 4 * (2 + 0.75 * 0.8)),
    ],
)
def test_by_hand(spec: str, listed: str, expected: float) -> None:
    assert both(spec, listed) == pytest.approx(expected, rel=1e-12)


def test_edges() -> None:
    check_no_subtopics("nrbp")
    check_alpha("nrbp")
    with pytest.raises(SpecError, match="beta must be a number from 0 to below 1, got '1'"):
        atkay.parse("nrbp(beta=1)")
