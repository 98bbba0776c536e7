"""Aggregates: what becomes of the users' values, with the arithmetic written out, in every engine."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import stats

import atkay
from atkay import Protocol
from atkay.aggregates import Aggregate
from atkay.errors import AtkayError, ProtocolError

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
    assert (summary.low, summary.high) == pytest.approx((math.exp(middle - half), math.exp(middle + half)))
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


@pytest.mark.parametrize(
    ("spec", "canonical"),
    [
        ("MEAN", "mean"),
        (" geometric ( epsilon = 1e-5 ) ", "geometric"),
        ("geometric(.001)", "geometric(epsilon=0.001)"),
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
        ("geometric(q=0.5)", "epsilon of 'geometric' must be the value that lower ones count as"),
        ("geometric(0)", "Write 'geometric\\(epsilon=1e-05\\)', for example"),
        ("geometric()", "epsilon of 'geometric' must be"),
        ("geometric(nan)", "epsilon of 'geometric' must be"),
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
    with pytest.raises(ProtocolError, match=r"recall\(average=pooled\)@2 sums users before it divides"):
        atkay.evaluate(RECS, TRUTH, "recall(average=pooled)@2", aggregate="geometric")
    train = {"a": ["x"], "b": ["r", "x", "y"], "c": ["r"], "d": ["x", "r"]}
    with pytest.raises(ProtocolError, match=r"popularity_lift is -0\.\d+ for user 'c', and a geometric mean needs"):
        atkay.evaluate(RECS, TRUTH, "popularity_lift", aggregate="geometric", train=train)


@pytest.mark.parametrize("call", ["explain", "reconcile"])
def test_audits_are_of_means(call: str) -> None:
    reported: Any = "mrr" if call == "explain" else {"mrr": "0.5"}
    more: dict[str, Any] = {"theirs": "ranx"} if call == "explain" else {}
    with pytest.raises(AtkayError, match=f"{call}: aggregate='geometric' is not supported"):
        getattr(atkay, call)(RECS, TRUTH, reported, aggregate="geometric", **more)


# How engines agree.

AGGREGATES = ["mean", "geometric", "geometric(epsilon=0.2)"]
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


@pytest.mark.parametrize("aggregate", AGGREGATES)
def test_engines_agree(aggregate: str, tmp_path: Path) -> None:
    memory = atkay.evaluate(RECS, TRUTH, "mrr", aggregate=aggregate)
    same(files(aggregate, tmp_path), memory)
    same(stream(aggregate), memory)


@pytest.mark.parametrize("aggregate", AGGREGATES)
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


def test_results_with_other_aggregates_are_not_compared() -> None:
    results = {name: atkay.evaluate(RECS, TRUTH, "mrr", aggregate=name) for name in ("mean", "geometric")}
    message = "different protocols: aggregate is 'mean' in 'mean' and 'geometric' in 'geometric'"
    with pytest.raises(ProtocolError, match=message):
        atkay.compare(results)
