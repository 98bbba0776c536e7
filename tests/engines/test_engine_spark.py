"""Spark frames give what frames in memory give, on one machine and on a cluster, a worker of which may die."""

from __future__ import annotations

import copy
import datetime
import gc
import os
import pickle
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import atkay
from atkay import Columns, errors
from atkay.engines.spark import spark as engine
from variants import ANCHOR, Row, recs_frame, side, truth_frame

pyspark = pytest.importorskip("pyspark", reason="the extra 'spark' is not installed")
try:
    engine.check_java()
except ImportError as absent:
    pytest.skip(str(absent), allow_module_level=True)

# PySpark's parts that read Arrow ask for pandas and say so of the newest; neither it nor we use it here.
pytestmark = pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning")

Session = Any


@pytest.fixture(autouse=True)
def _many_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "ROWS_PER_PART", 12)


def in_spark(spark: Session, frame: pl.DataFrame) -> Any:
    return spark.createDataFrame(frame.to_arrow())


def some(n_users: int = 7, *, seed: int = 7) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Lists and truth of users 0, 1, ... and one more; no scores are equal, and some users have one of the two."""
    rng = np.random.default_rng(seed)
    recs: list[Row] = [(ANCHOR, 0, 0.5)]
    truth: list[Row] = [(ANCHOR, 0, 3.0)]
    for user in set(range(n_users)) - {ANCHOR}:
        listed, relevant = rng.permutation(8)[:5].tolist(), rng.permutation(8)[:3].tolist()
        recs += [(user, item, float(rng.normal())) for item in listed] if user % 5 != 3 else []
        truth += [(user, item, float(rng.integers(0, 4))) for item in relevant] if user % 5 != 4 else []
    return recs_frame(recs), truth_frame(truth)


def assert_same(result: atkay.Result, memory: atkay.Result) -> None:
    """The same values, means and intervals, to the last bit."""
    assert result.sums is not None
    assert list(result) == list(memory)
    here, there = (
        {**each.summaries, **{(*names, number): one for *names, number, one in each.slice_summaries}}
        for each in (result, memory)
    )
    assert list(here) == list(there)
    for name, one in here.items():
        assert tuple(one) == pytest.approx(tuple(there[name]), rel=0, abs=0, nan_ok=True), name
    assert_alike(result, memory)


def assert_alike(result: atkay.Result, memory: atkay.Result) -> None:
    for what in ("population", "fingerprint", "columns", "names", "dialect", "definitions"):
        assert getattr(result, what) == getattr(memory, what), what
    rows = result.with_rows("a test")
    assert rows.per_query.equals(memory.per_query)
    assert np.array_equal(rows.query_values, memory.query_values, equal_nan=True)
    assert rows.table.equals(memory.table)
    assert rows.slices.equals(memory.slices)
    assert dict(rows.means) == pytest.approx(dict(memory.means), rel=0, abs=0, nan_ok=True)


def test_values_per_user_stay_there(spark: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "PARTS_AT_DRIVER", 2)  # so that what parts counted is merged on the way
    metrics = ["map@3", "unexpectedness@1", "coverage@3", "recall(average=pooled)@3"]
    segments = pl.DataFrame({"user": [0, 1, 2, 3, ANCHOR], "age": ["old", "young", "old", None, "young"]})
    given: dict[str, Any] = {**side(), "slices": segments, "no_truth": "zero"}
    recs, truth = some()
    result = atkay.evaluate(in_spark(spark, recs), in_spark(spark, truth), metrics, **given)
    memory = atkay.evaluate(recs, truth, metrics, **given)
    assert_same(result, memory)
    assert (result.protocol, repr(result)) == (memory.protocol, repr(memory))

    frame = result.to_spark()
    assert frame.columns == memory.per_query.columns
    assert dict(frame.dtypes)["user"] == "bigint"
    assert set(dict(frame.drop("user").dtypes).values()) == {"double"}
    there = frame.select("user", "`map@3`", "`unexpectedness@1`").toArrow()
    own = memory.per_query.select("user", "map@3", "unexpectedness@1")
    assert pl.DataFrame(there).sort("user").equals(own.sort("user"))
    assert own["unexpectedness@1"].null_count()  # undefined is null


def test_text_ids_ranks_and_tables_outside(spark: Session) -> None:
    recs, truth = some(9)
    users, items = pl.format("u{}", "user"), pl.format("i{}", "item")
    ranks = pl.col("score").rank(descending=True).over("user").cast(pl.Int32)
    recs = recs.select(customer_id=users, sku=items, position=ranks)
    truth = truth.select(user=users, item=items, rating="relevance")
    exclude = truth.filter(pl.col("user") != "u1").select("user", pl.col("item").str.replace("i7", "i6")).unique()
    given: dict[str, Any] = {
        "candidates": [f"i{n}" for n in range(7)],
        "no_recs": "skip",
        "min_relevance": 2,
        "gains": "positive",
    }
    metrics = "ndcg@3,ndcg(gain=exp2_above)@3,map,precision(average=pooled)@2"
    result = atkay.evaluate(
        in_spark(spark, recs), in_spark(spark, truth), metrics, exclude=in_spark(spark, exclude), **given
    )
    memory = atkay.evaluate(recs, truth, metrics, exclude=exclude, **given)
    assert_same(result, memory)
    assert result.protocol.exclude == f"{len(exclude)} rows of a Spark frame"
    assert result.protocol.candidates == memory.protocol.candidates == "7 rows of items"


@pytest.mark.parametrize("name", ["exclude", "candidates"])
def test_a_history_of_many_whom_nobody_evaluates(spark: Session, name: str) -> None:
    recs = pl.DataFrame({"user": [1, 1], "item": [1, 2], "score": [2.0, 1.0]})
    truth = pl.DataFrame({"user": [1], "item": [2]})
    history = pl.DataFrame({"user": range(1, 61), "item": [1, 2, 3] * 20})  # in five parts, four of which have no list
    gap = pl.concat([history, pl.DataFrame({"user": [61], "item": [None]}, history.schema)])
    lists, given = in_spark(spark, recs), {"catalog": [1, 2, 3], "slices": {1: "a"}}

    def outside(table: Any) -> dict[str, Any]:
        return {**given, name: table}

    result = atkay.evaluate(lists, truth, "mrr,coverage", **outside(in_spark(spark, history)))
    assert result["mrr"] == {"exclude": 1, "candidates": 0}[name]  # item 2 alone is left, or item 1
    assert_same(result, atkay.evaluate(recs, truth, "mrr,coverage", **outside(history)))
    with pytest.raises(errors.IdError, match=f"{name}: 'item' is missing in row"):
        atkay.evaluate(lists, truth, "mrr", **outside(in_spark(spark, gap)))


@pytest.mark.parametrize("outside", [{}, {"exclude": pl.DataFrame({"user": [0, 1, 2, 2], "item": [1, 2, 3, 4]})}])
def test_queries_of_two_columns_and_tables_that_name_them_by_one(spark: Session, outside: dict[str, Any]) -> None:
    # A number on one side is a float, on the other a short integer; exclude and slices know users alone.
    recs, truth = some(12)
    order = pl.col("user") % 2
    recs = recs.select(uid=pl.col("user") // 2 * 1.0, step=order, item="item", score="score")
    truth = truth.select((pl.col("user") // 2).cast(pl.Int16), order.alias("step"), "item", "relevance")
    slices = {0: "a", 1: "b", 2: "a", 5: "b"}
    columns = {
        "recs": Columns(user=("uid", "step")),
        "truth": Columns(user=("user", "step")),
        "slices": Columns(user="user"),
    }
    given: dict[str, Any] = {"slices": slices, "average_over": "user", "columns": columns, **outside}
    metrics = "mrr,ndcg@3,recall(average=pooled)@3,coverage@2"
    given["catalog"] = list(range(8))
    result = atkay.evaluate(in_spark(spark, recs), in_spark(spark, truth), metrics, **given)
    memory = atkay.evaluate(recs, truth, metrics, **given)
    assert_same(result, memory)
    assert dict(result.to_spark().dtypes)["user"] == "bigint"


def test_groups_that_only_the_truth_knows(spark: Session) -> None:
    recs, truth = some()
    truth = truth.with_columns(pl.format("h{}", pl.col("user") % 2).alias("house"))
    given: dict[str, Any] = {"average_over": "house", "slices": pl.DataFrame({"house": ["h0", "h1"], "street": [1, 2]})}
    result = atkay.evaluate(in_spark(spark, recs), truth, "mrr,ndcg@2", no_truth="skip", **given)
    memory = atkay.evaluate(recs, truth, "mrr,ndcg@2", no_truth="skip", **given)
    assert result.sums is None
    assert_alike(result, memory)
    assert repr(result) == repr(memory)
    assert result.to_spark().count() == memory.population.evaluated
    with pytest.raises(errors.InputError, match="average_over: user 4 has no 'house'"):
        atkay.evaluate(in_spark(spark, recs), truth, "mrr", no_truth="zero", **given)


def test_truth_that_is_not_in_spark_and_tables_beside_that_are(spark: Session, tmp_path: Path) -> None:
    recs, truth = some()
    beside = side()
    learned = [(who, item) for who, ones in beside["train"].items() for item in ones]
    shown = [(who, item, rank) for who, ones in beside["reference"].items() for rank, item in enumerate(ones, 1)]
    frames = {
        "train": pl.DataFrame(learned, schema=["user", "item"], orient="row"),
        "reference": pl.DataFrame(shown, schema=["user", "item", "rank"], orient="row"),
        "features": beside["features"],
        "catalog": pl.DataFrame({"item": beside["catalog"]}),
        "slices": pl.DataFrame({"user": [0, 1, ANCHOR], "age": [1, 2, 2]}),
    }
    truth.write_csv(tmp_path / "truth.csv")  # which has no types
    metrics = "mrr,novelty@2,coverage@2,serendipity(kind=ge)@2,intra_list_diversity@2"
    there = {name: in_spark(spark, frame) for name, frame in frames.items()}
    result = atkay.evaluate(in_spark(spark, recs), tmp_path / "truth.csv", metrics, **there)
    assert_same(result, atkay.evaluate(recs, tmp_path / "truth.csv", metrics, **frames))
    with pytest.raises(errors.OrderError, match="reference: the rows of a Spark frame are unordered"):
        atkay.evaluate(recs, truth, "mrr", reference=there["reference"].drop("rank"))


def test_compare(spark: Session) -> None:
    recs, truth = some(20)
    other = recs.with_columns(score=-pl.col("score"))
    runs = {"old": recs, "new": other}
    there = {name: in_spark(spark, frame) for name, frame in runs.items()}
    words: dict[str, Any] = {"test": ("t", "permutation"), "slices": {n: n % 2 for n in range(20)}}
    comparison = atkay.compare(there, in_spark(spark, truth), "mrr,ndcg@2", **words)
    memory = atkay.compare(runs, truth, "mrr,ndcg@2", **words)
    assert comparison.differences == memory.differences
    assert str(comparison.segments) == str(memory.segments)  # as text, for NaN is not equal to itself
    with pytest.raises(errors.ColumnError, match="run 'new': recs: no column for the item"):
        atkay.compare({**there, "new": there["new"].drop("item")}, truth, "mrr")


def test_the_order_of_equal_scores(spark: Session) -> None:
    recs = pl.DataFrame({"user": [1, 1, 1, 2, 2], "item": [3, 1, 2, 2, 1], "score": [1.0, 1.0, 0.5, 2.0, 1.0]})
    truth = pl.DataFrame({"user": [1, 2], "item": [1, 2]})
    lists = in_spark(spark, recs)
    with pytest.raises(errors.ProtocolError, match="decides 1 of 2 lists, and ties='reversed' needs the order of the"):
        atkay.evaluate(lists, truth, "mrr", ties="reversed")
    # Nobody wants items 1 or 3 of user 1: their order decides nothing.
    result = atkay.evaluate(lists, {1: [2], 2: [2]}, "mrr")
    assert result["mrr"] == (1 / 3 + 1) / 2
    assert result.population.tied == 2
    # Item 1 comes first, or after item 3, or each with the chance 1/2.
    ties: Any
    for ties, first in (("item", 1), ("worst", 1 / 2), ("expected", 3 / 4)):
        assert atkay.evaluate(lists, truth, "mrr", ties=ties)["mrr"] == (first + 1) / 2, ties


def test_of_rows_none_is_the_first(spark: Session) -> None:
    recs = pl.DataFrame({"user": [1, 1, 1], "item": [3, 1, 1], "score": [3.0, 1.0, 2.0]})
    truth = pl.DataFrame({"user": [1, 1], "item": [1, 1], "relevance": [2.0, 2.0]})
    assert atkay.evaluate(in_spark(spark, recs), truth, "mrr", duplicates="first")["mrr"] == 1 / 2
    assert atkay.evaluate(in_spark(spark, recs), truth, "recall", duplicates="counted")["recall"] == 2
    differ = truth.with_columns(relevance=pl.Series([2.0, 1.0]))
    with pytest.raises(errors.DuplicateError, match="truth: item 1 of user 1 has conflicting rows"):
        atkay.evaluate(in_spark(spark, recs), differ, "mrr", duplicates="first")


LISTS = pl.DataFrame({"user": [1, 1, 2, 2], "item": [1, 2, 1, 2], "score": [2.0, 1.0, 2.0, 1.0]})
TRUTH = pl.DataFrame({"user": [1, 2, 3], "item": [1, 2, 2], "relevance": [1.0, 2.0, 1.0]})


@pytest.mark.parametrize(
    ("recs", "truth", "given", "message"),
    [
        (LISTS.with_columns(user=pl.Series([1, None, 2, 2])), TRUTH, {}, "recs: 'user' is missing in"),
        (LISTS, TRUTH.with_columns(item=pl.Series([1, None, 2])), {}, "truth: 'item' is missing in"),
        (
            LISTS.with_columns(score=pl.Series([1.0, np.nan, 2.0, 2.0])),
            TRUTH,
            {},
            "recs: 'score' is missing .NaN. in row",
        ),
        (LISTS.drop("user"), TRUTH, {}, "recs: no column for the user; columns are 'item', 'score'"),
        (LISTS.with_columns(pl.col("user").cast(str)), TRUTH, {}, "recs and truth have ids of different types"),
        (LISTS.with_columns(pl.col("user") + 7), TRUTH, {}, "have no user in common"),
        (
            LISTS,
            TRUTH,
            {"candidates": {7: [1]}},
            "candidates has no user in common with recs and truth: 7 in candidates",
        ),
        (LISTS, TRUTH, {"candidates": [7]}, "candidates has no item in common with recs and truth: 7 in candidates"),
        (LISTS.rename({"score": "rating"}), TRUTH.rename({"relevance": "score"}), {}, "are recs and truth swapped"),
        (LISTS.with_columns(item=1), TRUTH, {}, "twice"),
        (LISTS.clear(), TRUTH, {}, "recs: .* has no rows"),
        (LISTS.with_columns(score=pl.lit(None, pl.Float64)), TRUTH, {}, "recs: 'score' is missing"),
        (LISTS.select("user", "item", rank=pl.int_range(4) % 2 * 2), TRUTH, {}, "'rank' of user .* is 0, 2; the ranks"),
        (LISTS, TRUTH.with_columns(-pl.col("relevance")), {"negative": "error"}, "grades are below 0"),
        (LISTS, TRUTH, {"no_recs": "error"}, "1 user with truth but no list, user 3"),
        (LISTS, TRUTH, {"exclude": {"a": ["b"]}}, "exclude and truth have ids of different types"),
        (LISTS, TRUTH, {"slices": {"a": "b"}}, "slices and truth have ids of different types"),
        (LISTS, TRUTH, {"slices": {7: "b"}}, "slices has no user in common with recs and truth"),
        (LISTS, TRUTH, {"exclude": [[1], [2]]}, "exclude: lists without users are numbered"),
        (LISTS, TRUTH.with_columns(relevance=0), {}, "no user to evaluate"),
    ],
)
def test_what_is_refused_in_memory_is_refused(
    spark: Session, recs: pl.DataFrame, truth: pl.DataFrame, given: dict[str, Any], message: str
) -> None:
    with pytest.raises(errors.AtkayError, match=message.replace("of 4 rows", "of .* rows")) as memory:
        atkay.evaluate(recs, truth, "mrr", **given)
    with pytest.raises(type(memory.value), match=message) as refused:
        atkay.evaluate(in_spark(spark, recs), in_spark(spark, truth), "mrr", **given)
    assert type(refused.value) is type(memory.value)


@pytest.mark.deep
def test_what_is_warned_of_in_memory_is_warned_of(spark: Session) -> None:
    """2 of a table's 200 users (1 %) and of the 150 evaluated ones (1.3 %) are in both."""
    recs = pl.DataFrame({"user": np.arange(150), "item": np.arange(150) % 30, "score": np.ones(150)})
    truth = recs.select("user", "item", rating=pl.lit(3.0))
    table = pl.DataFrame({"user": [3, 4, *range(1000, 1198)], "item": [1] * 200})
    for lists in (recs, in_spark(spark, recs)):
        for name in ("exclude", "train", "reference", "slices"):
            ranked: Any = table.with_columns(rank=pl.lit(1)) if name == "reference" else table
            message = rf"{name} has next to no users in common .*: 2 of its 200 users \(1 %\), and 2 of their 150"
            side: dict[str, Any] = {name: ranked}
            with pytest.warns(errors.OverlapWarning, match=message):
                result = atkay.evaluate(lists, truth, "new_to_user@5" if name == "train" else "mrr", **side)
            assert result.readings[-1] == "grades 3 to 3 from 'rating'; relevant from 3"
        with pytest.warns(errors.OverlapWarning, match="have no item in common"):
            assert atkay.evaluate(lists, truth.with_columns(pl.col("item") + 99), "mrr")["mrr"] == 0
        with pytest.raises(errors.IdError, match="exclude has no user in common"):
            atkay.evaluate(lists, truth, "mrr", exclude=table.with_columns(pl.col("user") + 999))


