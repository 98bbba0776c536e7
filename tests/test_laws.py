"""Laws that hold for every metric with every choice of words."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import atkay
from atkay.align import Aligned, align
from atkay.arrays import Floats, Ints
from atkay.columns import Columns
from atkay.evaluate import measure
from atkay.judge import judge
from atkay.judged import Judged
from atkay.lists import Lists
from atkay.metrics.base import Metric, conventions
from atkay.protocol import Protocol
from atkay.ranking import Scores
from atkay.tables import read_recs, read_truth
from variants import ANCHOR, Row, every_variant, grades, recs_frame, rows, scores, truth_frame

VARIANTS = list(every_variant(None, 1, 3, 10))
BOUNDED = [metric for metric in VARIANTS if metric.bounded]
lists = rows(scores, 0.0)
truths = rows(grades, 3.0)


def matrix(recs: list[Row], truth: list[Row], metrics: list[Metric] = VARIANTS) -> Floats:
    return atkay.evaluate(recs_frame(recs), truth_frame(truth), metrics, no_truth="zero").query_values


def one(recs: list[int], truth: dict[int, float], metrics: list[Metric]) -> Floats:
    """The values of one user with this list."""
    values: Floats = atkay.evaluate({1: recs}, {1: truth}, metrics).query_values[0]
    return values


@given(recs=lists, truth=truths)
def test_values_lie_within_their_bounds(recs: list[Row], truth: list[Row]) -> None:
    values = matrix(recs, truth)
    assert (values >= 0).all()
    top = values.max(axis=0)
    assert all(value <= 1 for value, metric in zip(top, VARIANTS, strict=True) if metric.bounded)


@given(recs=lists, truth=truths, seed=st.integers(0, 99))
def test_the_order_of_rows_changes_no_digit(recs: list[Row], truth: list[Row], seed: int) -> None:
    def shuffle(found: list[Row]) -> list[Row]:
        return random.Random(seed).sample(found, len(found))

    kwargs: dict[str, Any] = {"ties": "item", "no_truth": "zero"}
    before = atkay.evaluate(recs_frame(recs), truth_frame(truth), VARIANTS, **kwargs)
    after = atkay.evaluate(recs_frame(shuffle(recs)), truth_frame(shuffle(truth)), VARIANTS, **kwargs)
    assert after.table.equals(before.table, null_equal=True)
    assert after.per_query.equals(before.per_query, null_equal=True)
    assert after.fingerprint == before.fingerprint


@given(recs=lists, truth=truths, order=st.permutations(range(6)), kind=st.sampled_from(["text", "sparse", "other"]))
def test_the_names_of_ids_change_no_digit(recs: list[Row], truth: list[Row], order: list[int], kind: str) -> None:
    def user(old: int) -> int:
        return old if old == ANCHOR else order[old]

    def rename(frame: pl.DataFrame) -> pl.DataFrame:
        renamed = frame.with_columns(pl.col("user").map_elements(user, pl.Int64), item=(7 * pl.col("item") + 3) % 101)
        if kind == "text":
            return renamed.with_columns(pl.format("u{}", "user").alias("user"), pl.format("i-{}", "item").alias("item"))
        if kind == "sparse":
            return renamed.with_columns(pl.col("user", "item") * 1_000_000_007 - 5)
        return renamed

    before = atkay.evaluate(recs_frame(recs), truth_frame(truth), VARIANTS, no_truth="zero")
    after = atkay.evaluate(rename(recs_frame(recs)), rename(truth_frame(truth)), VARIANTS, no_truth="zero")
    assert after.table.equals(before.table, null_equal=True)
    assert after.population == before.population


def part_of(aligned: Aligned, queries: Ints) -> Aligned:
    """The same codes of items, and some of the queries."""

    def some(lists: Lists) -> tuple[Lists, Ints]:
        rows = [np.arange(lists.start[query], lists.start[query + 1]) for query in queries]
        row = np.concatenate([np.empty(0, np.int64), *rows])
        return Lists.of(lists.length[queries], lists.item[row], lists.n_items), row

    assert aligned.score is not None
    assert aligned.grade is not None
    recs, of_recs = some(aligned.recs)
    truth, of_truth = some(aligned.truth)
    score, grade = Scores(aligned.score.values[of_recs]), aligned.grade[of_truth]
    return Aligned(aligned.queries[queries], aligned.items, recs, truth, score=score, grade=grade)


@given(recs=lists, truth=truths, seed=st.integers(0, 99), cuts=st.lists(st.integers(0, 7), max_size=3))
def test_chunks_of_users_merge_to_the_whole(recs: list[Row], truth: list[Row], seed: int, cuts: list[int]) -> None:
    aligned = align(read_recs(recs_frame(recs), Columns()), read_truth(truth_frame(truth), Columns()))
    n = len(aligned.queries)
    order = np.random.default_rng(seed).permutation(n)
    parts = np.split(order, sorted(cut for cut in cuts if cut < n))
    everyone = np.ones(n, bool)
    protocol = Protocol(no_truth="zero")
    whole = judge(aligned, protocol)[0]
    assert whole.ranking is not None
    merged = Judged.concatenate([judge(part_of(aligned, part), protocol)[0] for part in parts])
    values, pooled = measure(whole, VARIANTS, protocol, everyone)
    again, pooled_again = measure(merged, VARIANTS, protocol, everyone)
    assert (again == values[order]).all()
    for name, (above, below) in pooled.items():
        assert (pooled_again[name][0] == above[order]).all()
        assert (pooled_again[name][1] == below[order]).all()
    assert merged.ranking is not None
    assert (merged.ranking.item == whole.ranking.pick(order).item).all()
    assert (merged.answered == whole.answered[order]).all()
    hits = sorted(zip(order[merged.query], merged.rank, merged.item, merged.grade, strict=True))
    assert hits == sorted(zip(whole.query, whole.rank, whole.item, whole.grade, strict=True))


@given(
    grades=st.lists(st.integers(1, 4), min_size=1, max_size=8),
    misses=st.integers(0, 5),
    seed=st.integers(0, 99),
    length=st.integers(1, 9),
)
def test_a_perfect_list_scores_its_maximum(grades: list[int], misses: int, seed: int, length: int) -> None:
    truth = {item: float(grade) for item, grade in enumerate(grades)}
    perfect = sorted(truth, key=lambda item: -truth[item])
    pool = [*truth, *range(100, 100 + misses)]
    listed = random.Random(seed).sample(pool, min(length, len(pool)))
    if not set(listed) & set(truth):
        listed[-1] = 0  # lists and truth must have an item in common
    best, other = one(perfect, truth, BOUNDED), one(listed, truth, BOUNDED)
    assert (best >= other).all()
    exactly_one = [
        "ndcg",
        "ndcg@3",
        "ndcg(gain=linear,discount=jk)@3",
        "ndcg(ideal=listed)",
        "mrr",
        "r_precision",
        "map",
    ]
    assert one(perfect, truth, [atkay.parse(spec) for spec in exactly_one]).tolist() == [1.0] * len(exactly_one)


@given(
    hits=st.lists(st.sampled_from([0, 0, 1, 2, 3]), min_size=2, max_size=8),
    at=st.integers(0, 6),
    missed=st.integers(0, 3),
)
def test_moving_a_hit_up_never_lowers(hits: list[int], at: int, missed: int) -> None:
    at %= len(hits) - 1
    hits[at], hits[at + 1] = 0, hits[at + 1] or 1  # a miss directly above a hit
    truth = {item: float(grade) for item, grade in enumerate(hits) if grade} | {100 + n: 1.0 for n in range(missed)}
    before = list(range(len(hits)))
    after = before.copy()
    after[at], after[at + 1] = after[at + 1], after[at]
    # Average precision per hits is the exception: a hit that enters the top k far down lowers the mean.
    lawful = [metric for metric in VARIANTS if getattr(metric, "per", None) != "hits"]
    assert (one(after, truth, lawful) >= one(before, truth, lawful)).all()


def test_average_precision_per_hits_can_fall_when_a_hit_moves_up() -> None:
    # k = 3. Hits at ranks 1 and 4: 1. With the second one at rank 3: (1 + 2/3) / 2.
    low, high = {1: ["a", "x", "y", "b"]}, {1: ["a", "x", "b", "y"]}
    spec, truth = "map(per=hits)@3", {1: ["a", "b"]}
    assert atkay.evaluate(low, truth, spec)[spec] == 1
    assert atkay.evaluate(high, truth, spec)[spec] == pytest.approx(5 / 6)


@given(recs=lists, truth=truths)
def test_a_value_does_not_depend_on_what_else_was_asked(recs: list[Row], truth: list[Row]) -> None:
    together = matrix(recs, truth, [atkay.parse("ndcg@1,3,10"), atkay.parse("map@1,3,10")])
    alone = matrix(recs, truth, [atkay.parse("map@3")])
    assert (together[:, 4] == alone[:, 0]).all()


@pytest.mark.parametrize("metric", [*every_variant(None, 7), *every_variant((5, 10))], ids=str)
def test_the_printed_spec_parses_back(metric: Metric) -> None:
    assert atkay.parse(str(metric)) == metric
    assert atkay.parse(str(metric).upper()) == metric
    assert all(definition.words for definition in (one.define() for one in metric.split()))


def test_every_metric_is_documented() -> None:
    for cls in atkay.metrics().values():
        assert cls.__doc__ is not None
        assert all(each.name in cls.__doc__ for each in conventions(cls) if each.name != "beta"), cls.name
        assert "Examples\n" in cls.__doc__, cls.name
        assert ">>> " in cls.__doc__, cls.name
