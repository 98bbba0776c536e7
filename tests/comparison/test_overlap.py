"""Overlap of two runs: published values, plain loops written from the definitions, and what is refused."""

from __future__ import annotations

import itertools
import math
from typing import Any
from unittest.mock import patch

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import atkay
from atkay.comparison.overlap import inversions
from atkay.errors import (
    ColumnError,
    DuplicateError,
    IdError,
    InputError,
    NumberError,
    OrderError,
    SourceError,
    SpecError,
)

DEEP = 4000
"""Beyond this depth nothing is left of p^d."""

lists = st.lists(st.integers(0, 9), unique=True, min_size=1, max_size=9)
runs = st.dictionaries(st.integers(0, 5), st.tuples(lists, lists), min_size=1, max_size=5)


def agreement(one: list[Any], other: list[Any], depth: int) -> int:
    return len(set(one[:depth]) & set(other[:depth]))


def by_the_book(one: list[Any], other: list[Any], p: float) -> dict[str, float | None]:
    """Sums over depths, far beyond the ends of the lists."""
    short, long = sorted((len(one), len(other)))
    x_short, x_long = agreement(one, other, short), agreement(one, other, long)
    at_end = (x_long - x_short) / long + x_short / short
    rbo = least = most = 0.0
    for depth in range(1, DEEP):
        weight, x = (1 - p) * p ** (depth - 1), agreement(one, other, depth)
        least += weight * x / depth
        # The best continuation of either list adds an item of the other one at every depth.
        most += weight * min(depth, x + max(depth - short, 0) + max(depth - long, 0)) / depth
        assumed = x_short * (depth - short) / short if depth > short else 0
        rbo += weight * ((x + assumed) / depth if depth <= long else at_end)
    common = [item for item in one if item in other]
    signs = [1 if other.index(a) < other.index(b) else -1 for a, b in itertools.combinations(common, 2)]
    return {
        "rbo": rbo,
        "rbo_min": least,
        "rbo_residual": most - least,
        "average_overlap": sum(agreement(one, other, d) / d for d in range(1, long + 1)) / long,
        "jaccard": len(common) / len(set(one) | set(other)),
        "kendall_tau": sum(signs) / len(signs) if signs else None,
    }


@given(runs, st.sampled_from([None, 1, 3]), st.sampled_from([0.3, 0.9]), st.sampled_from([1, 2, 10**6]))
def test_against_plain_loops(
    pairs: dict[int, tuple[list[int], list[int]]], k: int | None, p: float, block: int
) -> None:
    run_a, run_b = ({user: pair[side] for user, pair in pairs.items()} for side in (0, 1))
    with patch("atkay.core.lists.ROWS_PER_BLOCK", block), patch(f"{__name__}.DEEP", 400):
        found = atkay.overlap({**run_a, 70: [1]}, {**run_b, 80: [1], 81: [2]}, k=k, p=p)
        rows = {row.pop("user"): row for row in found.per_query.to_dicts()}
        assert rows.keys() == pairs.keys()
        assert (found.only_a, found.only_b) == (1, 2)
        for user, (one, other) in pairs.items():
            assert rows[user] == pytest.approx(by_the_book(one[:k], other[:k], p), abs=1e-12), user
        turned = atkay.overlap(run_b, run_a, k=k, p=p)
        assert turned.query_values == pytest.approx(found.query_values, abs=1e-14, nan_ok=True)


def test_published_values() -> None:
    # abcdefg and zcavwxy share nothing at depths 1 and 2, then a and c: X = 0, 0, 2, 2, 2, 2, 2.
    found = atkay.overlap({1: list("abcdefg")}, {1: list("zcavwxy")}, p=0.9)
    assert found["rbo"] == pytest.approx(0.288217, abs=5e-7)
    assert found["rbo_min"] == pytest.approx(0.221686, abs=5e-7)
    assert found["average_overlap"] == pytest.approx(2 * (1 / 3 + 1 / 4 + 1 / 5 + 1 / 6 + 1 / 7) / 7)
    assert found["average_overlap"] == pytest.approx(0.312, abs=5e-4)
    assert found["kendall_tau"] == -1
    assert found["jaccard"] == 2 / 12
    by_book = by_the_book(list("abcdefg"), list("zcavwxy"), 0.9)
    assert found.to_dict() == pytest.approx(by_book, abs=1e-12)
    # abc and acb miss half of depth 2, whose weight is 0.1 * 0.9.
    assert atkay.overlap({1: list("abc")}, {1: list("acb")})["rbo"] == pytest.approx(1 - 0.09 / 2, abs=1e-15)
    # Cut at 2, they agree in a alone: Jaccard 1/3, and one common item has no order.
    cut = atkay.overlap({1: list("abc")}, {1: list("acb")}, k=2)
    assert cut["jaccard"] == pytest.approx(1 / 3)
    assert math.isnan(cut["kendall_tau"])


def test_lists_that_agree_in_everything_or_in_nothing() -> None:
    same = atkay.overlap({1: list(range(500))}, {1: list(range(500))}).to_dict()
    assert same == pytest.approx(dict.fromkeys(same, 1.0) | {"rbo_residual": 0.9**500 * 0}, abs=1e-12)
    apart = atkay.overlap({1: ["a", "b"]}, {1: ["x", "y"]})
    # Nothing in common: the best continuation misses 1, 2 and then agrees in 2/3 and 4/4 of what it shows.
    assert apart["rbo"] == apart["rbo_min"] == apart["average_overlap"] == apart["jaccard"] == 0
    assert apart["rbo_residual"] == pytest.approx(0.1 * 0.81 * 2 / 3 + 0.9**3)
    assert apart.table.row(5)[-2:] == (0, 1)  # tau is undefined


