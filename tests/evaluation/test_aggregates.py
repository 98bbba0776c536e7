"""Aggregates: what becomes of the users' values, with the arithmetic written out, in every engine."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import stats

import atkay
from atkay import Protocol
from atkay.aggregates import Aggregate
from atkay.errors import AtkayError, ProtocolError, SpecError
from atkay.results.ordered import ordered_interval, ordered_value

# The relevant item, r, stands at ranks 1, 2 and 4 and nowhere: reciprocal ranks 1, 1/2, 1/4 and 0.
RECS = {"a": ["r", "x"], "b": ["x", "r"], "c": ["x", "y", "z", "r"], "d": ["x", "y"]}
TRUTH = {user: ["r"] for user in RECS}
VALUES = [1, 1 / 2, 1 / 4, 0]


def value(aggregate: str, **given: Any) -> float:
    return atkay.evaluate(RECS, TRUTH, "mrr", aggregate=aggregate, **given)["mrr"]


@pytest.mark.parametrize(
    ("aggregate", "expected"),
    [
        ("mean", (1 + 1 / 2 + 1 / 4 + 0) / 4),
        ("geometric", (1 * 1 / 2 * 1 / 4 * 0.00001) ** (1 / 4)),
        ("geometric(epsilon=0.3)", (1 * 0.5 * 0.3 * 0.3) ** (1 / 4)),
        ("median", (1 / 4 + 1 / 2) / 2),
        ("quantile(q=0.25)", 0 + 3 / 4 * (1 / 4 - 0)),  # three quarters of the way from the first value to the second
        ("minimum", 0),
        ("maximum", 1),
        ("worst", 0),  # 0.4 of the worst user
        ("worst(0.5)", (0 + 1 / 4) / 2),
        ("worst(share=0.375)", (0 + 1 / 2 * 1 / 4) / 1.5),  # one user, and half of the next
    ],
)
def test_values(aggregate: str, expected: float) -> None:
    assert value(aggregate) == pytest.approx(expected, rel=1e-12)


def test_the_interval_of_a_geometric_mean_is_that_of_logarithms() -> None:
    summary = atkay.evaluate(RECS, TRUTH, "mrr", aggregate="geometric(0.01)").summaries["mrr"]
    logs = [math.log(1), math.log(1 / 2), math.log(1 / 4), math.log(0.01)]
    middle, error = sum(logs) / 4, np.std(logs, ddof=1) / math.sqrt(4)
    half = stats.t.ppf(0.975, 3) * error
    assert summary.mean == pytest.approx(math.exp(middle))
    assert summary.low == pytest.approx(math.exp(middle - half))
    assert math.exp(middle + half) > 1
    assert summary.high == 1  # as high as mrr can be
    assert math.isnan(summary.deviation)
    assert summary.users == 4


def test_a_geometric_mean_of_users_whose_queries_are_averaged_first() -> None:
    recs = pl.DataFrame({"user": [1, 1, 1, 2], "query": [1, 2, 2, 1], "item": ["r", "x", "r", "r"]})
    truth = pl.DataFrame({"user": [1, 1, 2], "query": [1, 2, 1], "item": ["r", "r", "r"]})
    result = atkay.evaluate(
        recs, truth, "mrr", columns=atkay.Columns(user=("user", "query")), average_over="user", aggregate="geometric"
    )
    assert result["mrr"] == pytest.approx(math.sqrt((1 + 1 / 2) / 2 * 1))
    assert "mean over the queries of each user, then geometric mean over all" in result.definitions["mrr"].words


def test_the_worst_users_are_those_with_high_values_where_lower_is_better() -> None:
    worst = Aggregate.of("worst(0.5)")
    assert ordered_value(np.array([4.0, 1, 3, 2]), worst.towards("higher")) == (1 + 2) / 2
    assert ordered_value(np.array([4.0, 1, 3, 2]), worst.towards("lower")) == (4 + 3) / 2
    # Percentile ranks: a 0 / 1 and d, without a hit, 1; the mean of the worse half of 0, 1, 1/3, 1.
    shown = {"a": ["r", "x"], "b": ["x", "r"], "c": ["x", "r", "y", "z"], "d": ["x", "y"]}
    values = atkay.evaluate(shown, TRUTH, "mpr(average=users)").per_query.to_series(1).sort()
    result = atkay.evaluate(shown, TRUTH, "mpr(average=users)", aggregate="worst(0.5)")
    assert result["mpr(average=users)"] == pytest.approx((values[2] + values[3]) / 2)
    assert values[1] < values[2]


@pytest.mark.parametrize(
    ("n", "quantile", "low", "high"),
    [
        (5, 0.5, None, None),  # 2 / 2^5 > 5 %: not even the extremes are far enough apart
        (6, 0.5, 1, 6),  # 2 / 2^6
        (10, 0.5, 2, 9),  # 1 + 10 of 1024 on either side, and 45 more would be too many
        (20, 0.25, 2, 10),  # Binomial(20, 1/4): at most 1 with 2.4 %, 10 or more with 1.4 %
        (100, 0.5, 40, 61),
    ],
)
def test_the_interval_of_a_quantile_lies_between_order_statistics(
    n: int, quantile: float, low: int | None, high: int | None
) -> None:
    values = np.random.default_rng(1).permutation(np.arange(1.0, n + 1))
    ends = ordered_interval(values, Aggregate.of(f"quantile({quantile})"), 0.95)
    assert ends == (low, high) if low else np.isnan(ends).all()
    if low and high:
        below = stats.binom(n, quantile)
        assert below.cdf(low - 1) <= 0.025 < below.cdf(low)
        assert below.sf(high - 1) <= 0.025 < below.sf(high - 2)


def test_the_interval_of_the_worst_users_mean() -> None:
    # The worst half of 1 to 10 is 1 to 5. Counted from the next value, 6, and twice: 6 - 2 (6 - 1) = -4 and so on.
    scores = [-4, -2, 0, 2, 4, 6, 6, 6, 6, 6]
    assert sum(scores) / 10 == sum(range(1, 6)) / 5 == 3
    half = stats.t.ppf(0.975, 5 - 1) * np.std(scores, ddof=1) / math.sqrt(10)
    worst = Aggregate.of("worst(0.5)")
    assert ordered_interval(np.arange(1.0, 11), worst, 0.95) == pytest.approx((3 - half, 3 + half))
    mirrored = ordered_interval(-np.arange(1.0, 11), worst.towards("lower"), 0.95)
    assert mirrored == pytest.approx((-3 - half, -3 + half))
    assert np.isnan(ordered_interval(np.arange(1.0, 10), worst, 0.95)).all()  # fewer than five users


def test_the_interval_where_the_worst_users_all_have_one_value() -> None:
    # Of 20 users 7 have 0, and a quarter, 5, are the worst. The quarter's quantile is below the tenth value with
    # 97.5 % or more: at most 9 of 20 are below it with chance 0.986, at most 8 with 0.959. That value is 3.
    values, worst = np.array([0.0] * 7 + [1.0, 2, 3, *range(4, 14)]), Aggregate.of("worst(0.25)")
    assert float(stats.binom.cdf(9, 20, 0.25)) > 0.975 > float(stats.binom.cdf(8, 20, 0.25))
    assert ordered_interval(values, worst, 0.95) == (0, 3)
    assert ordered_interval(-values, worst.towards("lower"), 0.95) == (-3, 0)
    assert ordered_interval(np.ones(20), worst, 0.95) == (1, 1)


@pytest.mark.parametrize("aggregate", ["minimum", "maximum"])
def test_extremes_have_no_interval(aggregate: str) -> None:
    assert np.isnan(ordered_interval(np.arange(100.0), Aggregate.of(aggregate), 0.95)).all()


@pytest.mark.parametrize(
    ("spec", "canonical"),
    [
        ("MEAN", "mean"),
        (" geometric ( epsilon = 1e-5 ) ", "geometric"),
        ("geometric(.001)", "geometric(epsilon=0.001)"),
        ("quantile(0.90)", "quantile(q=0.9)"),
        ("worst(share=10e-2)", "worst"),
    ],
)
def test_spelling(spec: str, canonical: str) -> None:
    assert Protocol(aggregate=spec).aggregate == canonical
    assert str(Aggregate.of(canonical)) == canonical


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("geometrc", "unknown value 'geometrc' for aggregate; choose mean.* Did you mean 'geometric'?"),
        (0.5, "unknown value 0.5 for aggregate"),
        ("mean(2)", "aggregate 'mean' takes no number, got 'mean\\(2\\)'"),
        ("geometric(q=0.5)", "epsilon of 'geometric' must be a number between 0 and 1, which lower values count as"),
        ("geometric(0)", "Write 'geometric\\(epsilon=1e-05\\)', for example"),
        ("geometric()", "epsilon of 'geometric' must be"),
        ("geometric(nan)", "epsilon of 'geometric' must be"),
        (
            "quantile",
            "q of 'quantile' must be a number between 0 and 1, the share of users .*Write 'quantile\\(q=0.25\\)'",
        ),
        ("worst(1)", "share of 'worst' must be a number between 0 and 1, a share of the users"),
    ],
)
def test_misspelling(spec: Any, message: str) -> None:
    with pytest.raises(ProtocolError, match=message):
        Protocol(aggregate=spec)


def test_it_is_printed_and_saved(tmp_path: Path) -> None:
    result = atkay.evaluate(RECS, TRUTH, "mrr", aggregate="geometric", slices=dict(zip("abcd", "ppqq", strict=True)))
    words = "geometric mean over users (values below 1e-05 count as 1e-05)"
    assert f"a number is the {words}" in str(result)
    assert result.definitions["mrr"].words.endswith(words)
    result.save(tmp_path / "result.json")
    again = atkay.Result.load(tmp_path / "result.json")
    same(again, result)
    assert again.protocol.aggregate == "geometric"
    assert again.slices.equals(result.slices)
    assert result.slices["mean"].to_list() == pytest.approx([math.sqrt(1 * 1 / 2), math.sqrt(1 / 4 * 0.00001)])


def test_refused_where_there_is_no_such_number() -> None:
    with pytest.raises(ProtocolError, match=r"recall\(average=pooled\)@2 sums users before.* Write 'recall@2'"):
        atkay.evaluate(RECS, TRUTH, "recall(average=pooled)@2", aggregate="geometric")
    train = {"a": ["x"], "b": ["r", "x", "y"], "c": ["r"], "d": ["x", "r"]}
    with pytest.raises(ProtocolError, match=r"popularity_lift is -0\.\d+ for user 'c', and a geometric mean needs"):
        atkay.evaluate(RECS, TRUTH, "popularity_lift", aggregate="geometric", train=train)
    with pytest.raises(ProtocolError, match=r"arp has no direction, so no users are its worst. Choose"):
        atkay.evaluate(RECS, TRUTH, "arp", aggregate="worst", train=train)


def test_the_head_of_the_table_says_what_the_numbers_are() -> None:
    for aggregate, title in (("median", "median"), ("worst", "mean of the worst 10 %"), ("mean", "mean")):
        head = str(atkay.evaluate(RECS, TRUTH, "mrr", aggregate=aggregate)).splitlines()[0]
        assert head.split("  ")[0] == "metric"
        assert title in head.split("95 %")[0]


@pytest.mark.parametrize("call", ["explain", "reconcile"])
def test_audits_are_of_means(call: str) -> None:
    reported: Any = "mrr" if call == "explain" else {"mrr": "0.5"}
    more: dict[str, Any] = {"theirs": "ranx"} if call == "explain" else {}
    with pytest.raises(AtkayError, match=f"{call}: aggregate='geometric' is not supported"):
        getattr(atkay, call)(RECS, TRUTH, reported, aggregate="geometric", **more)


# How engines agree.

OF_SUMS = ["mean", "geometric", "geometric(epsilon=0.2)"]
ORDERED = ["median", "quantile(q=0.3)", "minimum", "maximum", "worst(share=0.6)"]
CODES = {"r": 0, "x": 1, "y": 2, "z": 3}


def stream(aggregate: str) -> atkay.Result:
    shards = [atkay.Stream("mrr", aggregate=aggregate) for _ in range(2)]
    for at, items in enumerate(RECS.values()):
        row = [CODES[item] for item in items]
        shards[at % 2].update([row], [[0]])
    shards[0].merge(shards[1].to_bytes())
    return atkay.Stream.from_bytes(shards[0].to_bytes()).compute()


def files(aggregate: str, folder: Path) -> atkay.Result:
    rows = [(user, item) for user, items in RECS.items() for item in items]
    pl.DataFrame(rows, schema=["user", "item"], orient="row").write_parquet(folder / "recs.parquet")
    pl.DataFrame({"user": [*TRUTH], "item": ["r"] * 4}).write_parquet(folder / "truth.parquet")
    return atkay.evaluate(
        folder / "recs.parquet", folder / "truth.parquet", "mrr", aggregate=aggregate, memory="100KB", spill=folder
    )


def same(one: atkay.Result, other: atkay.Result) -> None:
    assert one.means == other.means
    assert np.array_equal([*one.summaries.values()], [*other.summaries.values()], equal_nan=True)


@pytest.mark.parametrize("aggregate", OF_SUMS + ORDERED)
def test_engines_agree(aggregate: str, tmp_path: Path) -> None:
    memory = atkay.evaluate(RECS, TRUTH, "mrr", aggregate=aggregate)
    same(files(aggregate, tmp_path), memory)
    if aggregate in OF_SUMS:
        same(stream(aggregate), memory)
        return
    with pytest.raises(ProtocolError, match=rf"Stream: aggregate='{re.escape(aggregate)}' needs each user's value"):
        stream(aggregate)


@pytest.mark.filterwarnings("ignore::FutureWarning:pyspark")
@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.parametrize("aggregate", ["geometric", "median"])
def test_spark_agrees(spark: Any, aggregate: str) -> None:
    rows = [(user, item, -rank) for user, items in RECS.items() for rank, item in enumerate(items)]
    recs = pl.DataFrame(rows, schema=["user", "item", "score"], orient="row")
    truth = pl.DataFrame({"user": [*TRUTH], "item": ["r"] * 4})
    lists, relevant = (spark.createDataFrame(frame.to_arrow()) for frame in (recs, truth))
    slices = dict(zip("abcd", "ppqq", strict=True))
    result = atkay.evaluate(lists, relevant, "mrr", aggregate=aggregate, slices=slices)
    same(result, memory := atkay.evaluate(recs, truth, "mrr", aggregate=aggregate, slices=slices))
    assert result.slices.equals(memory.slices)


@pytest.mark.parametrize("aggregate", OF_SUMS + ORDERED)
def test_full_ranking_agrees(aggregate: str) -> None:
    scores = np.array([[4.0, 3, 2, 1], [3, 4, 2, 1], [1, 4, 3, 2], [2, 4, 3, 1]])
    pytest.importorskip("torch")
    result = atkay.full_ranking(scores, np.eye(4), ([0, 1, 2, 3, 4], [0] * 4), "mrr@3", aggregate=aggregate)
    lists = {user: [int(item) for item in np.argsort(-row)] for user, row in enumerate(scores)}
    same(result, atkay.evaluate(lists, {user: [0] for user in lists}, "mrr@3", aggregate=aggregate))


# Comparing.


def test_geometric_means_are_compared_by_their_ratio() -> None:
    better = {**RECS, "b": ["r"], "c": ["x", "r"]}  # 1, 1, 1/2, 0
    comparison = atkay.compare({"old": RECS, "new": better}, TRUTH, "mrr", aggregate="geometric(epsilon=0.01)")
    [difference] = comparison["mrr"]
    logs = np.log([1 / 1, 1 / (1 / 2), (1 / 2) / (1 / 4), 0.01 / 0.01])
    assert difference.difference == pytest.approx(logs.mean()) == pytest.approx(math.log(4) / 4)
    assert difference.p["t"] == pytest.approx(stats.ttest_1samp(logs, 0).pvalue)
    assert difference.p["permutation"] == 2 / 4  # of four patterns of signs of two logarithms, ++ and --
    t = stats.t.interval(0.95, 3, logs.mean(), logs.std(ddof=1) / 2)
    assert (difference.low, difference.high) == pytest.approx(t)
    ratio = 4 ** (1 / 4)
    assert comparison.means["new"]["mrr"].mean / comparison.means["old"]["mrr"].mean == pytest.approx(ratio)
    assert f"no significant difference (95 % CI [×{math.exp(t[0]):.3f}, ×{math.exp(t[1]):.3f}])" == difference.verdict
    assert "geometric means are compared by their ratio" in str(comparison)


def test_a_significant_ratio_is_printed_as_one(tmp_path: Path) -> None:
    recs = {user: ["x", "r"] for user in range(12)}
    better = {user: ["r"] if user else ["x", "r"] for user in recs}
    truth = {user: ["r"] for user in recs}
    comparison = atkay.compare({"old": recs, "new": better}, truth, "mrr", aggregate="geometric", test="permutation")
    [difference] = comparison["mrr"]
    ratio = 2 ** (11 / 12)
    assert difference.verdict.startswith(f"×{ratio:.3f} (+{100 * (ratio - 1):.0f} %), 95 % CI [×")
    comparison.save(tmp_path / "comparison.json")
    assert atkay.Comparison.load(tmp_path / "comparison.json")["mrr"] == (difference,)


def test_quantiles_are_compared_by_the_bootstrap() -> None:
    # Twenty users: eight have the item at rank 2 in the old run and at rank 1 in the new one, the others at rank 4.
    def lists(first: int) -> dict[int, list[str]]:
        ranks = {user: first if user < 8 else 4 for user in range(20)}
        return {user: [f"x{n}" for n in range(1, rank)] + ["r"] for user, rank in ranks.items()}

    truth = {user: ["r"] for user in range(20)}
    runs = {"old": lists(2), "new": lists(1)}
    given: dict[str, Any] = {"aggregate": "quantile(q=0.75)", "test": "bootstrap", "interval": "percentile"}
    comparison = atkay.compare(runs, truth, "mrr", baseline="old", **given)
    [difference] = comparison["mrr"]
    # Of twenty values, a quarter of the way from the 15th to the 16th: 1/2 and 1. With four of the eight in a sample,
    # or fewer, both values are 1/4 in either run: Binomial(20, 0.4) is that in 5.1 % of samples, so 0 lies within
    # the interval of 95 %. With six or more the difference is 1/2.
    assert difference.difference == 1 - 1 / 2
    assert (difference.low, difference.high) == (0, 1 / 2)
    assert difference.p["bootstrap"] == pytest.approx(2 * stats.binom(20, 0.4).cdf(4), abs=0.015)
    assert math.isnan(difference.effect)
    with pytest.raises(SpecError, match="power: it is that of a t-test of means"):
        atkay.power(comparison)
    assert "percentile bootstrap test of the difference (0.75 quantile over users)" in str(comparison)
    again = atkay.compare(runs, truth, "mrr", baseline="old", **given)
    assert again["mrr"][0].p == difference.p  # the seed is the same


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "the t test tests means, and these runs are compared by aggregate='median'. Pass test='bootstrap'"),
        ({"test": ("bootstrap", "permutation")}, "the permutation test tests means"),
        ({"test": "bootstrap"}, "interval='student' is of means"),
        ({"test": "bootstrap", "interval": "bca"}, "interval='bca' is of means"),
    ],
)
def test_tests_of_means_do_not_test_medians(given: Any, message: str) -> None:
    with pytest.raises(SpecError, match=f"compare: {message}"):
        atkay.compare({"a": RECS, "b": RECS}, TRUTH, "mrr", aggregate="median", **given)


def test_extremes_are_not_tested() -> None:
    better = {**RECS, "d": ["r"]}
    comparison = atkay.compare({"old": RECS, "new": better}, TRUTH, "mrr", aggregate="minimum")
    [difference] = comparison["mrr"]
    assert difference.difference == 1 / 4 - 0
    assert np.isnan([*difference.p.values(), difference.low, difference.high]).all()
    assert difference.verdict == "+0.250: not tested"
    assert "minimum and maximum depend on one user and are not tested" in str(comparison)


def test_too_few_users_for_a_test_of_the_worst() -> None:
    better = {**RECS, "d": ["r"]}
    given: dict[str, Any] = {"test": "bootstrap", "interval": "percentile"}
    [difference] = atkay.compare({"old": RECS, "new": better}, TRUTH, "mrr", aggregate="worst", **given)["mrr"]
    assert math.isnan(difference.p["bootstrap"])
    assert difference.finding == "not tested"


def test_results_with_other_aggregates_are_not_compared() -> None:
    results = {name: atkay.evaluate(RECS, TRUTH, "mrr", aggregate=name) for name in ("mean", "geometric")}
    message = "different protocols: aggregate is 'mean' in 'mean' and 'geometric' in 'geometric'"
    with pytest.raises(ProtocolError, match=message):
        atkay.compare(results)
