"""Whom a pooled number counts: in memory, files, streams, slices and comparisons alike."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import atkay
from atkay.metrics.metric import is_pooled
from atkay.results.summary import Summary
from variants import Row, every_variant, grades, recs_frame, rows, scores, side, truth_frame

SHARE = "hit(count=share,average=pooled)"
"""Hits over listed items: 0 / 0 for a user without a list."""

# Users 0, 1 and 2 have 1 of 2, 2 of 2 and 3 of 8 items right; users 3, 4 and 5 have no list.
LISTS = [[0, 8], [0, 1], [0, 1, 2, 8, 9, 10, 11, 12], [], [], []]
TRUTH = [[0, 1, 2]] * 6
HALF = 4.302652729911275 * math.sqrt((2 / 16) / 2) / math.sqrt(3)
"""Ratio 6/12; residuals 1 - 1, 2 - 1, 3 - 4 over the mean denominator 4; Student's quantile at 2 degrees of freedom."""
EXPECTED = Summary(0.5, max(0.5 - HALF, 0.0), min(0.5 + HALF, 1.0), math.nan, users=3, undefined=3)


def as_dicts(lists: list[list[int]]) -> tuple[dict[int, list[int]], dict[int, list[int]]]:
    return {user: items for user, items in enumerate(lists) if items}, dict(enumerate(TRUTH))


def in_memory(metrics: list[str], lists: list[list[int]] = LISTS, **words: Any) -> atkay.Result:
    return atkay.evaluate(*as_dicts(lists), metrics, **words)


def in_files(metrics: list[str], **words: Any) -> atkay.Result:
    return in_memory(metrics, memory=4_000, **words)


def in_batches(metrics: list[str], **words: Any) -> atkay.Result:
    stream = atkay.Stream(metrics, **words)
    for lists, truth in zip(LISTS, TRUTH, strict=True):
        other = atkay.Stream(metrics, **words)
        other.update([lists], [truth])
        stream.merge(other.to_bytes())
    return stream.compute()


ENGINES = [in_memory, in_files, in_batches]
Engine = Callable[..., atkay.Result]


@pytest.mark.parametrize("engine", ENGINES)
def test_users_with_nothing_to_divide_by_do_not_count(engine: Engine) -> None:
    result = engine([SHARE, "ndcg"], no_recs="zero")
    assert result.summaries[SHARE] == pytest.approx(EXPECTED, nan_ok=True)
    assert result.summaries["ndcg"].users == 6


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("spec", ["auc", "mpr(unlisted=skip,average=users)"])
def test_pooled_counts_are_those_of_the_mean_where_a_value_may_be_undefined(engine: Engine, spec: str) -> None:
    # User 1 has no wrong item, so no pair for AUC; users without a list have no pair and no hit.
    name = spec.removesuffix("(unlisted=skip,average=users)")
    pooled = "auc(average=pooled)" if name == "auc" else "mpr(unlisted=skip)"
    result = engine([spec, pooled])
    assert result.summaries[spec][4:] == result.summaries[pooled][4:] == ((2, 4) if name == "auc" else (3, 3))


def test_values_per_user_are_missing_where_they_do_not_count() -> None:
    assert in_memory([SHARE]).per_query[SHARE].to_list() == [0.5, 1.0, 3 / 8, None, None, None]


@pytest.mark.parametrize("memory", [None, 4_000])
def test_segments_count_like_everybody(memory: int | None) -> None:
    segments = {0: "x", 1: "x", 2: "x", 3: "x", 4: "y", 5: "y"}
    result = in_memory([SHARE], slices=segments, memory=memory)
    (_, _, _, somebody), (_, _, _, nobody) = result.slice_summaries
    assert somebody == pytest.approx(EXPECTED._replace(undefined=1), nan_ok=True)
    assert nobody == pytest.approx(
        EXPECTED._replace(mean=math.nan, low=math.nan, high=math.nan, users=0, undefined=2), nan_ok=True
    )


def test_a_group_counts_where_one_of_its_queries_does() -> None:
    # Orders 0 and 3 are Ann's, 1 and 4 Bob's, 2 and 5 Cat's; the second of each has no list.
    recs = {(name, order): LISTS[order] for order, name in enumerate(["ann", "bob", "cat"])}
    truth = {(name, order + later): TRUTH[0] for later in (0, 3) for order, name in enumerate(["ann", "bob", "cat"])}
    rows = [(user, order, item) for table in (recs, truth) for (user, order), items in table.items() for item in items]
    n_recs = sum(map(len, recs.values()))
    frames = [
        {
            "user": [row[0] for row in part_rows],
            "order": [row[1] for row in part_rows],
            "item": [row[2] for row in part_rows],
        }
        for part_rows in (rows[:n_recs], rows[n_recs:])
    ]
    listed, graded = map(pl.DataFrame, frames)
    columns = atkay.Columns(user=("user", "order"))
    result = atkay.evaluate(listed, graded, [SHARE], columns=columns, average_over="user")
    assert result.summaries[SHARE] == pytest.approx(EXPECTED._replace(undefined=0), nan_ok=True)


def test_tests_leave_out_users_with_nothing_to_divide_by() -> None:
    # The second run has 2 of 4, 1 of 2 and 0 of 2 items right: 3/8; user 3, whom it lists 2 items, has none in the
    # first. Scores r + (h - r L) n / sum of L, of the three users with something to divide by in both:
    # first 1/2 + (0, 1, -1) / 4; second 3/8 + (2 - 3/2, 1 - 3/4, 0 - 3/4) 3/8.
    other = [[0, 1, 8, 9], [0, 8], [8, 9], [0, 1], [], []]
    first = 1 / 2 + np.array([0, 1, -1]) / 4
    second = 3 / 8 + np.array([1 / 2, 1 / 4, -3 / 4]) * 3 / 8
    runs = {"first": in_memory([SHARE]), "second": in_memory([SHARE], other)}
    (pair,) = atkay.compare(runs, test="t")
    assert (pair.users, pair.undefined) == (3, 3)
    assert pair.difference == pytest.approx(3 / 8 - 1 / 2)
    assert pair.p["t"] == pytest.approx(stats.ttest_rel(second, first).pvalue)
    # With nobody else in the runs the same comes out.
    short = {name: in_memory([SHARE], lists[:3]) for name, lists in (("first", LISTS), ("second", other))}
    (alone,) = atkay.compare(short, test="t")
    assert (alone.difference, alone.low, alone.high, alone.p) == (pair.difference, pair.low, pair.high, pair.p)


POOLED = [metric for metric in every_variant(None, 2) if is_pooled(metric)]


@given(recs=rows(scores, 0.0), truth=rows(grades, 3.0), no_truth=st.sampled_from(["zero", "one"]))
def test_a_denominator_of_0_has_a_numerator_of_0(recs: list[Row], truth: list[Row], no_truth: str) -> None:
    beside: dict[str, Any] = {**side(), "no_truth": no_truth, "ties": "item"}
    result = atkay.evaluate(recs_frame(recs), truth_frame(truth), POOLED, **beside)
    assert len(result.ratios) == len(POOLED) > 10
    for numerator, denominator in result.ratios.values():
        assert (denominator >= 0).all()
        assert not numerator[denominator == 0].any()