def test_what_only_spark_refuses(spark: Session) -> None:
    lists = in_spark(spark, LISTS)
    with pytest.raises(errors.OrderError, match="recs: the rows of a Spark frame are unordered and have neither"):
        atkay.evaluate(lists.drop("score"), TRUTH, "mrr")
    with pytest.raises(errors.ProtocolError, match="are for files"):
        atkay.evaluate(lists, TRUTH, "mrr", memory="2GB")
    with pytest.raises(errors.SourceError, match="only evaluate and compare take lists"):
        atkay.explain(lists, TRUTH, "mrr", theirs="ranx")
    twice = lists.join(lists.select("user"), "user").select("user", lists["item"], lists["item"], "score")
    with pytest.raises(errors.ColumnError, match="there are 2 columns 'item'"):
        atkay.evaluate(twice, TRUTH, "mrr", columns=Columns(item="item"))
    with pytest.raises(errors.RowsError, match="has no Spark frame"):
        atkay.evaluate(LISTS, TRUTH, "mrr").to_spark()
    pairs = pl.DataFrame({"user": [1, 2], "step": [1, 2], "item": [1, 2], "score": [1.0, 2.0]})
    outside: dict[str, Any] = {"exclude": pairs.select("user", "item"), "candidates": pairs.select("step", "item")}
    columns = {"recs": Columns(user=("user", "step")), "truth": Columns(user=("user", "step"), relevance="score"),
               "candidates": Columns(user="step")}  # fmt: skip
    with pytest.raises(errors.IdError, match="exclude names queries by 'user', candidates by 'step'"):
        atkay.evaluate(in_spark(spark, pairs), pairs, "mrr", columns=columns, **outside)


