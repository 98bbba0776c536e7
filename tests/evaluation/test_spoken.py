"""A library that counts its metrics under several protocols: each number under its own, through every engine."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import atkay
from atkay.errors import ProtocolError, SpecError
from atkay.evaluation.request import Request
from atkay.evaluation.spoken import names_of, speak

RECS: dict[int, list[int]] = {1: [0, 1], 2: [1, 0], 3: [2, 3]}
TRUTH: dict[int, list[int]] = {1: [0], 2: [0], 4: [2]}
SEGMENTS = {1: "old", 2: "old", 3: "new", 4: "new"}


def in_memory(metrics: Any, dialect: str, **given: Any) -> atkay.Result:
    return atkay.evaluate(RECS, TRUTH, metrics, dialect=dialect, **given)


def in_files(metrics: Any, dialect: str, **given: Any) -> atkay.Result:
    return atkay.evaluate(RECS, TRUTH, metrics, dialect=dialect, memory=2_000, **given)


def in_batches(metrics: Any, dialect: str) -> atkay.Result:
    """A user a batch, in streams of their own that are merged as bytes."""
    stream = atkay.Stream(metrics, dialect=dialect)
    for user in range(1, 5):
        other = atkay.Stream(metrics, dialect=dialect)
        items, target = RECS.get(user, [-1, -1]), TRUTH.get(user, [-1])
        other.update(np.array([items]), np.array([target]))
        stream.merge(other.to_bytes())
    return atkay.Stream.from_bytes(stream.to_bytes()).compute()


@pytest.mark.parametrize("engine", [in_memory, in_files, in_batches])
def test_each_number_is_counted_under_its_own_protocol(engine: Callable[..., atkay.Result]) -> None:
    # Recommenders: user 4 has truth and no list, and counts in ndcg alone: (1 + 1/log2 3 + 0) / 3 with any base of the
    # logarithm, precision (1 + 0) / 2. User 3 has no truth and counts nowhere.
    result = engine(["precision@1", "ndcg@2"], "recommenders")
    assert result["precision@1"] == 0.5
    assert result["ndcg@2"] == pytest.approx((1 + np.log(2) / np.log(3)) / 3)
    assert {name: each[4:] for name, each in result.summaries.items()} == {
        "precision@1": (2, 1),
        "ndcg(gain=binary,discount=ln)@2": (3, 0),
    }
    assert result.population.evaluated == 3
    assert result.protocol.no_recs == "skip"
    assert [rules.no_recs for rules in result.apart.values()] == ["zero"]


@pytest.mark.parametrize("engine", [in_memory, in_files])
def test_who_does_not_count_in_a_number_has_no_value_in_it(engine: Callable[..., atkay.Result]) -> None:
    result = engine(["precision@1", "ndcg@2"], "recommenders", slices=SEGMENTS)
    assert result.per_query["user"].to_list() == [1, 2, 4]
    assert result.per_query["precision@1"].to_list() == [1, 0, None]
    counts = {(segment, name): each[4:] for _, segment, name, each in result.slice_summaries}
    assert counts["new", "precision@1"] == (0, 1)
    assert counts["old", "precision@1"] == (2, 0)


def test_scores_in_two_precisions() -> None:
    # ir-measures rounds scores to single precision, except for RR@k: there a is behind, elsewhere level with x, and in
    # descending order of the ids x comes first, in ascending order a.
    recs = {1: {"a": 1.0, "x": 1.0 + 1e-12}}
    result = atkay.evaluate(recs, {1: ["a"]}, ["P@1", "RR@2", "AP"], dialect="ir_measures")
    assert [result[name] for name in ("P@1", "RR@2", "AP")] == [0, 0.5, 0.5]
    turned = atkay.evaluate({1: {"b": 1.0, "a": 1.0 + 1e-12}}, {1: ["b"]}, ["P@1", "RR@2"], dialect="ir_measures")
    assert [turned[name] for name in ("P@1", "RR@2")] == [1, 0.5]
    with pytest.raises(ProtocolError, match="two precisions"):
        atkay.Stream(["P@1", "RR@2"], dialect="ir_measures")


def test_saved_and_loaded(tmp_path: Path) -> None:
    result = in_memory(["pre@1", "ndcg@1"], "xgboost")
    result.save(tmp_path / "result.json")
    loaded = atkay.Result.load(tmp_path / "result.json")
    assert loaded.apart == result.apart
    assert loaded.table.equals(result.table)


def test_a_caller_says_how_to_count() -> None:
    request = Request.of(["pre@1", "ndcg@1"], None, {"no_truth": "skip"}, dialect="xgboost")
    assert not request.apart
    assert len(request.by_protocol()) == 1
    assert Request.of(["pre@1", "ndcg@1"], dialect="xgboost").by_protocol()[1].metrics == (request.metrics[0],)


def test_the_same_number_has_one_protocol() -> None:
    with pytest.raises(ProtocolError, match=r"ndcg@5 is asked for twice, with no_truth='one' and with no_truth='zero'"):
        atkay.evaluate(RECS, TRUTH, ["ndcg@5", "ndcg@5-"], dialect="xgboost")


def test_names_take_a_cutoff_as_ours_do() -> None:
    dialects = atkay.list_dialects()
    assert str(speak(dialects["torchmetrics"], ["RetrievalMAP@5"])["RetrievalMAP@5"]) == "map(per=hits)@5"
    assert str(speak(dialects["trec_eval"], ["ndcg_cut_5"])["ndcg_cut_5"]) == "ndcg(gain=linear)@5"
    with pytest.raises(SpecError, match="takes no cutoff"):
        speak(dialects["torchmetrics"], ["RetrievalRPrecision@5"])
    names = dict(names_of(dialects["ir_measures"], atkay.parse("map@5")))
    assert names == {"map@5": "", "AP@5": "", "AP(judged_only=True)@5": " unjudged=drop"}