@given(st.lists(st.lists(st.integers(1, 40), unique=True, max_size=30), min_size=1, max_size=4))
def test_inversions(groups: list[list[int]]) -> None:
    group = np.repeat(np.arange(len(groups)), [len(values) for values in groups])
    found = inversions(group, np.array(list(itertools.chain(*groups)), np.int64), len(groups))
    assert found.tolist() == [sum(a > b for a, b in itertools.combinations(values, 2)) for values in groups]


def test_forms_of_runs_and_ties() -> None:
    scored = pl.DataFrame({"user": [2, 1, 1, 1, 2], "item": [7, 5, 6, 8, 9], "score": [0.5, 0.1, 0.9, 0.1, 0.4]})
    ranked = pl.DataFrame({"uid": [1, 2, 1, 2, 1], "item": [8, 9, 6, 7, 5], "rank": [3, 2, 1, 1, 2]})
    found = atkay.overlap(scored, ranked)
    assert found["rbo"] == pytest.approx(1)
    assert found["kendall_tau"] == 1
    assert found.tied == 2
    assert found.ids["user"].to_list() == [1, 2]
    by_array = atkay.overlap(np.array([[6, 5, 8], [7, 9, -1]]), [[6, 5, 8], [7, 9]])
    assert by_array.to_dict() == pytest.approx(found.to_dict())
    named = atkay.overlap(
        scored.rename({"score": "s"}), ranked, columns={"run_a": atkay.Columns(score="s"), "run_b": atkay.Columns()}
    )
    assert named.to_dict() == found.to_dict()


def test_it_reads_like_a_result() -> None:
    found = atkay.overlap(
        {"ann": ["a", "b"], "bob": ["a"], "cat": ["c"]}, {"ann": ["b", "a"], "cat": ["d"]}, k=5, p=0.5
    )
    assert list(found) == ["rbo", "rbo_min", "rbo_residual", "average_overlap", "jaccard", "kendall_tau"]
    assert len(found) == 6
    assert found["jaccard"] == 0.5
    assert found.table["measure"].to_list() == list(found)
    assert found.table.columns == ["measure", "mean", "low", "high", "deviation", "users", "undefined"]
    assert found.to_polars().equals(found.table)
    assert found.per_query["kendall_tau"].to_list() == [-1.0, None]
    said = repr(found)
    assert "2 users in both runs; 1 only in run_a (left out)" in said
    assert "the top 5 of each list, p = 0.5" in said
    assert "run_b alone" not in said
    assert "<table>" in found._repr_html_()
    assert "| jaccard" in found.to_markdown()
    with pytest.raises(NumberError, match="Did you mean 'rbo'"):
        found["rb0"]
    with pytest.raises(KeyError):
        found["precision"]


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"k": 0}, SpecError, "k must be a positive integer"),
        ({"k": 2.5}, SpecError, "k must be a positive integer"),
        ({"k": True}, SpecError, "got True"),
        ({"p": 1}, SpecError, "p must be a number between 0 and 1, got 1"),
        ({"p": "0.9"}, SpecError, "p must be a number between 0 and 1"),
        ({"run_b": {7: [1]}}, IdError, "run_a and run_b have no user in common: run_a has 1, run_b has 7"),
        ({"run_b": {1: ["a"]}}, IdError, "run_a and run_b have ids of different types"),
        ({"run_b": {1: {1, 2}}}, SourceError, "run_b: the value of user 1 is a set; a set has no order"),
        ({"run_b": {(1, 2): [1]}}, IdError, "run_a names a user by 'user', run_b by 'user_1', 'user_2'"),
        ({"run_a": [[1]], "run_b": [[1], [2]]}, SourceError, "run_a has 1 rows and run_b 2"),
        ({"run_a": {1: [3, 4, 3]}}, DuplicateError, "run_a: item 3 appears twice in the list of user 1; 1 of 3 rows"),
        ({"run_b": pl.DataFrame({"user": [1], "thing": [1]})}, ColumnError, "run_b: no column for the item"),
        ({"columns": {"recs": atkay.Columns()}}, InputError, "a dict of them for 'run_a', 'run_b'"),
        ({"columns": {"run_a": "user"}}, InputError, "columns: pass Columns"),
        (
            {"run_b": pl.DataFrame({"user": [1, 1], "item": [1, 2], "rank": [1, 3]})},
            OrderError,
            "run_b: 'rank' of user 1 is 1, 3; the ranks of a list of 2 must be 1 to 2, each once",
        ),
        (
            {"run_b": pl.DataFrame({"user": [1, 1], "item": [1, 2], "rank": [2, 1], "score": [0.9, 0.1]})},
            OrderError,
            "run_b: 'rank' and 'score' contradict each other: for user 1, rank 1 has score 0.1",
        ),
    ],
)
def test_refuses(given: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error) as caught:
        atkay.overlap(**{"run_a": {1: [1, 2]}, "run_b": {1: [2, 1]}, **given})
    assert message in str(caught.value)
