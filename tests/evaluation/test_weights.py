"""Weights: users who count more than others, with the arithmetic written out, in every engine and in comparisons."""

from __future__ import annotations

import itertools
import math
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import stats

import atkay
from atkay.errors import IdError, InputError, ProtocolError

# The relevant item, r, stands at ranks 1, 2 and 4 and nowhere: reciprocal ranks 1, 1/2, 1/4 and 0.
RECS = {"a": ["r", "x"], "b": ["x", "r"], "c": ["x", "y", "z", "r"], "d": ["x", "y"]}
TRUTH = {user: ["r"] for user in RECS}
VALUES, WEIGHTS = np.array([1, 1 / 2, 1 / 4, 0]), {"a": 1, "b": 2, "c": 4, "d": 1}
MEAN = (1 * 1 + 2 * 1 / 2 + 4 * 1 / 4 + 1 * 0) / (1 + 2 + 4 + 1)
WEIGHT = np.array([*WEIGHTS.values()], float)


def same(one: atkay.Result, other: atkay.Result) -> None:
    assert one.means == other.means
    assert np.array_equal([*one.summaries.values()], [*other.summaries.values()], equal_nan=True)


def test_weighted_means() -> None:
    result = atkay.evaluate(RECS, TRUTH, ["mrr", "precision(average=pooled)@2"], weights=WEIGHTS)
    assert result["mrr"] == MEAN == 3 / 8
    # One hit in the first two of two items for a and b, none for c and d.
    assert result["precision(average=pooled)@2"] == (1 * 1 + 2 * 1) / (2 * (1 + 2 + 4 + 1))
    assert result.definitions["mrr"].words.endswith("; weighted mean over users")
    assert "users count by their weights" in str(result)


def test_a_weighted_geometric_mean() -> None:
    result = atkay.evaluate(RECS, TRUTH, "mrr", weights=WEIGHTS, aggregate="geometric(epsilon=0.1)")
    assert result["mrr"] == pytest.approx((1**1 * (1 / 2) ** 2 * (1 / 4) ** 4 * 0.1**1) ** (1 / 8))


def test_the_interval_is_that_of_a_ratio() -> None:
    summary = atkay.evaluate(RECS, TRUTH, "mrr", weights=WEIGHTS).summaries["mrr"]
    # Var(sum of w x / sum of w) = n / (n - 1) * sum of (w (x - mean))^2 / (sum of w)^2
    error = math.sqrt(4 / 3 * sum((WEIGHT * (VALUES - MEAN)) ** 2)) / 8
    half = stats.t.ppf(0.975, 3) * error
    assert (summary.low, summary.high) == pytest.approx((max(MEAN - half, 0), min(MEAN + half, 1)))
    assert math.isnan(summary.deviation)


def test_equal_weights_change_no_number() -> None:
    plain = atkay.evaluate(RECS, TRUTH, ["mrr", "ndcg@2"]).summaries
    weighted = atkay.evaluate(RECS, TRUTH, ["mrr", "ndcg@2"], weights=dict.fromkeys(RECS, 0.25)).summaries
    for name, summary in plain.items():
        assert weighted[name][:3] == pytest.approx(summary[:3])


FRAME = pl.DataFrame({"user": [*WEIGHTS], "weight": [*WEIGHTS.values()], "age": [20, 30, 40, 50]})


@pytest.mark.parametrize(
    "weights",
    [
        {user: 7.5 * weight for user, weight in WEIGHTS.items()},  # in any unit
        FRAME,
        FRAME.select("user", visits="weight").sample(fraction=1, shuffle=True, seed=1).to_pandas(),
        pl.concat([FRAME, FRAME.with_columns(user=pl.lit("z")).head(1)]),  # of users who are not evaluated, too
    ],
)
def test_forms(weights: Any) -> None:
    assert atkay.evaluate(RECS, TRUTH, "mrr", weights=weights)["mrr"] == MEAN


