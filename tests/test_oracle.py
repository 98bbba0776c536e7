"""The vectorised formulas against plain loops written from the definitions."""

from __future__ import annotations

import math
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

import atkay
from atkay import lists
from atkay.metrics.base import Metric, conventions
from oracle import METRICS
from oracle import evaluate as by_the_book
from variants import Row, every_variant, grades, items, recs_frame, rows, scores, truth_frame, users

VARIANTS = [metric for metric in every_variant(None, 1, 2, 3, 10) if metric.name in METRICS]

protocols = st.fixed_dictionaries(
    {
        "no_recs": st.sampled_from(["zero", "skip"]),
        "no_truth": st.sampled_from(["skip", "zero", "one"]),
        "ties": st.sampled_from(["given", "reversed", "item", "item_desc", "best", "worst"]),
        "min_relevance": st.sampled_from([None, 0.0, 1.0, 2.0]),
        "gains": st.sampled_from(["relevant", "positive"]),
        "unjudged": st.sampled_from(["irrelevant", "drop"]),
    }
)
pairs = st.sets(st.tuples(users, items), max_size=12)


def only(metric: Metric) -> int | None:
    """The one cutoff of a variant."""
    assert not isinstance(metric.k, tuple)
    return metric.k


def as_lists(found: set[tuple[int, int]]) -> dict[int, list[int]]:
    return {user: sorted(item for other, item in found if other == user) for user, _ in found}


@given(
    recs=rows(scores, 0.0, repeats=True),
    truth=rows(grades, 3.0, repeats=True),
    protocol=protocols,
    exclude=pairs,
    candidates=st.none() | pairs,
    pick=st.integers(0, 10**6),
    block=st.sampled_from([1, 5, lists.BLOCK]),
)
def test_every_metric_and_protocol_word(
    recs: list[Row],
    truth: list[Row],
    protocol: dict[str, Any],
    exclude: set[tuple[int, int]],
    candidates: set[tuple[int, int]] | None,
    pick: int,
    block: int,
) -> None:
    chosen = [VARIANTS[(pick + 37 * n) % len(VARIANTS)] for n in range(12)]
    chosen = list(dict.fromkeys(chosen))
    given_tables: dict[str, Any] = {"exclude": as_lists(exclude)} if exclude else {}
    if candidates:
        given_tables["candidates"] = as_lists(candidates)
    with patch("atkay.lists.BLOCK", block):  # small blocks are many, and go to threads
        result = atkay.evaluate(
            recs_frame(recs), truth_frame(truth), chosen, duplicates="first", **protocol, **given_tables
        )
    per_query = {row["user"]: row for row in result.per_query.to_dicts()}
    for metric in chosen:
        words = {each.name: getattr(metric, each.name) for each in conventions(type(metric))}
        values, number = by_the_book(
            recs, truth, metric.name, words, only(metric), exclude=exclude, candidates=candidates or None, **protocol
        )
        assert set(per_query) == set(values)
        for user, value in values.items():
            assert per_query[user][str(metric)] == pytest.approx(value, abs=1e-12), (metric, user)
        assert result[str(metric)] == pytest.approx(number, abs=1e-12, nan_ok=True), metric


def test_the_oracle_is_asked_about_every_variant() -> None:
    """The property above draws from all words; here each of them is checked on one data set."""
    recs = [(u, (3 * u + 5 * n) % 11, float(-(n // 2))) for u in range(6) for n in range(2 + u)]
    truth = [(u, (7 * u + 2 * n) % 11, float(n % 4)) for u in range(1, 8) for n in range(1 + u)]
    result = atkay.evaluate(recs_frame(recs), truth_frame(truth), VARIANTS, ties="item")
    assert len(result) == len(VARIANTS) > 200
    for metric in VARIANTS:
        words = {each.name: getattr(metric, each.name) for each in conventions(type(metric))}
        _, number = by_the_book(recs, truth, metric.name, words, only(metric), ties="item")
        assert not math.isnan(number)
        assert result[str(metric)] == pytest.approx(number, abs=1e-12), metric
