"""Chance: worked values, and all orders of a list tried out."""

from __future__ import annotations

import itertools
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import atkay
from atkay.errors import NumberError, RowsError
from atkay.metrics.metric import Metric, is_pooled
from scenarios import examples
from variants import every_variant

EVERY = dict.fromkeys([*every_variant(None), *every_variant(3)])
METRICS = [one for one in EVERY if one.needs_truth and (one.averages or type(one).all_orders is not Metric.all_orders)]
OF_CATALOG = [one for one in EVERY if one.name in ("accuracy", "fall_out", "mcc", "specificity", "compatibility")]
OF_USERS = [one for one in {*METRICS, *OF_CATALOG} if not is_pooled(one)]
MISSED = 9
CATALOG: dict[str, Any] = {"catalog": range(12)}


@examples(15, 300)
@given(
    grades=st.lists(st.sampled_from([None, 0, 1, 1, 2]), min_size=1, max_size=5),
    missed=st.lists(st.integers(1, 2), max_size=3),
)
def test_chance_and_best_are_those_of_all_orders(grades: list[int | None], missed: list[int]) -> None:
    judged = {item: float(grade) for item, grade in enumerate(grades) if grade is not None}
    truth = judged | dict(enumerate(map(float, missed), MISSED))
    orders = {n: list(order) for n, order in enumerate(itertools.permutations(range(len(grades))))}
    recs, truths = {-1: [0]} | orders, {-1: {0: 1.0}} | dict.fromkeys(orders, truth)
    values = atkay.evaluate(recs, truths, OF_USERS, no_truth="zero", **CATALOG).query_values
    first = {user: recs[user] for user in (-1, 0)}, {user: truths[user] for user in (-1, 0)}
    result = atkay.evaluate(*first, OF_USERS, no_truth="zero", **CATALOG)
    users = result.chance.users
    refused = {name.partition("(")[0].partition("@")[0] for name in result.chance.refused}
    assert refused <= {"compatibility", "normalized_gain", "partial_auc"}  # of graded truth, and PAP of many hits
    for at, metric in enumerate(OF_USERS):
        if (name := str(metric)) in result.chance.refused:
            continue
        value, of_orders = values[1, at], values[1:, at]
        of_orders = of_orders[~np.isnan(of_orders)]
        found = [users[side][name][1] for side in ("value", "chance", "best")]
        best = (of_orders.max if metric.better == "higher" else of_orders.min)() if len(of_orders) else math.nan
        mean = of_orders.mean() if len(of_orders) else math.nan
        assert found == pytest.approx([value, mean, best], abs=1e-12, nan_ok=True), name
        ceiling = users["ceiling"][name][1]
        better = ceiling >= best - 1e-12 if metric.better == "higher" else ceiling <= best + 1e-12
        assert metric.partial or better or math.isnan(best), name  # a list of relevant items alone has no pair for AUC


def test_a_worked_example() -> None:
    # One of three items is relevant, and stands at rank 2: the mean of 1, 1/2 and 1/3 is 11/18.
    result = atkay.evaluate({1: ["x", "a", "y"]}, {1: ["a", "b"]}, ["mrr", "recall@1", "precision@3"])
    standing = result.chance["mrr"]
    assert standing.chance == pytest.approx(11 / 18)
    assert standing.adjusted == pytest.approx((1 / 2 - 11 / 18) / (1 - 11 / 18))
    # At rank 1 it stands in one of three orders; 1 of 2 relevant items fits into the top 1, whichever is listed.
    assert tuple(result.chance["recall@1"]) == pytest.approx((0, 1 / 6, 1 / 2, 1 / 2, -1 / 2))
    # All three places count, whatever their order: nothing is between chance and the best. Two places could be hits.
    assert tuple(result.chance["precision@3"]) == pytest.approx((1 / 3, 1 / 3, 1 / 3, 2 / 3, math.nan), nan_ok=True)


def test_the_index_of_all_users_is_that_of_the_means() -> None:
    # Ann's hit stands at rank 1 of 2, Bob's at rank 2; by chance either has (1 + 1/2) / 2 = 3/4.
    result = atkay.evaluate({"ann": ["a", "x"], "bob": ["x", "a"]}, {"ann": ["a"], "bob": ["a"]}, "mrr")
    assert tuple(result.chance["mrr"]) == (3 / 4, 3 / 4, 1, 1, 0)
    assert result.chance.per_query.rows() == [
        ("ann", "mrr", 1, 3 / 4, 1, 1, 1),
        ("bob", "mrr", 1 / 2, 3 / 4, 1, 1, -1),
    ]
    assert result.chance.table.rows() == [("mrr", 3 / 4, 3 / 4, 1, 1, 0)]