@pytest.mark.parametrize("users", [None, [*RECS]])
@pytest.mark.parametrize("weights", [WEIGHT, [*WEIGHTS.values()]])
def test_arrays_are_in_the_order_of_the_rows(weights: Any, users: Any) -> None:
    given = {} if users is None else {"users": users}
    lists = [["r", "x"], ["x", "r"], ["x", "y", "z", "r"], ["x", "y"]]
    assert atkay.evaluate(lists, [["r"]] * 4, "mrr", weights=weights, **given)["mrr"] == MEAN


def test_a_user_with_weight_0_does_not_count() -> None:
    result = atkay.evaluate(RECS, TRUTH, "mrr", weights={**WEIGHTS, "a": 0})
    assert result["mrr"] == (2 * 1 / 2 + 4 * 1 / 4) / 7
    assert (result.summaries["mrr"].users, result.summaries["mrr"].undefined) == (3, 1)


@pytest.mark.parametrize(
    ("weights", "error", "message"),
    [
        ({"a": 1, "b": 1}, InputError, "weights: 2 users without a weight: user 'c', for example. Give each evaluated"),
        ({**WEIGHTS, "c": -1}, InputError, "weights: 'weight' holds -1 in row 2.*A weight must be 0 or above"),
        ({**WEIGHTS, "c": math.nan}, InputError, "weights: 'weight' is missing .* in row 2"),
        ({**WEIGHTS, "c": "many"}, InputError, "weights"),
        (dict.fromkeys(RECS, 0), InputError, "weights: all weights are 0"),
        ({"x": 1}, InputError, "weights"),
        ([1, 2, 4, 1], IdError, "weights and truth have ids of different types"),
        (pl.DataFrame({"user": ["a"]}), InputError, "weights: no weight column; columns are 'user'"),
        (FRAME.rename({"weight": "visits"}), InputError, "weights: no weight column; columns are 'user', 'visits'"),
        (pl.concat([FRAME, FRAME]), InputError, "weights: user 'a' has two rows. Give each user one weight"),
    ],
)
def test_what_is_refused(weights: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        atkay.evaluate(RECS, TRUTH, "mrr", weights=weights)


def test_ordered_aggregates_have_no_weights() -> None:
    with pytest.raises(ProtocolError, match="weights= is for aggregate='mean' or geometric, not for median"):
        atkay.evaluate(RECS, TRUTH, "mrr", weights=WEIGHTS, aggregate="median")


QUERIES: dict[str, Any] = {
    "recs": pl.DataFrame({"user": [1, 1, 1, 2], "query": [1, 2, 2, 1], "item": ["r", "x", "r", "x"]}),
    "truth": pl.DataFrame({"user": [1, 1, 2], "query": [1, 2, 1], "item": ["r", "r", "r"]}),
    "columns": atkay.Columns(user=("user", "query")),
}


def test_users_whose_queries_are_averaged_first() -> None:
    result = atkay.evaluate(**QUERIES, metrics="mrr", average_over="user", weights={1: 3, 2: 1})
    assert result["mrr"] == (3 * (1 + 1 / 2) / 2 + 1 * 0) / 4
    of_queries = pl.DataFrame({"user": [1, 1, 2], "query": [1, 2, 1], "weight": [1, 2, 1]})
    with pytest.raises(InputError, match="the queries of one group have different weights: user 1, query 1"):
        atkay.evaluate(**QUERIES, metrics="mrr", average_over="user", weights=of_queries)
    assert atkay.evaluate(**QUERIES, metrics="mrr", weights=of_queries)["mrr"] == (1 * 1 + 2 * 1 / 2 + 0) / 4


def test_segments_and_saved_files(tmp_path: Path) -> None:
    slices = dict(zip(RECS, "ppqq", strict=True))
    result = atkay.evaluate(RECS, TRUTH, "mrr", weights=WEIGHTS, slices=slices)
    assert result.slices["mean"].to_list() == [(1 * 1 + 2 * 1 / 2) / 3, (4 * 1 / 4) / 5]
    result.save(tmp_path / "result.json")
    again = atkay.Result.load(tmp_path / "result.json")
    same(again, result)
    assert again.slices.equals(result.slices)
    assert again.weighted


# Engines.


@pytest.mark.parametrize("aggregate", ["mean", "geometric"])
def test_files_and_streams_agree(aggregate: str, tmp_path: Path) -> None:
    given: Any = {
        "metrics": ["mrr", "precision(average=pooled)@2"][: 1 + (aggregate == "mean")],
        "aggregate": aggregate,
    }
    memory = atkay.evaluate(RECS, TRUTH, weights=WEIGHTS, **given)
    rows = [(user, item) for user, items in RECS.items() for item in items]
    pl.DataFrame(rows, schema=["user", "item"], orient="row").write_csv(tmp_path / "recs.csv")
    pl.DataFrame({"user": [*TRUTH], "item": ["r"] * 4}).write_csv(tmp_path / "truth.csv")
    FRAME.select("user", "weight").write_csv(tmp_path / "weights.csv")
    files = [tmp_path / f"{name}.csv" for name in ("recs", "truth")]
    same(atkay.evaluate(files[0], files[1], weights=tmp_path / "weights.csv", memory="100KB", **given), memory)
    codes = {"r": 0, "x": 1, "y": 2, "z": 3}
    shards = [atkay.Stream(**given) for _ in range(2)]
    for at, (user, items) in enumerate(RECS.items()):
        shards[at % 2].update([[codes[item] for item in items]], [[0]], weights=[WEIGHTS[user]])
    shards[0].merge(shards[1].to_bytes())
    again = atkay.Stream.from_bytes(shards[0].to_bytes())
    result = again.compute()
    same(result, memory)
    assert result.weighted
    result.save(tmp_path / "stream.json")
    same(atkay.Result.load(tmp_path / "stream.json"), memory)
    with pytest.raises(InputError, match="some batches have weights and others have none"):
        again.update([[0]], [[0]])


@pytest.mark.parametrize("weights", [[1, 2], [[1.0]], [-1.0], [math.inf], ["x"]])
def test_streams_refuse_other_weights(weights: Any) -> None:
    with pytest.raises(InputError, match="update: weights"):
        atkay.Stream("mrr").update([[0]], [[0]], weights=weights)


def test_full_ranking_agrees() -> None:
    pytest.importorskip("torch")
    scores = np.array([[4.0, 3, 2, 1], [3, 4, 2, 1], [1, 4, 3, 2], [2, 4, 3, 1]])
    truth = ([0, 1, 2, 3, 4], [0] * 4)
    result = atkay.full_ranking(scores, np.eye(4), truth, "mrr@3", weights=WEIGHT)
    assert result["mrr@3"] == pytest.approx((1 * 1 + 2 / 2 + 4 * 0 + 1 / 3) / 8)
    with pytest.raises(InputError, match="weights: got 1 number for 4 users"):
        atkay.full_ranking(scores, np.eye(4), truth, "mrr@3", weights=[1])
    with pytest.raises(ProtocolError, match="not for minimum"):
        atkay.full_ranking(scores, np.eye(4), truth, "mrr@3", weights=WEIGHT, aggregate="minimum")


@pytest.mark.filterwarnings("ignore::FutureWarning:pyspark")
@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_spark_agrees(spark: Any) -> None:
    rows = [(user, item, -rank) for user, items in RECS.items() for rank, item in enumerate(items)]
    recs = pl.DataFrame(rows, schema=["user", "item", "score"], orient="row")
    truth = pl.DataFrame({"user": [*TRUTH], "item": ["r"] * 4})
    lists, relevant = (spark.createDataFrame(frame.to_arrow()) for frame in (recs, truth))
    result = atkay.evaluate(lists, relevant, "mrr", weights=WEIGHTS)
    memory = atkay.evaluate(recs, truth, "mrr", weights=WEIGHTS)
    same(result, memory)
    assert np.array_equal(result.with_rows("a test").weights, WEIGHT)  # type: ignore[arg-type]  # there are some


# Comparing.


def reciprocal(lists: dict[str, list[str]]) -> Any:
    return np.array([1 / (items.index("r") + 1) if "r" in items else 0 for items in lists.values()])


BETTER = {"a": ["x", "r"], "b": ["r"], "c": ["x", "r"], "d": ["x", "r"]}


def test_weighted_means_are_compared() -> None:
    comparison = atkay.compare({"old": RECS, "new": BETTER}, TRUTH, "mrr", weights=WEIGHTS)
    [difference] = comparison["mrr"]
    apart = reciprocal(BETTER) - VALUES  # -1/2, 1/2, 1/4, 1/2
    mean = (WEIGHT @ apart) / 8
    assert difference.difference == pytest.approx(mean) == (1 * -1 / 2 + 2 * 1 / 2 + 4 * 1 / 4 + 1 * 1 / 2) / 8
    assert (difference.wins, difference.ties, difference.losses) == (3, 0, 1)
    signs = np.array([*itertools.product([1, -1], repeat=4)])
    reached = np.abs(signs @ (WEIGHT * apart)) >= abs(WEIGHT @ apart) - 1e-12
    assert difference.p["permutation"] == reached.mean()
    error = math.sqrt(4 / 3 * sum((WEIGHT * (apart - mean)) ** 2)) / 8
    assert difference.p["t"] == pytest.approx(2 * stats.t.sf(mean / error, 3))
    half = stats.t.ppf(0.975, 3) * error
    assert (difference.low, difference.high) == pytest.approx((mean - half, mean + half))
    assert "users count by their weights; t and bootstrap use the delta method" in str(comparison)


def test_tests_of_ranks_and_signs_know_no_weights() -> None:
    with pytest.warns(atkay.errors.NotMeanWarning):
        comparison = atkay.compare(
            {"old": RECS, "new": BETTER}, TRUTH, "mrr", weights=WEIGHTS, test=["wilcoxon", "sign"]
        )
    assert np.isnan([*comparison["mrr"][0].p.values()]).all()


def test_random_permutations_of_weighted_values() -> None:
    """Thirteen users have 8192 patterns of signs; of 4000 random ones as large a share reaches the sum."""
    rng = np.random.default_rng(3)
    old, new = ({u: [f"x{n}" for n in range(rng.integers(0, 5))] + ["r"] for u in range(13)} for _ in range(2))
    weights = dict(enumerate(rng.exponential(1, 13)))
    truth: Any = {user: ["r"] for user in range(13)}
    p = [
        atkay.compare({"old": old, "new": new}, truth, "mrr", weights=weights, test="permutation", permutations=n)
        for n in (8192, 4000)
    ]
    apart = np.array([1 / len(new[user]) - 1 / len(old[user]) for user in range(13)]) * [*weights.values()]
    signs = np.array([*itertools.product([1, -1], repeat=13)])
    exact = (np.abs(signs @ apart) >= abs(apart.sum()) - 1e-12).mean()
    assert p[0]["mrr"][0].p["permutation"] == exact
    assert p[1]["mrr"][0].p["permutation"] == pytest.approx(exact, abs=4 * math.sqrt(exact * (1 - exact) / 4000))


def test_results_with_other_weights_are_not_compared() -> None:
    plain, one = atkay.evaluate(RECS, TRUTH, "mrr"), atkay.evaluate(RECS, TRUTH, "mrr", weights=WEIGHTS)
    other = atkay.evaluate(RECS, TRUTH, "mrr", weights={**WEIGHTS, "b": 3})
    with pytest.raises(ProtocolError, match="weights is None in 'plain' and 'given' in 'one'"):
        atkay.compare({"plain": plain, "one": one})
    with pytest.raises(InputError, match="compare: user 'b' has different weights in 'one' and 'other'"):
        atkay.compare({"one": one, "other": other})


def test_numbers_of_all_rows_have_no_users_to_weigh() -> None:
    recs, truth = {"a": {"x": 1.0}, "b": {"x": 3.0}}, {"a": {"x": 1}, "b": {"x": 5}}
    assert atkay.evaluate(recs, truth, "mse", weights={"a": 0, "b": 1})["mse"] == 4
    with pytest.raises(ProtocolError, match="weighs the values of users, and rmse is one number of all rows"):
        atkay.evaluate(recs, truth, "rmse", weights={"a": 0, "b": 1})
