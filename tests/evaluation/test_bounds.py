"""Bounds: worked values, and all judgements of the unjudged items tried out."""

from __future__ import annotations

import itertools
import pickle
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import atkay
from atkay.errors import NumberError, ProtocolError, RowsError
from scenarios import examples
from variants import every_variant

WITH_BOUNDS = {"bpref", "dcg", "err", "f1", "hit", "map", "mnap", "mrr", "ndcg", "precision", "r_precision", "rbp",
               "recall"}  # fmt: skip


def all_judgements(listed: Any, truth: dict[Any, float], highest: float, metrics: Any, **fields: Any) -> Any:
    """The lowest and the highest values over all judgements; each of these is the truth of a user of its own."""
    unjudged = [item for item in listed if item not in truth]
    grades = sorted({0.0, 1.0, 2.0, highest} if highest > 1 else {0.0, 1.0})
    judgements = itertools.product(grades, repeat=len(unjudged))
    truths = {n: truth | dict(zip(unjudged, each, strict=True)) for n, each in enumerate(judgements)}
    recs = dict.fromkeys(truths, listed)
    values = atkay.evaluate(recs | {ANCHOR: listed}, truths | {ANCHOR: ANCHORED}, metrics, **fields).query_values[1:]
    return values.min(axis=0), values.max(axis=0)


def metrics_with_bounds() -> list[atkay.Metric]:
    every = [*every_variant(None), *every_variant(3)]
    return [one for one in every if one.monotone and getattr(one, "average", "users") == "users"]


METRICS = metrics_with_bounds()
ANCHOR, ANCHORED = -1, {0: 1.0}
"""The first user, whose truth has an item of the lists, so that there is always something to evaluate."""


def check(listed: Any, truth: dict[Any, float], **fields: Any) -> None:
    """The bounds of one user are those of all judgements."""
    metrics = METRICS
    if fields.get("ties") == "expected":
        metrics = [one for one in METRICS if one.averages and not (one.k and getattr(one, "per", "") == "hits")]
    fields = {"no_truth": "zero", **fields}
    highest = max([*truth.values(), 1.0, fields.get("min_relevance", 0.0)])
    lows, highs = all_judgements(listed, truth, highest, metrics, **fields)
    result = atkay.evaluate({1: listed, ANCHOR: listed}, {1: truth, ANCHOR: ANCHORED}, metrics, **fields)
    assert list(result.bounds) == list(result)
    for at, name in enumerate(result):
        low, high = (result.bounds.users[side][name][1] for side in ("lowest", "highest"))
        assert (low, high) == pytest.approx((lows[at], highs[at]), abs=1e-12), name
        value = result.query_values[1, at]
        assert low <= value <= high or name.startswith("bpref"), name


def test_every_metric_of_hits_has_bounds() -> None:
    assert {one.name for one in METRICS} >= WITH_BOUNDS


@examples(15, 400)
@given(
    hits=st.lists(st.sampled_from([None, None, None, 0, 1, 2, 3]), min_size=1, max_size=5),
    missed=st.lists(st.integers(0, 3), max_size=3),
)
def test_bounds_are_those_of_all_judgements(hits: list[int | None], missed: list[int]) -> None:
    truth = {item: float(grade) for item, grade in enumerate(hits) if grade is not None}
    check(list(range(len(hits))), truth | {100 + n: float(grade) for n, grade in enumerate(missed)})


@examples(10, 200)
@given(
    hits=st.lists(st.tuples(st.sampled_from([None, None, 0, 1, 2]), st.integers(1, 3)), min_size=1, max_size=5),
    missed=st.lists(st.integers(0, 2), max_size=2),
)
def test_bounds_of_averages_over_equal_scores(hits: list[tuple[int | None, int]], missed: list[int]) -> None:
    truth = {item: float(grade) for item, (grade, _) in enumerate(hits) if grade is not None}
    recs = {item: score for item, (_, score) in enumerate(hits)}
    check(recs, truth | {100 + n: float(grade) for n, grade in enumerate(missed)}, ties="expected")


