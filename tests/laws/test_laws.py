"""Laws that hold for every metric with every choice of words."""

from __future__ import annotations

import functools
import random
import warnings
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import atkay
from atkay.core.lists import Lists
from atkay.core.order import Scores
from atkay.core.types import Floats, Ints
from atkay.evaluation.judge import judge
from atkay.evaluation.measure import values_of
from atkay.inputs.coding.align import Aligned, align_tables
from atkay.inputs.read import read_tables
from atkay.judged.judged import Judged
from atkay.metrics.metric import Metric, RunMetric, conventions, is_pooled
from atkay.protocol import Protocol
from scenarios import examples
from variants import ANCHOR, Row, every_variant, grades, recs_frame, rows, scores, side, truth_frame

VARIANTS = list(every_variant(None, (1, 3, 10)))
OF_RUN = [metric for metric in VARIANTS if isinstance(metric, RunMetric)]
PER_QUERY = [metric for metric in VARIANTS if not isinstance(metric, RunMetric)]
ACCURACY = [metric for metric in PER_QUERY if metric.needs_truth and not metric.needs and metric.better == "higher"]
BOUNDED = [metric for metric in ACCURACY if metric.bounded and not metric.partial]
LOOSE: set[str] = set()
"""Numbers that may differ in their last digit when items are called otherwise."""
BY_LENGTH = {"bpm", "nerr", "sdcg", "mar"}
"""Means over the ranks down to the list's end, where there is no cutoff: its length then matters."""
OF_PAIRS = {"top_auc", "opa", "kendall", "spearman"}
"""Shares of the pairs in the top k: a hit that enters it brings new pairs, in the wrong order mostly."""
lists = rows(scores, 0.0)
truths = rows(grades, 3.0)


def matrix(recs: list[Row], truth: list[Row], metrics: list[Metric] = PER_QUERY) -> Floats:
    return atkay.evaluate(recs_frame(recs), truth_frame(truth), metrics, no_truth="zero", **side()).query_values


def one(recs: list[int], truth: dict[int, float], metrics: list[Metric]) -> Floats:
    """The values of one user with this list."""
    values: Floats = atkay.evaluate({1: recs}, {1: truth}, metrics).query_values[0]
    return values


@examples(10, 400)
@given(recs=lists, truth=truths)
def test_values_lie_within_their_bounds(recs: list[Row], truth: list[Row]) -> None:
    result = atkay.evaluate(recs_frame(recs), truth_frame(truth), VARIANTS, no_truth="zero", **side())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # a column of nothing but NaN has no lowest and highest value
        ends = [np.nanmin(result.query_values, axis=0), np.nanmax(result.query_values, axis=0)]
    single = {str(one): one for metric in VARIANTS for one in metric.split()}
    for name, low, high in zip(result.by_query, *ends, strict=True):
        assert not low < single[name].least, name
        assert not (single[name].bounded and high > 1), name
    for name, value in result.whole.items():
        assert not value < single[name].least, name
        assert not (single[name].bounded and value > 1), name


@examples(10, 400)
@given(recs=lists, truth=truths)
def test_what_needs_truth_is_defined_for_whoever_counts(recs: list[Row], truth: list[Row]) -> None:
    whole = [metric for metric in PER_QUERY if metric.needs_truth and not metric.needs and not metric.partial]
    whole = [metric for metric in whole if metric.better != "lower"]  # where 0 would be the best
    defined = [metric for metric in whole if not is_pooled(metric)]  # who adds nothing to divide by has no value
    assert not np.isnan(matrix(recs, truth, defined)).any()


@examples(10, 400)
@given(recs=lists, truth=truths, seed=st.integers(0, 99))
def test_the_order_of_rows_changes_no_digit(recs: list[Row], truth: list[Row], seed: int) -> None:
    def shuffle(found: list[Row]) -> list[Row]:
        return random.Random(seed).sample(found, len(found))

    kwargs: dict[str, Any] = {"ties": "item", "no_truth": "zero", **side()}
    before = atkay.evaluate(recs_frame(recs), truth_frame(truth), VARIANTS, **kwargs)
    after = atkay.evaluate(recs_frame(shuffle(recs)), truth_frame(shuffle(truth)), VARIANTS, **kwargs)
    assert after.table.equals(before.table, null_equal=True)
    assert after.per_query.equals(before.per_query, null_equal=True)
    assert after.fingerprint == before.fingerprint