def test_spark_connect_is_refused(spark: Session) -> None:
    told = {"__module__": "pyspark.sql.connect.dataframe", "columns": LISTS.columns, "sparkSession": spark}
    remote = type("DataFrame", (pyspark.sql.DataFrame,), {**told, "limit": lambda self, _: self})
    with pytest.raises(errors.SourceError, match="recs: cannot read a Spark Connect frame"):
        atkay.evaluate(object.__new__(remote), TRUTH, "mrr")


def test_workers_that_lack_a_module(spark: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "judging_of", lambda *_: iter_nothing)  # which is in a module that workers do not have
    with pytest.raises(ImportError, match=f"Spark's workers cannot import a module: No module named '{__name__}'"):
        atkay.evaluate(in_spark(spark, LISTS), TRUTH, "mrr")


def iter_nothing(batches: Any) -> Iterator[Any]:
    return iter(())


def test_an_error_in_a_part_says_that_it_is_one(spark: Session) -> None:
    with pytest.raises(errors.DuplicateError) as refused:
        atkay.evaluate(in_spark(spark, LISTS.with_columns(item=1)), TRUTH, "mrr")
    assert "Counts are for one part of" in refused.value.__notes__[0]


def test_instants_name_queries(spark: Session) -> None:
    when = [datetime.datetime(2024, 1, day, tzinfo=datetime.UTC) for day in (1, 2)]
    recs = pl.DataFrame(
        {"user": [1, 1, 1], "when": [when[0], when[0], when[1]], "item": [1, 2, 2], "score": [2.0, 1, 1]}
    )
    truth = pl.DataFrame({"user": [1, 1], "when": when, "item": [2, 2]})
    given: dict[str, Any] = {"columns": Columns(user=("user", "when"))}
    result = atkay.evaluate(in_spark(spark, recs), in_spark(spark, truth), "mrr", **given)
    assert result["mrr"] == (1 / 2 + 1) / 2
    assert result.per_query["when"].to_list() == when


