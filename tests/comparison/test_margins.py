"""Whether the unjudged items could turn the order of two runs."""

from __future__ import annotations

from pathlib import Path

import pytest

import atkay
from atkay.errors import RowsError

TRUTH = {1: {"a": 1, "n": 0}, 2: {"a": 1, "n": 0}}


def test_bounds_that_do_not_overlap_are_an_order_that_holds() -> None:
    # Reciprocal rank: good 1 and 1; bad has n, which is judged, at rank 1: at most 1/2, whatever x is.
    good, bad = {1: ["a", "x"], 2: ["a"]}, {1: ["n", "x"], 2: ["n", "a"]}
    margins = atkay.compare({"bad": bad, "good": good}, TRUTH, ["mrr", "judged@1"]).bounds
    [margin] = margins
    # bad: (0 + 1/2) / 2 to (1/2 + 1/2) / 2.
    assert margin[:3] == ("mrr", "good", "bad")
    assert (margin.difference, margin.lowest, margin.highest) == (1 - 1 / 4, 1 - 1 / 2, 1 - 1 / 4)
    assert margin.is_fixed
    assert margin.verdict == "cannot be turned by the unjudged items"
    assert repr(margins).splitlines()[::2] == [
        "metric  run   against  difference   lowest  highest  this order",
        "mrr     good  bad         +0.7500  +0.5000  +0.7500  cannot be turned by the unjudged items",
        "judged@1: it has a value where nothing is relevant, too",
    ]


def test_bounds_that_overlap_leave_the_order_open() -> None:
    # new lists x first, which may be relevant: 1/2 to 1; old 1. Both list y, for which this makes no difference.
    old, new = {1: ["a", "y"], 2: ["n", "a"]}, {1: ["x", "a", "y"], 2: ["n", "a"]}
    [margin] = atkay.compare({"old": old, "new": new}, TRUTH, "mrr", baseline="old").bounds
    assert (margin.difference, margin.lowest, margin.highest) == (-1 / 4, -1 / 4, 0)
    assert margin.verdict == "may be turned by the unjudged items"
    [alike] = atkay.compare({"old": old, "same": old}, TRUTH, "mrr").bounds
    assert alike.verdict == "no order"


def test_a_saved_comparison_has_none(tmp_path: Path) -> None:
    comparison = atkay.compare({"one": {1: ["a"]}, "two": {1: ["n", "a"]}}, TRUTH, "mrr", no_recs="skip")
    comparison.save(tmp_path / "comparison.json")
    with pytest.raises(RowsError, match="Compare the lists again"):
        _ = atkay.Comparison.load(tmp_path / "comparison.json").bounds
