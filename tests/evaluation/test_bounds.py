"""Bounds: worked values, and all judgements of the unjudged items tried out."""

from __future__ import annotations

import itertools
import math
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import atkay
from atkay.errors import NumberError, ProtocolError, RowsError
from atkay.metrics.metric import RunMetric, is_pooled
from scenarios import examples
from variants import every_variant, side

ANCHOR, ANCHORED = -1, {0: 1.0}
"""The first user, whose truth has an item of the lists, so that there is always something to evaluate."""

METRICS = [
    one
    for one in dict.fromkeys([*every_variant(None), *every_variant(3)])
    if one.needs_truth and not isinstance(one, RunMetric)
]
OF_USERS = [one for one in METRICS if not is_pooled(one)]
PROVEN = [one for one in OF_USERS if one.monotone and not one.of_one_gain]
OF_ONE_GAIN = [one for one in OF_USERS if one.monotone]
CATALOG: dict[str, Any] = {"catalog": range(8)}


def check(
    listed: Any, truth: dict[Any, float], metrics: Any, grades: set[float], tables: Any = CATALOG, **fields: Any
) -> None:
    """The bounds of one user are those of all judgements with these grades, each the truth of a user of its own."""
    if fields.get("ties") == "expected":
        metrics = [one for one in metrics if one.averages and not (one.k and getattr(one, "per", "") == "hits")]
    fields = {"no_truth": "zero", **fields}
    unjudged = [item for item in listed if item not in truth]
    judgements = itertools.product(sorted({0.0, *grades}), repeat=len(unjudged))
    truths = {n: truth | dict(zip(unjudged, each, strict=True)) for n, each in enumerate(judgements)}
    people = [ANCHOR, *truths]
    if "train" in tables:
        tables = tables | {
            "train": {each: [0, 2] for each in people},
            "reference": {each: [0, 3, 1] for each in people},
        }
    every = {ANCHOR: ANCHORED} | truths
    values = atkay.evaluate(dict.fromkeys(people, listed), every, metrics, **tables, **fields).query_values[1:]
    one_user = {ANCHOR: ANCHORED, 0: truth}
    bounds = atkay.evaluate(dict.fromkeys(one_user, listed), one_user, metrics, **tables, **fields).bounds
    for name, of_all in zip(bounds.result, values.T, strict=True):
        defined = of_all[~np.isnan(of_all)]
        ends = (defined.min(), defined.max()) if len(defined) else (math.nan, math.nan)
        assert [bounds.users[side][name][1] for side in ("lowest", "highest")] == pytest.approx(
            ends, abs=1e-12, nan_ok=True
        ), name


def grades_up_to(truth: dict[Any, float]) -> set[float]:
    """1 and 2, up to the highest grade of the truth."""
    highest = max(1.0, *truth.values(), 0.0)
    return {1.0, min(2.0, highest), highest}


def test_which_metrics_have_bounds_for_every_list() -> None:
    assert {one.name for one in METRICS if not one.monotone} == {
        *("alpha_dcg", "alpha_ndcg", "ap_ia", "awrf", "efd", "eild", "epc", "err_ia", "inst", "ips_dcg", "ips_hit"),
        *("ips_ndcg", "ips_precision", "ips_recall", "kendall", "nerr_ia", "nnrbp", "nrbp", "p_ia", "serendipity"),
        *("spearman", "subtopic_recall"),
    }


@examples(15, 400)
@given(
    hits=st.lists(st.sampled_from([None, None, None, 0, 1, 2, 3]), min_size=1, max_size=5),
    missed=st.lists(st.integers(0, 3), max_size=3),
)
def test_bounds_are_those_of_all_judgements(hits: list[int | None], missed: list[int]) -> None:
    truth = {item: float(grade) for item, grade in enumerate(hits) if grade is not None}
    truth |= {100 + n: float(grade) for n, grade in enumerate(missed)}
    check(list(range(len(hits))), truth, PROVEN, grades_up_to(truth))


@examples(15, 400)
@given(hits=st.lists(st.sampled_from([None, None, None, 0, 1]), min_size=1, max_size=6), missed=st.integers(0, 3))
def test_bounds_where_all_grades_are_the_same(hits: list[int | None], missed: int) -> None:
    truth = {item: float(grade) for item, grade in enumerate(hits) if grade is not None}
    check(list(range(len(hits))), truth | {100 + n: 1.0 for n in range(missed)}, OF_ONE_GAIN, {1.0})


@examples(4, 100)
@given(hits=st.lists(st.sampled_from([None, None, 0, 1, 2]), min_size=1, max_size=5), missed=st.integers(0, 2))
def test_bounds_that_are_found_by_trying(hits: list[int | None], missed: int) -> None:
    truth = {item: float(grade) for item, grade in enumerate(hits) if grade is not None}
    truth |= {6 + n: 1.0 for n in range(missed)}
    others = [one for one in OF_USERS if one not in PROVEN]
    check(list(range(len(hits))), truth, others, {1.0, *truth.values()}, side())


@examples(10, 200)
@given(
    hits=st.lists(st.tuples(st.sampled_from([None, None, 0, 1, 2]), st.integers(1, 3)), min_size=1, max_size=5),
    missed=st.lists(st.integers(0, 2), max_size=2),
)
def test_bounds_of_averages_over_equal_scores(hits: list[tuple[int | None, int]], missed: list[int]) -> None:
    truth = {item: float(grade) for item, (grade, _) in enumerate(hits) if grade is not None}
    recs = {item: score for item, (_, score) in enumerate(hits)}
    truth |= {100 + n: float(grade) for n, grade in enumerate(missed)}
    check(recs, truth, PROVEN, grades_up_to(truth), ties="expected")