def test_ids_that_spark_has_no_integers_for(spark: Session) -> None:
    far = TRUTH.with_columns(user=pl.Series([1, 2, 2**63], dtype=pl.UInt64))
    beyond = "truth: 'user' holds 9223372036854775808, which exceeds Spark's largest integer"
    with pytest.raises(errors.IdError, match=beyond):
        atkay.evaluate(in_spark(spark, LISTS), far, "mrr")
    near = TRUTH.with_columns(user=pl.Series([1, 2, 2**63 - 1], dtype=pl.UInt64))
    assert_same(atkay.evaluate(in_spark(spark, LISTS), near, "mrr"), atkay.evaluate(LISTS, near, "mrr"))


def test_a_result_that_is_copied_or_goes_elsewhere(spark: Session) -> None:
    result = atkay.evaluate(in_spark(spark, LISTS), TRUTH, "mrr", slices={1: "a", 2: "b"})
    memory = atkay.evaluate(LISTS, TRUTH, "mrr", slices={1: "a", 2: "b"})
    for again in (copy.copy(result), copy.deepcopy(result)):
        assert_same(again, memory)  # the values are in the same cluster
    sent = pickle.loads(pickle.dumps(atkay.evaluate(in_spark(spark, LISTS), TRUTH, "mrr")))
    assert dict(sent) == dict(memory)
    with pytest.raises(errors.RowsError, match="per_query needs values per user"):
        assert sent.per_query
    with pytest.raises(errors.RowsError, match="to_spark: this result has no Spark frame"):
        sent.to_spark()
    assert result.per_query.equals(memory.per_query)
    assert pickle.loads(pickle.dumps(result)).per_query.equals(memory.per_query)  # they were here