def test_closed_forms_of_whole_lists() -> None:
    # One relevant item of two listed ones, judged not relevant the other: bpref is 1 or 0. PAP and G lose by the one
    # above: 1 or 0, and 1 or 1 / log2(3). AUC of the top 2 is 1 or 0, and that of the top 1 has no pair.
    specs = ["bpref", "partial_auc@1", "normalized_gain(gain=binary)", "top_auc@2", "top_auc(one_kind=hit)@1", "opa"]
    chance = atkay.evaluate({1: ["x", "a"]}, {1: {"a": 1, "x": 0}}, specs).chance
    assert [standing.chance for standing in chance.rows.values()] == pytest.approx(
        [1 / 2, 1 / 2, (1 + 1 / math.log2(3)) / 2, 1 / 2, 1 / 2, 1 / 2]
    )
    # ERR with R = 1/2 of two of three items.
    [err] = atkay.evaluate({1: ["a", "b", "x"]}, {1: ["a", "b"]}, "err(highest=1)").chance.rows.values()
    orders = (1 / 2 + 1 / 2 / 4, 1 / 2 + 1 / 3 / 4, 1 / 2 / 2 + 1 / 3 / 4)  # a b x, a x b, x a b, each twice
    assert err[1:3] == pytest.approx((sum(orders) / 3, 1 / 2 + 1 / 8))


def test_long_lists() -> None:
    # A hit of 1,000 items, 600 of which are relevant: where it stands, and what is above it, is settled by thousands of
    # steps; AP-like sums are those of the closed form of equal scores.
    rng = np.random.default_rng(2)
    recs = {1: rng.permutation(1000).tolist()}
    truth = {1: {item: float(item < 600) for item in range(1000)}}
    specs = ["partial_auc@300", "auc", "bpref", "bpref@500"]
    chance = atkay.evaluate(recs, truth, specs).chance
    # 400 irrelevant items: above a hit are 0 to 400 of them, each with the same chance.
    assert chance["partial_auc@300"].chance == pytest.approx(sum(300 - n for n in range(300)) / 300 / 401)
    assert chance["bpref"].chance == pytest.approx(chance["auc"].chance) == 1 / 2
    # At rank r, (r - 1) 400/999 of them are above it: mean rank 250.5 of the first 500 places, which it has half of.
    assert chance["bpref@500"].chance == pytest.approx((1 - 249.5 * 400 / 999 / 400) / 2)


def test_numbers_that_are_pooled() -> None:
    # By chance ann has 1 hit in 2 places of her 2, Bob 1/2 in 1 of his: 3/2 of 3 relevant items.
    recs, truth = {"ann": ["a", "b"], "bob": ["x", "a"]}, {"ann": ["a", "b"], "bob": ["a"]}
    result = atkay.evaluate(recs, truth, "recall(average=pooled)@1")
    assert tuple(result.chance["recall(average=pooled)@1"]) == pytest.approx(
        (1 / 3, 1.5 / 3, 2 / 3, 2 / 3, (1 - 1.5) / (2 - 1.5))
    )


def test_chance_is_the_expectation_over_equal_scores() -> None:
    rng = np.random.default_rng(3)
    recs = {user: {item: float(rng.integers(5)) for item in rng.permutation(12).tolist()} for user in range(20)}
    truth = {user: {item: float(rng.integers(4)) for item in rng.permutation(14)[:6].tolist()} for user in range(20)}
    equal = {user: dict.fromkeys(scores, 1.0) for user, scores in recs.items()}
    metrics = [one for one in METRICS if one.averages]
    chance = atkay.evaluate(recs, truth, metrics, ties="item").chance
    expected = atkay.evaluate(equal, truth, metrics, ties="expected")
    for name, standing in chance.rows.items():
        assert standing.chance == pytest.approx(expected[name], rel=1e-12), name


@pytest.mark.parametrize(
    ("spec", "fields", "reason"),
    [
        ("judged@1", {}, "it has a value where nothing is relevant, too"),
        ("median_rank", {}, "it is a number of the whole run"),
        ("mrr", {"nonpositive": "missed"}, "nonpositive='missed' makes it depend on scores"),
    ],
)
def test_numbers_without_a_value_by_chance_say_why(spec: str, fields: dict[str, Any], reason: str) -> None:
    chance = atkay.evaluate({1: {"a": 2.0, "x": 1.0}}, {1: ["a"]}, spec, **fields).chance
    assert list(chance) == []
    assert f"{spec}: {reason}" in repr(chance)
    with pytest.raises(NumberError, match=f"has no chance: {reason}"):
        chance[spec]


def test_results_without_their_lists_have_none(tmp_path: Path) -> None:
    atkay.evaluate({1: ["a", "x"]}, {1: ["a"]}, "mrr").save(tmp_path / "result.json")
    with pytest.raises(RowsError, match="chance needs the lists"):
        _ = atkay.Result.load(tmp_path / "result.json").chance


def test_how_it_prints() -> None:
    result = atkay.evaluate({1: ["x", "a"]}, {1: ["a"]}, ["mrr", "precision@2"])
    assert repr(result.chance) == (
        "metric        value  chance    best  ceiling  adjusted\n"
        "──────────────────────────────────────────────────────\n"
        "mrr          0.5000  0.7500  1.0000   1.0000   -1.0000\n"
        "precision@2  0.5000  0.5000  0.5000   0.5000         –"
    )
