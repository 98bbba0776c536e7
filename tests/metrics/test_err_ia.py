"""ERR-IA, by hand, and as the mean of ERR over subtopics."""

from __future__ import annotations

import pytest

import atkay
from loops_subtopics import WEB, both, check_alpha, check_no_subtopics


@pytest.mark.parametrize(
    ("spec", "listed", "expected"),
    [
        # a has two new subtopics, b is the second with subtopic 1, x is not relevant, d has 3 and 4 new and 2 again.
        ("err_ia(per=nothing)@4", "abxd", 2 + 0.5 / 2 + 2.5 / 4),
        ("err_ia@4", "abxd", (2 + 0.5 / 2 + 2.5 / 4) / (4 * (1 + 0.5 / 2 + 0.25 / 3 + 0.125 / 4))),
        ("err_ia(per=subtopics)@4", "abxd", 0.5 / 4 * (2 + 0.5 / 2 + 2.5 / 4)),
        ("err_ia@1", "abxd", 2 / 4),
        ("err_ia", "xa", (2 / 2) / (4 * (1 + 0.5 / 2))),
        ("err_ia(alpha=0.2,per=subtopics)@2", "ab", 0.2 / 4 * (2 + 0.8 / 2)),
    ],
)
def test_by_hand(spec: str, listed: str, expected: float) -> None:
    assert both(spec, listed) == pytest.approx(expected, rel=1e-12)


def test_the_mean_over_subtopics_of_err() -> None:
    # ERR gives a grade of 1 the chance 1/2 where 1 is the highest; for each subtopic its items alone are relevant.
    users = {topic: [item for item, topics in WEB.items() if topic in topics] for topic in "1234"}
    result = atkay.evaluate({key: list("abxd") for key in users}, users, "err(highest=1)@4")
    assert both("err_ia(per=subtopics)@4", "abxd") == pytest.approx(result["err(highest=1)@4"], rel=1e-12)


def test_edges() -> None:
    check_no_subtopics("err_ia@2")
    check_alpha("err_ia")
