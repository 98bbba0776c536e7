"""Users divided into parts give what all of them give at once, to the last bit."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import atkay
from atkay.engines.plan import share
from atkay.errors import IdError, OverlapWarning
from atkay.evaluation.finish import Setting, finish
from atkay.evaluation.measure import measure_tables
from atkay.evaluation.request import Request
from atkay.inputs.coding.segments import slice_queries
from atkay.inputs.read import read_tables
from atkay.tables import FILTERS
from same import assert_same
from variants import SEGMENTS, Row, every_variant, grades, recs_frame, rows, scores, side, truth_frame

VARIANTS = list(every_variant(None, (1, 3)))
FEWER = settings(max_examples=min(3, settings().max_examples))


TABLES = ("train", "catalog", "features", "propensity", "reference", "slices", *FILTERS)


def setting_of(request: Request) -> Setting:
    """What all parts share, from tables that are here whole."""
    tables = read_tables(request.tables, request.protocol)
    return replace(share(request, tables), columns={name: table.used for name, table in tables.items()})


def divided(recs: pl.DataFrame, truth: pl.DataFrame, metrics: Any, n_parts: int, **given: Any) -> atkay.Result:
    """The result of parts, users going to part ``user % n_parts``."""
    tables = {"recs": recs, "truth": truth} | {name: given.pop(name) for name in TABLES if name in given}
    request = Request.of(metrics, None, given, tables=tables)
    setting, parts = setting_of(request), []
    for part in range(n_parts):
        here = pl.col("user").cast(pl.Int64) % n_parts == part
        of_part = {
            name: table.filter(here) if isinstance(table, pl.DataFrame) and "user" in table.columns else table
            for name, table in tables.items()
            if name in ("recs", "truth", *FILTERS)
        }
        parts.append(measure_tables(request, setting, of_part))
    return finish(request, setting, parts)


@FEWER
@given(recs=rows(scores, 0.0), truth=rows(grades, 3.0), n_parts=st.integers(1, 7))
def test_every_metric(recs: list[Row], truth: list[Row], n_parts: int) -> None:
    given: dict[str, Any] = {**side(), "slices": SEGMENTS, "no_truth": "zero"}
    frames = recs_frame(recs), truth_frame(truth)
    assert_same(divided(*frames, VARIANTS, n_parts, **given), atkay.evaluate(*frames, VARIANTS, **given))


@pytest.mark.parametrize("ties", ["given", "item", "item_desc", "best", "worst", "random", "text", "reversed"])
@FEWER
@given(recs=rows(scores, 0.0), truth=rows(grades, 3.0), exclude=rows(grades, 1.0), candidates=rows(grades, 1.0))
def test_every_way_to_read_lists(
    ties: str, recs: list[Row], truth: list[Row], exclude: list[Row], candidates: list[Row]
) -> None:
    words: dict[str, Any] = {
        "ties": ties,
        "no_recs": "skip",
        "no_truth": "judged",
        "exclude": truth_frame(exclude).select("user", "item"),
        "candidates": [row[1] for row in candidates] + list(range(0, 8, 2)),
        "seed": 3,
    }
    frames = recs_frame(recs), truth_frame(truth)
    metrics = ["ndcg@3", "map", "precision(average=pooled)@2", "inter_list_distance@2"]
    try:
        whole = atkay.evaluate(*frames, metrics, **words)
    except atkay.errors.AtkayError as error:
        with pytest.raises(type(error)):
            divided(*frames, metrics, 3, **words)
        return
    result = divided(*frames, metrics, 3, **words)
    assert np.array_equal(result.query_values, whole.query_values, equal_nan=True)
    assert (result.population, result.fingerprint) == (whole.population, whole.fingerprint)
    assert result.table.equals(whole.table)


def test_groups_that_several_parts_have() -> None:
    recs = pl.DataFrame({"user": [1, 1, 2, 3, 4], "item": [1, 2, 1, 3, 2], "score": [2.0, 1.0, 1.0, 1.0, 1.0]})
    truth = pl.DataFrame({"user": [1, 2, 3, 4], "item": [1, 2, 3, 2], "house": ["b", "a", "a", "b"]})
    given: dict[str, Any] = {
        "average_over": "house",
        "slices": pl.DataFrame({"house": ["a", "b"], "street": ["x", "y"]}),
    }
    assert_same(divided(recs, truth, "mrr,coverage", 3, catalog=[1, 2, 3], **given),
                atkay.evaluate(recs, truth, "mrr,coverage", catalog=[1, 2, 3], **given))  # fmt: skip


@pytest.mark.parametrize("kind", [pl.Int64, pl.UInt8, pl.String])
def test_parts_in_which_nobody_has_a_list_or_truth(kind: type[pl.DataType]) -> None:
    def frame(**columns: list[Any]) -> pl.DataFrame:
        return pl.DataFrame(columns).with_columns(pl.col("user").cast(kind))

    recs = frame(user=[3, 3, 6], item=[1, 2, 1], score=[2.0, 1.0, 1.0])
    truth = frame(user=[3, 6], item=[2, 1], house=["a", "b"])
    given: dict[str, Any] = {
        "exclude": frame(user=[3, 4, 5, 9], item=[1, 1, 2, 2]),  # of 4 and 5 there is nothing else
        "average_over": "house",
        "slices": frame(user=[3, 6], age=["old", "young"]),
    }
    result = divided(recs, truth, "mrr,precision(average=pooled)@1", 3, **given)
    assert result["mrr"] == 1  # user 3 has item 2 alone, once item 1 is taken out
    assert_same(result, atkay.evaluate(recs, truth, "mrr,precision(average=pooled)@1", **given))


def test_nothing_in_common() -> None:
    truth = pl.DataFrame({"user": [1, 2], "item": [1, 2]})
    with pytest.raises(IdError, match="no user in common: recs has 3"):
        divided(pl.DataFrame({"user": [3, 4], "item": [1, 2]}), truth, "mrr", 2)
    with pytest.warns(OverlapWarning, match="no item in common: recs has 7"):
        assert divided(pl.DataFrame({"user": [1, 2], "item": [7, 8]}), truth, "mrr", 2)["mrr"] == 0


def test_a_table_that_changes_while_it_is_read() -> None:
    recs, truth = {1: [1, 2], 2: [4]}, {1: [1], 2: [2]}
    request = Request.of("mrr", tables={"recs": recs, "truth": truth})
    setting = setting_of(request)
    for item in (-1, 5):
        with pytest.raises(IdError, match=f"recs: item {item} is new since the items were collected"):
            measure_tables(request, setting, {"recs": {1: [item]}, "truth": truth})


def test_sums_of_parts_are_those_of_everybody() -> None:
    recs, truth = {n: [n % 3, 3] for n in range(9)}, {n: [n % 2] for n in range(9)}
    given: dict[str, Any] = {"catalog": [0, 1, 2, 3], "slices": {n: "ab"[n % 2] for n in range(9)}}
    metrics = "mrr,coverage,precision(average=pooled)@1"
    request = Request.of(metrics, tables={"recs": recs, "truth": truth, **given})
    setting = setting_of(request)
    parts = []
    for users in ([0], [1, 2, 3], [4, 5, 6, 7, 8]):
        tables = {name: {user: each[user] for user in users} for name, each in (("recs", recs), ("truth", truth))}
        part = measure_tables(request, setting, tables)
        slicings, _ = slice_queries(pl.DataFrame(dict(part.ids)), setting.tables["slices"], None)
        parts.append(part.sum(slicings=slicings))
    whole = atkay.evaluate(recs, truth, metrics, **given)
    for ordered in (parts, parts[::-1]):
        result = finish(request, setting, ordered)
        assert dict(result) == dict(whole)
        assert (result.population, result.fingerprint) == (whole.population, whole.fingerprint)
        assert repr(result) == repr(whole)


def test_a_segment_that_is_no_number_is_none() -> None:
    recs, truth = ({"user": [1, 1, 2], "item": [1, 2, 2]}, {"user": [1, 2], "item": [1, 3]})
    frames = pl.DataFrame(recs), pl.DataFrame(truth)
    given: dict[str, Any] = {"slices": pl.DataFrame({"user": [1, 2], "age": [float("nan"), 1.5]})}
    whole = atkay.evaluate(*frames, ["mrr", "inter_list_distance@1"], **given)
    assert whole.slices.get_column("segment").to_list() == ["1.5", "1.5", None, None]
    assert_same(divided(*frames, ["mrr", "inter_list_distance@1"], 2, **given), whole)