def test_twelve_unjudged_items() -> None:
    # 2^12 judgements. Of 15 listed items those at ranks 2, 5 and 9 are judged.
    check(list(range(15)), {1: 1.0, 4: 0.0, 8: 1.0, 100: 1.0})


@pytest.mark.parametrize(
    "fields",
    [
        {"min_relevance": 2.0, "gains": "positive"},
        {"min_relevance": 2.0, "no_truth": "one"},
        {"unlisted": "ignored"},
        {"no_truth": "judged", "negative": "unjudged"},
    ],
    ids=str,
)
def test_bounds_under_other_protocols(fields: dict[str, Any]) -> None:
    # Ranks 1, 3, 4 and 6 are open; one item of grade 1 and one of grade 2 are judged, and one that nobody listed.
    check(list(range(6)), {1: 1.0, 4: 2.0, 100: 3.0}, **fields)
    check(list(range(6)), {1: 1.0, 4: 0.0}, **fields)


def test_a_worked_example() -> None:
    # x and y stand at ranks 1 and 3, unjudged; a at rank 2 is relevant, and so is b, which is not listed.
    result = atkay.evaluate(
        {1: ["x", "a", "y"]}, {1: ["a", "b"]}, ["precision@3", "recall@3", "map", "mrr", "recall@2"]
    )
    assert [tuple(bound) for bound in result.bounds.rows.values()] == [
        (1 / 3, 1 / 3, 3 / 3),
        (1 / 2, 1 / 2, 3 / 4),
        # Lowest with neither, highest with both: (1/1 + 2/2 + 3/3) / 4; with y alone it is (1/2 + 2/3) / 3 > 1/4.
        pytest.approx((1 / 4, 1 / 4, 3 / 4)),
        (1 / 2, 1 / 2, 1 / 1),
        # Relevant, y stands below the cutoff: 1 of 3. With x alone it is 2 of 3.
        pytest.approx((1 / 2, 1 / 3, 2 / 3)),
    ]
    assert (result.bounds.unjudged, result.bounds.listed) == (2, 3)


def test_a_relevant_item_far_down_can_lower_a_value() -> None:
    # a stands at rank 1. With y at rank 3 relevant, average precision is (1/1 + 2/3) / 2; with x, too, 1 again.
    result = atkay.evaluate({1: ["a", "x", "y"]}, {1: ["a"]}, "map")
    assert tuple(result.bounds["map"]) == pytest.approx((1, (1 + 2 / 3) / 2, 1))


def test_a_higher_grade_than_the_truth_has() -> None:
    # DCG of a's grade 1 at rank 2 is 1 / log2(3); with x of grade 3 at rank 1 it is 7 more.
    bounds = atkay.evaluate({1: ["x", "a"]}, {1: ["a"]}, "dcg(discount=jk)").bounds
    assert tuple(bounds["dcg(discount=jk)"]) == (1, 1, 2)
    assert tuple(bounds.up_to(3)["dcg(discount=jk)"]) == (1, 1, 8)
    assert bounds.up_to(3).grade == 3
    grades: list[Any] = [0.5, float("nan"), "3", True]
    for grade in grades:
        with pytest.raises(ProtocolError, match="the highest grade must be at least 1, the highest that the truth has"):
            bounds.up_to(grade)


def test_the_mean_is_of_the_users_of_the_result() -> None:
    # Ann 1/2 to 2/2, Bob 0/2 to 1/2; Cat, for whom nothing is relevant, does not count, whatever her item is.
    recs = {"ann": ["a", "x"], "bob": ["x", "n"], "cat": ["x"]}
    truth = {"ann": {"a": 1}, "bob": {"a": 1, "n": 0}, "cat": {"a": 0}}
    result = atkay.evaluate(recs, truth, "precision@2")
    assert tuple(result.bounds["precision@2"]) == (1 / 4, 1 / 4, 3 / 4)
    assert result.bounds.per_query.rows() == [("ann", "precision@2", 1 / 2, 1), ("bob", "precision@2", 0, 1 / 2)]
    assert result.bounds.table.rows() == [("precision@2", 1 / 4, 1 / 4, 3 / 4)]


