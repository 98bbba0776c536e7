"""The share of judged items: worked values, and ir-measures' own."""

from __future__ import annotations

import pytest

import atkay

# Ann: a relevant, x unjudged, y judged not relevant, z unjudged. Bob: one unjudged item.
RECS = {"ann": ["a", "x", "y", "z"], "bob": ["v"]}
TRUTH = {"ann": {"a": 1, "y": 0, "b": 1}, "bob": {"a": 2}}


@pytest.mark.parametrize(
    ("spec", "ann", "bob"),
    [
        ("judged@1", 1 / 1, 0 / 1),
        ("judged@3", 2 / 3, 0 / 1),
        ("judged", 2 / 4, 0 / 1),
        ("judged@8", 2 / 4, 0 / 1),
        ("judged(per=k)@8", 2 / 8, 0 / 8),
        ("judged(per=k)", 2 / 4, 0 / 1),
    ],
)
def test_shares(spec: str, ann: float, bob: float) -> None:
    assert atkay.evaluate(RECS, TRUTH, spec).per_query[spec].to_list() == pytest.approx([ann, bob])


def test_an_empty_list_shows_nothing() -> None:
    result = atkay.evaluate({1: ["a"]}, {1: ["a"], 2: ["b"]}, "judged@5")
    assert result.per_query.rows() == [(1, 1.0), (2, 0.0)]


def test_a_user_for_whom_nothing_is_relevant_has_a_share_too() -> None:
    result = atkay.evaluate({1: ["a", "x"], 2: ["b"]}, {1: {"a": 0}, 2: {"b": 1}}, "judged", no_truth="zero")
    assert result.per_query["judged"].to_list() == [1 / 2, 1]


def test_grades_below_0_are_judgements_unless_the_protocol_says_otherwise() -> None:
    recs, truth = {1: ["a", "x"]}, {1: {"a": 1, "x": -1}}
    assert atkay.evaluate(recs, truth, "judged")["judged"] == 1
    assert atkay.evaluate(recs, truth, "judged", negative="unjudged")["judged"] == 1 / 2
    assert atkay.evaluate(recs, truth, "judged", min_relevance=2, no_truth="zero")["judged"] == 1


def test_the_values_of_ir_measures() -> None:
    # ir_measures.iter_calc([Judged@1, Judged@3, Judged@8, Judged], qrels, run) of ir-measures 0.4.3, on these data.
    result = atkay.evaluate(RECS, TRUTH, ["Judged@1", "Judged@3", "Judged@8", "Judged"], dialect="ir_measures")
    assert result.per_query.rows() == [("ann", 1.0, 0.6666666666666666, 0.5, 0.5), ("bob", 0.0, 0.0, 0.0, 0.0)]


def test_definition() -> None:
    assert atkay.parse("judged@5").define() == ("judged items in the top 5, divided by the number of items listed "
                                                "there", "j / L")  # fmt: skip
