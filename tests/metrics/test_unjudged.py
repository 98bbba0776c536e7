"""The share of unjudged items, the holes of a list: worked values, and BEIR's own."""

from __future__ import annotations

import pytest

import atkay

# Ann: a relevant, x unjudged, y judged not relevant, z unjudged. Bob: one unjudged item.
RECS = {"ann": ["a", "x", "y", "z"], "bob": ["v"]}
TRUTH = {"ann": {"a": 1, "y": 0, "b": 1}, "bob": {"a": 2}}


@pytest.mark.parametrize(
    ("spec", "ann", "bob"),
    [
        ("unjudged@1", 0 / 1, 1 / 1),
        ("unjudged@3", 1 / 3, 1 / 1),
        ("unjudged", 2 / 4, 1 / 1),
        ("unjudged(per=k)@8", 2 / 8, 1 / 8),
    ],
)
def test_shares(spec: str, ann: float, bob: float) -> None:
    assert atkay.evaluate(RECS, TRUTH, spec).per_query[spec].to_list() == pytest.approx([ann, bob])


def test_an_empty_list_has_no_holes() -> None:
    assert atkay.evaluate({1: ["a"]}, {1: ["a"], 2: ["b"]}, "hole@5").per_query.rows() == [(1, 0.0), (2, 0.0)]


def test_the_values_of_beir() -> None:
    # beir.retrieval.custom_metrics.hole(qrels, results, [1, 2, 4]) by its source: an item that anybody judged counts as
    # judged there, which makes no difference here; every list is divided by k. (0 + 1)/1, (1 + 1)/2, (2 + 1)/4 over 2.
    result = atkay.evaluate(RECS, TRUTH, "hole(per=k)@1,2,4")
    assert list(result.values()) == [0.5, 0.5, 0.375]


def test_definition() -> None:
    assert atkay.parse("hole(per=k)@5").define() == ("unjudged items in the top 5, divided by 5", "u / 5")
