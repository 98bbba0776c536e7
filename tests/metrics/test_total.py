"""Total: worked cases."""

from __future__ import annotations

import atkay

RECS = {1: ["a", "x", "n"], 2: ["b"], 4: ["a"]}
TRUTH = {1: {"a": 1, "b": 2, "n": 0}, 2: {"b": 1}, 3: {"a": 1}}
KINDS = ("listed", "relevant", "hits", "nonrelevant", "unjudged", "users")


def test_the_sums_of_counts() -> None:
    # User 4 has no truth and does not count; user 3 has no list and counts unless it is skipped.
    specs = [f"total(of={of})" for of in KINDS]
    assert list(atkay.evaluate(RECS, TRUTH, specs).values()) == [4, 4, 2, 1, 1, 3]
    assert list(atkay.evaluate(RECS, TRUTH, specs, no_recs="skip").values()) == [4, 3, 2, 1, 1, 2]


def test_cutoffs_and_segments() -> None:
    # Of the first item of each list: two in all, both of them hits.
    result = atkay.evaluate(RECS, TRUTH, ["total@1,2", "total(of=hits)@1"], slices={1: "x", 2: "y", 3: "y"})
    assert list(result.values()) == [2, 3, 2]
    assert {(segment, name): each[0] for _, segment, name, each in result.slice_summaries} == {
        **{("x", "total@1"): 1, ("x", "total@2"): 2, ("x", "total(of=hits)@1"): 1},
        **{("y", "total@1"): 1, ("y", "total@2"): 1, ("y", "total(of=hits)@1"): 1},
    }
