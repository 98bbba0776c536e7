"""A library that counts its metrics under several protocols: each number under its own, through every engine."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse

import atkay
from atkay.errors import ProtocolError, RelevanceError, SpecError, TiesWarning
from atkay.evaluation.request import Request
from atkay.evaluation.spoken import names_of, speak
from atkay.reporting.reproduce import call
from atkay.reporting.view import View

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
    with pytest.raises(ProtocolError, match=r"ndcg@5 is requested twice, with no_truth='one' and with no_truth='zero'"):
        atkay.evaluate(RECS, TRUTH, ["ndcg@5", "ndcg@5-"], dialect="xgboost")


def test_names_take_a_cutoff_as_ours_do() -> None:
    dialects = atkay.list_dialects()
    assert str(speak(dialects["torchmetrics"], ["RetrievalMAP@5"])["RetrievalMAP@5"]) == "map(per=hits)@5"
    assert str(speak(dialects["trec_eval"], ["ndcg_cut_5"])["ndcg_cut_5"]) == "ndcg(gain=linear)@5"
    with pytest.raises(SpecError, match="takes no cutoff"):
        speak(dialects["torchmetrics"], ["RetrievalRPrecision@5"])
    names = dict(names_of(dialects["ir_measures"], atkay.parse("map@5")))
    assert names == {"map@5": "", "AP@5": "", "AP(judged_only=True)@5": " unjudged=drop"}


def graded(n_users: int = 12, n_items: int = 8) -> tuple[dict[int, dict[int, float]], dict[int, dict[int, float]]]:
    """Lists with ties and truth with grades; some users have one of the two alone."""
    rng = np.random.default_rng(3)
    recs = {user: {int(item): float(rng.integers(0, 4)) for item in rng.permutation(n_items)[:5]} for user in range(10)}
    truth = {
        user: {int(item): float(rng.integers(0, 4)) for item in rng.permutation(n_items)[:3]}
        for user in range(2, n_users)
    }
    return recs, truth


MIXED = {
    "xgboost": ["pre@2", "ndcg@2,4", "map@3", "pre"],
    "recommenders": ["precision@2", "ndcg@3", "map_at_k@2", "ndcg"],
    "ir_measures": ["P@2", "RR@3", "RR", "nDCG@3", "R(rel=2)@2", "P(judged_only=True)@3"],
    "cornac": ["map", "auc", "recall@2", "ndcg@2,4"],
    "sklearn": ["ndcg@3", "average_precision_score", "roc_auc_score"],
    "ranx": ["ndcg@3", "map@3-l2", "hits@2-l3"],
}


@pytest.mark.parametrize("dialect", MIXED)
@pytest.mark.parametrize("memory", [None, 3_000])
def test_numbers_of_one_call_are_those_of_several(dialect: str, memory: int | None) -> None:
    recs, truth = graded()
    given: dict[str, Any] = {"dialect": dialect, "memory": memory, "slices": {user: user % 3 for user in range(12)}}
    with warnings.catch_warnings(action="ignore"):
        together = atkay.evaluate(recs, truth, MIXED[dialect], **given)
        for name in MIXED[dialect]:
            alone = atkay.evaluate(recs, truth, [name], **given)
            for number, summary in alone.summaries.items():
                assert together.summaries[number][:5] == pytest.approx(summary[:5], rel=0, abs=0, nan_ok=True), number
            slices = {(segment, number): each[:5] for _, segment, number, each in together.slice_summaries}
            for _, segment, number, each in alone.slice_summaries:
                expected = pytest.approx(each[:5], rel=0, abs=0, nan_ok=True)
                assert slices[segment, number] == expected, (segment, number)


def test_a_stream_reads_as_deep_as_any_number_needs() -> None:
    rng = np.random.default_rng(0)
    scores = rng.random((20, 30))
    grades = sparse.csr_array(np.where(rng.random((20, 30)) < 0.2, 1.0, 0.0))
    names = ["P@2", "nDCG(judged_only=True)@2"]

    def numbers(specs: list[str]) -> dict[str, float]:
        stream = atkay.Stream(specs, dialect="ir_measures")
        stream.update(scores=scores, targets=grades)
        result = stream.compute()
        return {spec: result[spec] for spec in specs}

    assert numbers(names) == {**numbers(names[:1]), **numbers(names[1:])}


@pytest.mark.parametrize("memory", [None, 2_000])
def test_a_threshold_needs_grades_under_any_protocol(memory: int | None) -> None:
    with pytest.raises(RelevanceError, match="min_relevance=2 needs grades"):
        atkay.evaluate(RECS, TRUTH, ["P@5", "R(rel=2)@5"], dialect="ir_measures", memory=memory)
    with pytest.raises(RelevanceError, match="min_relevance=2 needs grades"):
        atkay.Stream(["P@5", "R(rel=2)@5"], dialect="ir_measures").update([[0, 1]], [[0]])


def test_ties_that_decide_any_number_are_warned_of() -> None:
    recs = {user: {"a": 1.0, "b": 1.0} for user in range(5)}
    truth = {user: ["b"] for user in range(5)}
    with pytest.warns(TiesWarning, match="decides 5 of 5 lists"):
        atkay.evaluate(recs, truth, ["AP", "rbp@1"], dialect="ir_measures")


def test_a_segment_that_counts_in_one_number_alone() -> None:
    # Recommenders: c and d have no list, and count in ndcg alone; coverage is of the lists of a and b.
    recs, truth = {"a": ["x", "y"], "b": ["y", "z"]}, {"a": ["x"], "b": ["x", "z"], "c": ["x"], "d": ["y"]}
    slices = {"a": "new", "b": "new", "c": "old", "d": "old"}
    metrics: list[str | atkay.Metric] = ["precision@2", "ndcg@2", atkay.parse("coverage@1")]
    for memory in (None, 2_000):
        result = atkay.evaluate(
            recs, truth, metrics, dialect="recommenders", catalog=["x", "y", "z"], slices=slices, memory=memory
        )
        rows = {(row["segment"], row["metric"]): row["mean"] for row in result.slices.to_dicts()}
        assert rows["new", "coverage@1"] == pytest.approx(2 / 3)
        assert rows["old", "coverage@1"] == 0
        assert "4 users evaluated; 2 without a list (counted by each metric's protocol)" in repr(result)


def test_what_is_built_on_results_knows_the_protocol_of_each_number() -> None:
    recs, truth = graded()
    apart = atkay.evaluate(recs, truth, ["map@5", "pre@5"], dialect="xgboost", exclude={0: [1]})
    own = ["map(per=capped)@5", "precision(per=listed)@5"]
    alike = atkay.evaluate(recs, truth, own, protocol=apart.protocol, exclude={0: [1]})
    with pytest.raises(ProtocolError, match="no_truth is 'zero' in 'a' and 'one' in 'b'"):
        atkay.compare({"a": apart, "b": alike})
    assert apart.apart["precision(per=listed)@5"].exclude == apart.protocol.exclude == "1 row of a dict"
    comparison = atkay.compare({"a": apart, "b": apart})
    words = (
        "a user with a list but no relevant item scores 0 in metrics that need truth, and has no value where lower is "
        "better"
    )
    assert comparison.protocol["precision(per=listed)@5"] == words
    assert f"precision(per=listed)@5: {words}" in repr(comparison)


def test_the_page_says_how_to_get_the_numbers_again() -> None:
    recs, truth = graded()
    result = atkay.evaluate(recs, truth, ["map@5", "pre@5"], dialect="xgboost", no_recs="zero")
    code = call(View.of(result))
    assert "dialect='xgboost'," in code
    assert "no_recs='zero'," in code
    again: dict[str, Any] = {"recs": recs, "truth": truth}
    exec(code, again)
    assert dict(again["result"]) == dict(result)


def test_a_protocol_that_describes_a_table_needs_it_again() -> None:
    described = atkay.evaluate(RECS, TRUTH, "mrr", exclude={1: [1]}).protocol
    for call_again in (
        lambda: atkay.Stream("mrr", protocol=described),
        lambda: atkay.evaluate(RECS, TRUTH, "mrr", protocol=described),
        lambda: atkay.explain(RECS, TRUTH, "mrr", theirs="mrr", their_protocol=described),
    ):
        with pytest.raises(ProtocolError, match="does not hold exclude"):
            call_again()