def test_a_result_whose_session_has_ended(spark: Session) -> None:
    result, other = (atkay.evaluate(in_spark(spark, LISTS), TRUTH, "mrr") for _ in range(2))
    rows = other.per_query
    spark.stop()
    assert result["mrr"] == (1 + 1 / 2 + 0) / 3
    for _ in range(2):
        for ask in (lambda: result.per_query, result.to_spark):
            with pytest.raises(errors.RowsError, match="a Spark session that has ended"):
                ask()
        engine.local_session(2)  # another one does not have them
    assert other.per_query.equals(rows)


def test_nothing_stays_in_the_cluster_when_the_result_is_gone(spark: Session) -> None:
    def kept() -> int:
        return int(spark.sparkContext._jsc.getPersistentRDDs().size())

    gc.collect()
    before = kept()
    result = atkay.evaluate(in_spark(spark, LISTS), TRUTH, "mrr")
    assert kept() == before + 1
    del result
    gc.collect()
    assert kept() == before
    with pytest.raises(errors.DuplicateError):
        atkay.evaluate(in_spark(spark, LISTS.with_columns(item=1)), TRUTH, "mrr")
    assert kept() == before


def test_java_is_needed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    with pytest.raises(
        ImportError, match=r"needs Java 17 or later, but none was found: JAVA_HOME is not set\. Install"
    ):
        engine.local_session()
    java = tmp_path / "bin" / "java"
    java.parent.mkdir()
    java.write_text("#!/bin/sh\necho 'openjdk version \"11.0.2\" 2019-01-15' >&2\n")
    java.chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(ImportError, match="is Java 11; JAVA_HOME is"):
        engine.check_java()
    java.write_text("#!/bin/sh\necho 'java version \"1.8.0_392\"' >&2\n")
    with pytest.raises(ImportError, match="is Java 8;"):
        engine.check_java()
    java.write_text("#!/bin/sh\necho 'openjdk version \"21\" 2023-09-19' >&2\n")
    engine.check_java()


