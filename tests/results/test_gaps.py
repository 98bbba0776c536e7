"""Gaps: how far apart the segments of a slice fare."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

import atkay

COLUMNS = ["slice", "metric", "highest_segment", "lowest_segment", "highest", "lowest", "gap", "ratio", "mad"]

RECS = {"a": ["x", "y"], "b": ["x", "z"], "c": ["z", "x"], "d": ["z", "y"], "e": ["x", "y"]}
TRUTH = {"a": ["x", "y"], "b": ["x"], "c": ["x"], "d": ["x"], "e": ["x"]}
# precision@2: a 2/2, b 1/2, c 1/2, d 0, e 1/2; mrr: a 1, b 1, c 1/2, d 0, e 1
AGES = {"a": "old", "b": "old", "c": "young", "d": "young"}


def gaps(metrics: Any, slices: Any, **kwargs: Any) -> pl.DataFrame:
    return gaps_of(RECS, TRUTH, metrics, slices, **kwargs)


def gaps_of(recs: Any, truth: Any, metrics: Any, slices: Any, **kwargs: Any) -> pl.DataFrame:
    return atkay.evaluate(recs, truth, metrics, slices=slices, **kwargs).gaps


def test_the_two_ends_and_how_far_they_are_apart() -> None:
    table = gaps(["precision@2", "mrr"], AGES)
    assert table.columns == COLUMNS
    assert table.rows() == [
        # old (1 + 1/2) / 2 = 3/4, young (1/2 + 0) / 2 = 1/4
        ("segment", "precision@2", "old", "young", 0.75, 0.25, 0.5, 0.25 / 0.75, 0.5),
        # old (1 + 1) / 2 = 1, young (1/2 + 0) / 2 = 1/4
        ("segment", "mrr", "old", "young", 1.0, 0.25, 0.75, 0.25, 0.75),
    ]


def test_users_without_a_segment_are_no_segment() -> None:
    """User e, whose mrr is 1, stands in no row of the slices; user d, whose mrr is 0, has a null."""
    table = pl.DataFrame({"user": ["a", "b", "c", "d"], "age": ["old", "old", "young", None]})
    result = atkay.evaluate(RECS, TRUTH, "mrr", slices=table)
    assert result.slices["segment"].to_list() == ["old", "young", None]
    assert result.gaps.rows() == [("age", "mrr", "old", "young", 1.0, 0.5, 0.5, 0.5, 0.5)]


def test_several_slices_and_segments_between_the_ends() -> None:
    table = pl.DataFrame(
        {"user": list("abcde"), "age": ["1", "1", "2", "3", "2"], "place": ["in", "out", "in", "out", "out"]}
    )
    assert gaps("mrr", table).rows() == [
        # 1: (1 + 1) / 2; 2: (1/2 + 1) / 2 = 3/4; 3: 0. Pairs: 1/4, 1 and 3/4
        ("age", "mrr", "1", "3", 1.0, 0.0, 1.0, 0.0, pytest.approx((1 / 4 + 1 + 3 / 4) / 3)),
        # in: (1 + 1/2) / 2 = 3/4; out: (1 + 0 + 1) / 3 = 2/3
        ("place", "mrr", "in", "out", 0.75, 2 / 3, pytest.approx(1 / 12), pytest.approx(8 / 9), pytest.approx(1 / 12)),
    ]


def test_segments_that_are_numbers_are_named_as_text() -> None:
    assert gaps("mrr", {"a": 1, "d": 2}).select("highest_segment", "lowest_segment").rows() == [("1", "2")]


def test_all_alike() -> None:
    row = gaps("precision@2", {"b": "p", "c": "q", "e": "r"}).row(0, named=True)
    assert (row["highest_segment"], row["lowest_segment"]) == ("p", "p")  # the first of equals
    assert (row["highest"], row["gap"], row["ratio"]) == (0.5, 0.0, 1.0)


def test_nothing_but_zeros_has_no_ratio() -> None:
    row = atkay.evaluate({"a": ["x"], "b": ["y"], "c": ["z"]}, {"a": ["y"], "b": ["x"], "c": ["z"]}, "mrr",
                         slices={"a": "p", "b": "q"}).gaps.row(0, named=True)  # fmt: skip
    assert (row["highest"], row["lowest"], row["gap"], row["ratio"]) == (0.0, 0.0, 0.0, None)


def test_one_segment_is_nothing_to_compare() -> None:
    table = gaps("mrr", {"a": "only", "b": "only"})
    assert table.columns == COLUMNS
    assert len(table) == 0


def test_without_slices() -> None:
    table = atkay.evaluate(RECS, TRUTH, "mrr").gaps
    assert table.columns == COLUMNS
    assert len(table) == 0


def test_a_segment_without_a_value_does_not_count() -> None:
    """User f has no list, so arp has no value in the segment 'none'. Popularity: x 2, y 1."""
    train = {"t": ["x", "y"], "u": ["x"]}
    recs = {"a": ["x"], "b": ["y"], "c": ["x", "y"]}
    truth = {"a": ["x"], "b": ["y"], "c": ["x"], "f": ["x"]}
    slices = {"a": "p", "b": "q", "c": "p", "f": "none"}
    table = atkay.evaluate(recs, truth, ["arp", "mrr"], slices=slices, train=train).gaps
    assert table.rows() == [
        # p: (2 + (2 + 1) / 2) / 2 = 7/4; q: 1
        ("segment", "arp", "p", "q", 1.75, 1.0, 0.75, 1 / 1.75, 0.75),
        # p: (1 + 1) / 2; q: 1; none: 0, as a user without a list scores 0
        ("segment", "mrr", "p", "none", 1.0, 0.0, 1.0, 0.0, pytest.approx((0 + 1 + 1) / 3)),
    ]


def test_means_below_zero_have_no_ratio(monkeypatch: pytest.MonkeyPatch) -> None:
    result = atkay.evaluate(RECS, TRUTH, "mrr", slices=AGES)
    frame = result.slices.with_columns(pl.col("mean") - 0.5)  # old 1/2, young -1/4
    monkeypatch.setattr(atkay.Result, "slices", property(lambda self: frame))
    row = result.gaps.row(0, named=True)
    assert (row["highest"], row["lowest"], row["gap"], row["ratio"]) == (0.5, -0.25, 0.75, None)


def test_highest_is_the_highest_number_where_lower_is_better() -> None:
    metric = "pop_reo(groups=categories)"
    assert atkay.parse(metric).better == "lower"
    slices, colours = {"a": "p", "b": "p", "c": "q", "d": "q"}, {"x": "red", "y": "blue"}
    truth = {"a": ["x"], "b": ["y"], "c": ["x"], "d": ["x", "y"]}
    row = gaps_of(RECS, truth, metric, slices, features=colours).row(0, named=True)
    # p: red 1/1 (a), blue 0/1 (b); std / mean = (1/2) / (1/2). q: red 1/2 (c, not d), blue 1/1 (d); (1/4) / (3/4).
    assert (row["highest_segment"], row["highest"]) == ("p", 1.0)
    assert (row["lowest_segment"], row["lowest"]) == ("q", pytest.approx(1 / 3))


def test_numbers_of_the_whole_run() -> None:
    row = gaps("coverage@1", AGES, catalog=["x", "y", "z", "w"]).row(0, named=True)
    # old: nothing but x is shown first, 1/4; young: nothing but z, 1/4
    assert (row["highest"], row["lowest"], row["gap"], row["ratio"]) == (0.25, 0.25, 0.0, 1.0)


def test_saved_and_loaded(tmp_path: Path) -> None:
    result = atkay.evaluate(RECS, TRUTH, ["mrr", "coverage"], slices=AGES, catalog=["x", "y", "z"])
    result.save(tmp_path / "r.json")
    assert atkay.Result.load(tmp_path / "r.json").gaps.equals(result.gaps)