def test_a_dialect_that_counts_a_metric_otherwise() -> None:
    # ir-measures reads AP with ties by text, falling, and RR@10 rising: z, a and a, z. Both have an open item.
    recs, truth = {"q": {"a": 1.0, "z": 1.0}, "p": {"a": 1.0}}, {"q": {"a": 1}, "p": {"a": 1}}
    result = atkay.evaluate(recs, truth, ["AP", "RR@10"], dialect="ir_measures")
    assert tuple(result.bounds["AP"]) == ((1 + 1 / 2) / 2, (1 + 1 / 2) / 2, 1)
    assert tuple(result.bounds["RR@10"]) == (1, 1, 1)


@pytest.mark.parametrize(
    ("spec", "fields", "reason"),
    [
        ("auc", {}, "no proof of its extremes is known"),
        ("bpref@1", {}, "no proof of its extremes is known"),
        ("map(per=hits)@1", {"ties": "expected"}, "no proof of its extremes is known"),
        ("judged@1", {}, "it is not a share of what is relevant"),
        ("median_rank", {}, "it is a number of the whole run"),
        ("recall(average=pooled)@1", {}, "it is pooled"),
        ("mrr", {"ties": "best"}, "what becomes relevant changes the ranks under ties='best'"),
        ("mrr", {"unjudged": "drop"}, "unjudged='drop' leaves no unjudged item"),
        ("mrr", {"nonpositive": "missed"}, "nonpositive='missed' makes it depend on scores"),
    ],
)
def test_numbers_without_bounds_say_why(spec: str, fields: dict[str, Any], reason: str) -> None:
    recs, truth = {1: {"a": 2.0, "x": 1.0}}, {1: ["a"]}
    bounds = atkay.evaluate(recs, truth, [spec, "mrr"] if not fields else spec, **fields).bounds
    assert list(bounds) == ([] if fields else ["mrr"])
    assert f"{spec}: {reason}" in repr(bounds)
    with pytest.raises(NumberError, match=f"has no bounds: {reason}"):
        bounds[spec]
    with pytest.raises(NumberError, match="was not evaluated"):
        bounds["ndcg@7"]


def test_results_without_their_lists_have_no_bounds(tmp_path: Any) -> None:
    result = atkay.evaluate({1: ["a", "x"]}, {1: ["a"]}, "mrr")
    result.save(tmp_path / "result.json")
    with pytest.raises(RowsError, match="bounds needs the lists"):
        _ = atkay.Result.load(tmp_path / "result.json").bounds
    assert pickle.loads(pickle.dumps(result)).bounds["mrr"] == result.bounds["mrr"]


def test_how_bounds_print() -> None:
    result = atkay.evaluate({1: ["x", "a"]}, {1: ["a"]}, ["mrr", "auc"])
    assert repr(result.bounds) == (
        "metric   value  lowest  highest\n"
        "───────────────────────────────\n"
        "mrr     0.5000  0.5000   1.0000\n\n"
        "1 of 2 listed items unjudged; each may be relevant, with a grade up to 1, or not\n\n"
        "auc: no proof of its extremes is known"
    )
    assert "| mrr    | 0.5000 | 0.5000 |  1.0000 |" in result.bounds.to_markdown()


def test_users_are_put_together_as_in_the_result() -> None:
    # Ann 1/2 to 1 with weight 3, Bob 0 to 1/2 with weight 1; all orders of two items have the same precision@2.
    recs, truth = {"ann": ["a", "x"], "bob": ["x", "n"]}, {"ann": {"a": 1}, "bob": {"a": 1, "n": 0}}
    weighed = atkay.evaluate(recs, truth, "precision@2", weights={"ann": 3, "bob": 1})
    assert tuple(weighed.bounds["precision@2"]) == (3 / 8, 3 / 8, (3 * 1 + 1 / 2) / 4)
    lowest = atkay.evaluate(recs, truth, "precision@2", aggregate="minimum")
    assert tuple(lowest.bounds["precision@2"]) == (0, 0, 1 / 2)
    assert tuple(weighed.chance["precision@2"])[:2] == (3 / 8, 3 / 8)