class Cluster:
    """A master and two workers on this machine, each in a process group of its own; everything lies in one folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.url = f"spark://127.0.0.1:{self.port}"
        common = ["--host", "127.0.0.1", "--webui-port", "0"]
        self.master = self._start("master.Master", *common, "--port", str(self.port))
        wait_until(self._listens)
        self.workers = [
            self._start("worker.Worker", *common, "--cores", "1", "--memory", "600M", "--work-dir",
                        str(folder / f"worker {at}"), self.url)
            for at in (1, 2)
        ]  # fmt: skip

    def _start(self, name: str, *arguments: str) -> subprocess.Popen[bytes]:
        home = Path(pyspark.__file__).parent
        told = {
            "SPARK_HOME": str(home),
            "SPARK_LOCAL_DIRS": str(self.folder / "local"),
            "SPARK_DAEMON_MEMORY": "256m",
            "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
        }
        with (self.folder / f"{name}.log").open("ab") as log:
            return subprocess.Popen(
                [home / "bin" / "spark-class", f"org.apache.spark.deploy.{name}", *arguments],
                env={**os.environ, **told}, cwd=self.folder, stdout=log, stderr=log, start_new_session=True,
            )  # fmt: skip

    def session(self) -> Session:
        """A session that both workers work for."""
        settings = {
            "spark.master": self.url,
            "spark.executor.memory": "512m",
            "spark.executor.cores": "1",
            "spark.local.dir": str(self.folder / "driver"),
            "spark.shuffle.io.maxRetries": "1",  # a worker that is gone does not come back
            "spark.shuffle.io.retryWait": "100ms",
        }
        session = engine.local_session(2, settings)
        wait_until(lambda: executors(session) == 2)
        return session

    def _listens(self) -> bool:
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0

    def kill(self, process: subprocess.Popen[bytes]) -> None:
        """End a process and all that it has started, as a machine that goes off does."""
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    from pyspark.sql import SparkSession

    if (active := SparkSession.getActiveSession()) is not None:
        active.stop()  # a process has one at a time
    running = Cluster(tmp_path)
    try:
        yield running
    finally:
        if (active := SparkSession.getActiveSession()) is not None:
            active.stop()
        for process in (*running.workers, running.master):
            if process.poll() is None:
                running.kill(process)


def executors(session: Session) -> int:
    """How many workers work, the driver not counted."""
    return int(session.sparkContext._jsc.sc().getExecutorMemoryStatus().size()) - 1


@pytest.mark.deep
def test_a_worker_dies_in_the_middle(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    recs, truth = some(3000)
    metrics = ["ndcg@3", "map", "precision(average=pooled)@2", "coverage@3", "gini@3", "inter_list_distance@2", "auc"]
    given: dict[str, Any] = {"catalog": list(range(8)), "ties": "item"}
    n_parts = 60
    monkeypatch.setattr(engine, "ROWS_PER_PART", (len(recs) + len(truth)) / n_parts)
    session = cluster.session()
    lists, targets = in_spark(session, recs), in_spark(session, truth)
    memory = atkay.evaluate(recs, truth, metrics, **given)
    found: list[atkay.Result] = []
    work = threading.Thread(target=lambda: found.append(atkay.evaluate(lists, targets, metrics, **given)))
    work.start()
    wait_until(lambda: judged_parts(session, n_parts) > 0)
    cluster.kill(cluster.workers[0])
    assert 0 < judged_parts(session, n_parts) < n_parts
    work.join(timeout=120)
    assert executors(session) == 1
    assert_same(found[0], memory)
    assert found[0].to_spark().count() == memory.population.evaluated


def judged_parts(session: Session, n_parts: int) -> int:
    """How many parts have been judged so far by the stage that judges them."""
    tracker = session.sparkContext.statusTracker()
    stages = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
    return max((stage.numCompletedTasks for stage in stages if stage and stage.numTasks == n_parts), default=0)


def wait_until(happens: Callable[[], bool]) -> None:
    until = time.monotonic() + 120
    while not happens():
        assert time.monotonic() < until, "waited in vain"
        time.sleep(0.01)


@pytest.mark.parametrize("spec", ["auc(average=pooled)", "hit(count=share,average=pooled)@2", "median_rank"])
def test_parts_without_a_hit_and_users_who_do_not_count(spark: Session, spec: str) -> None:
    # Users 0 to 19 have lists without a hit, users 20 to 29 truth alone: most parts have nothing to add up.
    recs = recs_frame(
        [(user, item, 1.0) for user in range(20) for item in (1, 2)] + [(ANCHOR, item, 1.0) for item in (0, 1)]
    )
    truth = truth_frame([(user, 0, 1.0) for user in range(10, 30)] + [(ANCHOR, 0, 1.0)])
    ties = "item" if spec == "median_rank" else "expected"
    given: dict[str, Any] = {"ties": ties, "no_recs": "zero", "slices": {0: "x", 1: "x", 25: "y"}}
    result = atkay.evaluate(in_spark(spark, recs), in_spark(spark, truth), spec, **given)
    assert_same(result, atkay.evaluate(recs, truth, spec, **given))


def test_lists_of_numbers_with_an_unknown_name_on_spark(spark: Session) -> None:
    # In the order of the list user 1 finds b at rank 2.
    frame = pl.DataFrame({"user": [1, 2], "items": [["a", "b"], ["c"]], "distances": [[0.1, 0.9], [0.5]]})
    lists, pairs = in_spark(spark, frame), pl.DataFrame({"user": [1], "item": ["b"]})
    with pytest.warns(errors.UnusedWarning, match="recs: no column was recognised as score, .*; 'distances' is not"):
        assert atkay.evaluate(lists, {1: ["b"]}, "mrr")["mrr"] == 1 / 2
    with pytest.warns(errors.UnusedWarning, match="truth: no column was recognised as relevance, .*; 'distances' is"):
        atkay.evaluate(in_spark(spark, pairs.with_columns(rank=1)), lists, "mrr")
    named = {"recs": Columns(score="distances")}
    assert atkay.evaluate(lists, {1: ["b"]}, "mrr", columns=named)["mrr"] == 1


def test_ranks_are_numbered_alike_in_all_parts_on_spark(spark: Session) -> None:
    ranks = pl.DataFrame({"user": [1, 1, 2, 2], "item": [1, 2, 1, 2], "rank": [0, 1, 1, 2]})
    with pytest.raises(errors.OrderError, match="of user 2 is 1, 2; the ranks of a list of 2 must be 0 to 1, each"):
        atkay.evaluate(in_spark(spark, ranks), {1: [1], 2: [2]}, "mrr")
    alike = ranks.with_columns(rank=pl.Series([0, 1, 0, 1]))
    assert atkay.evaluate(in_spark(spark, alike), {1: [1], 2: [2]}, "mrr")["mrr"] == (1 + 1 / 2) / 2