def test_twelve_unjudged_items() -> None:
    # 2^12 judgements. Of 15 listed items those at ranks 2, 5 and 9 are judged.
    check(list(range(15)), {1: 1.0, 4: 0.0, 8: 1.0, 100: 1.0}, OF_ONE_GAIN, {1.0})


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
    check(list(range(6)), {1: 1.0, 4: 2.0, 100: 3.0}, PROVEN, {1.0, 2.0, 3.0}, **fields)
    check(list(range(6)), {1: 1.0, 4: 0.0}, PROVEN, {1.0, fields.get("min_relevance", 1.0)}, **fields)


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
        ("judged@1", {}, "it has a value where nothing is relevant, too"),
        ("median_rank", {}, "it is a number of the whole run"),
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


def test_too_many_judgements_to_try() -> None:
    # 2^12 judgements are tried out, of two grades 3^7: of 13 unjudged items, or of 8, there are more.
    recs, binary, graded = {1: range(1, 14)}, {1: [1, 20]}, {1: {1: 1, 20: 2}}
    assert "inst" in atkay.evaluate(recs, binary, "inst").bounds
    bounds = atkay.evaluate(recs | {2: range(1, 15)}, binary | {2: [1]}, "inst").bounds
    assert bounds.refused["inst"].endswith("tried out where none has more than 12 unjudged items")
    assert "opa" in atkay.evaluate(recs, binary, "opa").bounds
    assert atkay.evaluate(recs, graded, "opa").bounds.refused["opa"].endswith("more than 7 unjudged items")


def test_pooled_bounds() -> None:
    # Recall at 1: Ann 1 of 1, or of 2 where x below the cutoff is relevant; Bob 0 of 2, or 1 of 3 with x, 1 of 3 with
    # only y, or 0 of 3. Lowest (1 + 0) / (2 + 3), highest (1 + 1) / (1 + 3): more than (1 + 0) / (1 + 2).
    recs, truth = {"ann": ["a", "x"], "bob": ["x", "y"]}, {"ann": ["a"], "bob": ["b", "c"]}
    result = atkay.evaluate(recs, truth, "recall(average=pooled)@1")
    assert tuple(result.bounds["recall(average=pooled)@1"]) == pytest.approx((1 / 3, 1 / 5, 2 / 4))


def test_users_with_a_value_under_some_judgements() -> None:
    # AUC of ann: 1 as judged, 0 if x were relevant and a were not: but a is, so with x there is no pair. Bob has 1/2,
    # and 1/2 (z relevant too). The mean is lowest without ann, 1/2, and highest with her: (1 + 1/2) / 2.
    recs = {"ann": ["a", "x"], "bob": ["n", "b", "m"]}
    truth = {"ann": {"a": 1}, "bob": {"b": 1, "n": 0, "m": 0}}
    result = atkay.evaluate(recs, truth, "auc")
    assert tuple(result.bounds["auc"]) == (3 / 4, 1 / 2, 3 / 4)
    assert atkay.evaluate(recs, truth, "auc", aggregate="median").bounds.refused["auc"].startswith("some users have")


@examples(3, 60)
@given(
    hits=st.lists(st.lists(st.sampled_from([None, None, 0, 1]), min_size=1, max_size=3), min_size=2, max_size=3),
    weights=st.lists(st.sampled_from([0.5, 1.0, 2.0]), min_size=3, max_size=3),
)
def test_bounds_of_several_users_together(hits: list[list[int | None]], weights: list[float]) -> None:
    recs = {user: [0, *range(1, len(each) + 1)] for user, each in enumerate(hits)}
    truth = {user: {0: 1.0} | {n: g for n, g in enumerate(each, 1) if g is not None} for user, each in enumerate(hits)}
    metrics = [one for one in METRICS if one.monotone and (is_pooled(one) or one.partial)]
    fields: dict[str, Any] = CATALOG | {"weights": dict(enumerate(weights))}
    unjudged = [(user, item) for user, items in recs.items() for item in items if item not in truth[user]]
    values = []
    for judgement in itertools.product((0, 1), repeat=len(unjudged)):
        every = {user: dict(grades) for user, grades in truth.items()}
        for (user, item), grade in zip(unjudged, judgement, strict=True):
            every[user][item] = grade
        values.append([*atkay.evaluate(recs, every, metrics, **fields).values()])
    bounds = atkay.evaluate(recs, truth, metrics, **fields).bounds
    for name, of_all in zip(bounds.result, np.array(values).T, strict=True):
        defined = of_all[~np.isnan(of_all)]
        ends = (defined.min(), defined.max()) if len(defined) else (math.nan, math.nan)
        assert bounds[name][1:] == pytest.approx(ends, abs=1e-12, nan_ok=True), name


def test_results_without_their_lists_have_no_bounds(tmp_path: Any) -> None:
    result = atkay.evaluate({1: ["a", "x"]}, {1: ["a"]}, "mrr")
    result.save(tmp_path / "result.json")
    with pytest.raises(RowsError, match="bounds needs the lists"):
        _ = atkay.Result.load(tmp_path / "result.json").bounds
    assert pickle.loads(pickle.dumps(result)).bounds["mrr"] == result.bounds["mrr"]


def test_how_bounds_print() -> None:
    result = atkay.evaluate({1: ["x", "a"]}, {1: ["a"]}, ["mrr", "judged@2"])
    assert repr(result.bounds) == (
        "metric   value  lowest  highest\n"
        "───────────────────────────────\n"
        "mrr     0.5000  0.5000   1.0000\n\n"
        "1 of 2 listed items unjudged; each may be relevant, with a grade up to 1, or not\n\n"
        "judged@2: it has a value where nothing is relevant, too"
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