@examples(10, 400)
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

    def name(old: int, what: str) -> object:
        frame = pl.DataFrame({"user": [old], "item": [old]} if what == "user" else {"user": [0], "item": [old]})
        return rename(frame).get_column(what).item()

    known = side(lambda old: name(old, "user"), lambda old: name(old, "item"))
    # The greedy ideal list puts items of equal gain in the order of their ids.
    metrics = [metric for metric in VARIANTS if not hasattr(metric, "equal")]
    before = atkay.evaluate(recs_frame(recs), truth_frame(truth), metrics, no_truth="zero", **side())
    after = atkay.evaluate(rename(recs_frame(recs)), rename(truth_frame(truth)), metrics, no_truth="zero", **known)
    # What is summed over the categories or items of one list may be added up in another order.
    for now, then in zip(after.table.iter_rows(), before.table.iter_rows(), strict=True):
        assert now == pytest.approx(then, rel=1e-12) if now[0] in LOOSE else now == then
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
    known = None if aligned.side is None else aligned.side.pick(queries)
    return Aligned(aligned.queries[queries], aligned.items, recs, truth, score=score, grade=grade, side=known)


@examples(10, 400)
@given(recs=lists, truth=truths, seed=st.integers(0, 99), cuts=st.lists(st.integers(0, 7), max_size=3))
def test_chunks_of_users_merge_to_the_whole(recs: list[Row], truth: list[Row], seed: int, cuts: list[int]) -> None:
    protocol = Protocol(no_truth="zero")
    tables = read_tables({"recs": recs_frame(recs), "truth": truth_frame(truth), **side()}, protocol)
    aligned = align_tables(tables, protocol, metrics=PER_QUERY)
    n = len(aligned.queries)
    order = np.random.default_rng(seed).permutation(n)
    parts = np.split(order, sorted(cut for cut in cuts if cut < n))
    everyone = np.ones(n, bool)
    whole = judge(aligned, protocol)[0]
    assert whole.ranking is not None
    merged = Judged.concatenate([judge(part_of(aligned, part), protocol)[0] for part in parts])
    values, pooled = values_of(whole, PER_QUERY, protocol, everyone)
    again, pooled_again = values_of(merged, PER_QUERY, protocol, everyone)
    assert np.array_equal(again, values[order], equal_nan=True)
    for metric in OF_RUN:
        states = [metric.state(judge(part_of(aligned, part), protocol)[0]) for part in parts]
        assert (functools.reduce(metric.join, states) == metric.state(whole)).all()
    for name, (above, below) in pooled.items():
        assert (pooled_again[name][0] == above[order]).all()
        assert (pooled_again[name][1] == below[order]).all()
    assert merged.ranking is not None
    assert (merged.ranking.item == whole.ranking.pick(order).item).all()
    assert (merged.answered == whole.answered[order]).all()
    hits = sorted(zip(order[merged.query], merged.rank, merged.item, merged.grade, strict=True))
    assert hits == sorted(zip(whole.query, whole.rank, whole.item, whole.grade, strict=True))


@examples(10, 400)
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
    lawful = [metric for metric in BOUNDED if metric.k or metric.name not in BY_LENGTH]
    best, other = one(perfect, truth, lawful), one(listed, truth, lawful)
    assert (best >= other - 1e-12).all()
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


@examples(10, 400)
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
    lawful = [metric for metric in ACCURACY if getattr(metric, "per", None) != "hits" and metric.name not in OF_PAIRS]
    assert not (one(after, truth, lawful) < one(before, truth, lawful) - 1e-12).any()  # some have no value


def test_average_precision_per_hits_can_fall_when_a_hit_moves_up() -> None:
    # k = 3. Hits at ranks 1 and 4: 1. With the second one at rank 3: (1 + 2/3) / 2.
    low, high = {1: ["a", "x", "y", "b"]}, {1: ["a", "x", "b", "y"]}
    spec, truth = "map(per=hits)@3", {1: ["a", "b"]}
    assert atkay.evaluate(low, truth, spec)[spec] == 1
    assert atkay.evaluate(high, truth, spec)[spec] == pytest.approx(5 / 6)


@examples(10, 400)
@given(recs=lists, truth=truths)
def test_a_value_does_not_depend_on_what_else_was_asked(recs: list[Row], truth: list[Row]) -> None:
    together = matrix(recs, truth, [atkay.parse("ndcg@1,3,10"), atkay.parse("map@1,3,10")])
    alone = matrix(recs, truth, [atkay.parse("map@3")])
    assert (together[:, 4] == alone[:, 0]).all()


@pytest.mark.parametrize("name", atkay.list_metrics())
def test_the_printed_spec_parses_back(name: str) -> None:
    variants = [metric for metric in (*every_variant(None, 7), *every_variant((5, 10))) if metric.name == name]
    assert variants
    for metric in variants:
        assert atkay.parse(str(metric)) == metric
        assert atkay.parse(str(metric).upper()) == metric
        assert all(one.define().words for one in metric.split()), metric


def test_every_metric_is_documented() -> None:
    for cls in atkay.list_metrics().values():
        assert cls.__doc__ is not None
        assert all(each.name in cls.__doc__ for each in conventions(cls) if each.name != "beta"), cls.name
        assert "Examples\n" in cls.__doc__, cls.name
        assert ">>> " in cls.__doc__, cls.name
