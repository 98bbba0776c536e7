"""Every dialect against what the library itself said of the data sets in conformance/."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import atkay
from atkay.dialects.base import Dialect
from atkay.errors import ProtocolError, SpecError

FOLDER = Path(__file__).parent.parent / "conformance"
RECORDED = {"trec_eval": "pytrec_eval"}
"""Files whose name is not the dialect's."""
SINGLE = {"trec_eval", "ir_measures", "torchmetrics", "xgboost", "lightgbm"}
"""Libraries that count in float32: they agree to 1e-6, the others to 1e-9."""
PLAIN = {
    "truth": "relevance > 0",
    "inputs": "objects",
    "make_comparable": True,
    "users": "with a list and truth",
    "ranks": "listed items",
    "rows": "one by one",
    "empty_target_action": "neg",
    "minus": False,
    "score_type": "binary",
    "discfun_type": "loge",
}
"""The options of a plain call; entries with others say what else the library can do."""
REPEATED = ("duplicates", "duplicate_truth")
"""Data sets that repeat an item, which atkay refuses."""
ANY_ORDER = {("recpack", "ties"), ("torchmetrics", "ties"), ("torchmetrics", "near_ties")}
"""Where a library puts equal scores in an order of its own, which no convention can say."""
NO_NUMBER = {("rs_metrics", "precision")}
"""What is not a number in the library as soon as a user has no list."""

RUN = [name for name, each in atkay.dialects().items() if each.checked == "run"]


def entries(name: str) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = json.loads(
        (FOLDER / "recorded" / f"{RECORDED.get(name, name)}.json").read_text()
    )["data"]
    return {data: some for data, some in found.items() if data not in REPEATED}


def frame(data: str, table: str) -> pl.DataFrame:
    return pl.read_csv(FOLDER / "data" / data / f"{table}.csv", schema_overrides={"user": pl.String, "item": pl.String})


def own_name(spoken: Dialect, entry: dict[str, Any]) -> str | None:
    """The library's own name of a recorded number; None where the call was not plain, failed, or is not shared."""
    plain = all(PLAIN.get(option) == value for option, value in entry["options"].items())
    if not plain or entry.get("error") or (spoken.name == "ranx" and not entry["options"].get("make_comparable")):
        return None
    metric, k = entry["metric"], entry["k"]
    for name in (f"{metric}@{k}", f"{metric}_{k}") if k else (metric,):
        try:
            if spoken.speak(name)[name].k == k or name in spoken.names:
                return name
        except SpecError:
            continue
    return None


@pytest.mark.parametrize("name", RUN)
def test_a_dialect_gives_the_numbers_of_the_library(name: str) -> None:
    spoken, compared = atkay.dialects()[name], 0
    for data, recorded in entries(name).items():
        values = {own: entry["value"] for entry in recorded if (own := own_name(spoken, entry))}
        if not values:
            continue
        result = atkay.evaluate(frame(data, "recs"), frame(data, "truth"), list(values), dialect=name)
        different = {
            own: (result[own], value)
            for own, value in values.items()
            if (name, own.partition("@")[0]) not in NO_NUMBER or value is not None
            if not _agree(result[own], value, 1e-6 if name in SINGLE else 1e-9)
        }
        if (name, data) in ANY_ORDER:
            assert different, f"{name} agrees on {data}: it is no exception any more"
            continue
        assert not different, data
        compared += len(values)
    assert compared >= 80


def _agree(ours: float, theirs: float | None, tolerance: float) -> bool:
    return math.isnan(ours) if theirs is None else abs(ours - theirs) <= tolerance


@pytest.mark.parametrize("name", RUN)
def test_the_version_is_the_one_that_was_run(name: str) -> None:
    recorded = json.loads((FOLDER / "recorded" / f"{RECORDED.get(name, name)}.json").read_text())
    assert recorded["installed"]
    assert atkay.dialects()[name].version == recorded["version"]


def test_elliot_as_worked_out_from_its_source() -> None:
    # User A of the conventions data: hits at 1, 3 and 5. (1 + 1/2 + 2/3 + 2/4 + 3/5) / 5 = 0.6533; user B, hit at 1:
    # (1 + 1/2 + 1/3 + 1/4 + 1/5) / 5 = 0.4567.
    recs = {"A": ["i1", "i9", "i2", "i8", "i3"], "B": ["i1", "i7"], "D": ["i1", "i2", "i3"]}
    truth = {"A": [f"i{n}" for n in range(1, 7)], "B": ["i1", "i2"], "C": ["i1"]}
    result = atkay.evaluate(recs, truth, ["MAP@5", "precision@5", "recall@5"], dialect="elliot")
    assert result.per_query["map(per=places)@5"].to_list() == pytest.approx(
        [3.2666666666666666 / 5, 2.2833333333333333 / 5]
    )
    assert result["precision@5"] == pytest.approx(0.4)
    assert result["recall@5"] == pytest.approx(0.5)


def test_names_and_words() -> None:
    recs, truth = {1: ["a", "x", "b"]}, {1: ["a", "b", "c", "d"]}
    result = atkay.evaluate(recs, truth, ["map_cut_3", "NDCG@3", "P_1"], dialect="trec_eval")
    # (1 + 2/3) / 4, and nDCG with the grade itself as gain
    assert result["map_cut_3"] == result["map@3"] == pytest.approx(5 / 12)
    assert list(result) == ["map@3", "ndcg(gain=linear)@3", "precision@1"]
    assert "map_cut_3" in result
    assert "map_cut_5" not in result
    assert "in the dialect of pytrec_eval-terrier 0.5.11" in repr(result)
    own = atkay.evaluate(recs, truth, "map(per=hits)@3", dialect="replay")  # what a spec says holds
    assert own["map(per=hits)@3"] == pytest.approx(5 / 6)
    assert atkay.evaluate(recs, truth, "map@3", dialect="replay")["map(per=capped)@3"] == pytest.approx(5 / 9)
    kept = atkay.evaluate(recs | {2: ["x"]}, truth | {2: ["a"], 3: ["b"]}, "hit@1", dialect="trec_eval", no_recs="zero")
    assert kept["hit@1"] == pytest.approx(1 / 3)


def test_what_a_library_does_not_have() -> None:
    with pytest.raises(SpecError, match=r"recpack has no map; this dialect speaks of 'hit', 'mrr'"):
        atkay.evaluate({1: ["a"]}, {1: ["a"]}, "map@3", dialect="recpack")
    with pytest.raises(SpecError, match="no mrr with a cutoff"):
        atkay.evaluate({1: ["a"]}, {1: ["a"]}, "mrr@3", dialect="trec_eval")
    with pytest.raises(SpecError, match=r"no dialect 'rektools'\. Did you mean 'rectools'"):
        atkay.evaluate({1: ["a"]}, {1: ["a"]}, "mrr@3", dialect="rektools")
    with pytest.raises(ProtocolError, match=r"no argument 'dialekt'\. Did you mean 'dialect'"):
        atkay.evaluate({1: ["a"]}, {1: ["a"]}, "mrr@3", dialekt="ranx")


def test_all_dialects_are_listed() -> None:
    found = atkay.dialects()
    assert set(found) == {
        "trec_eval", "ir_measures", "ranx", "rectools", "replay", "recommenders", "torchmetrics", "recbole", "lenskit",
        "recpack", "rs_metrics", "cornac", "sklearn", "elliot", "tfranking", "lightgbm", "xgboost", "spark",
    }  # fmt: skip
    assert [name for name, each in found.items() if each.checked != "run"] == ["elliot", "tfranking"]
    assert "from source" in repr(found)
    assert "rectools 0.19.0" in found.to_markdown()


def test_scores_in_single_precision() -> None:
    # 0.1 + 1.1e-9 and 0.1 + 1e-9 are one number in float32: then the item's name decides, the later one first.
    recs, truth = {1: {"a": 0.1 + 1.1e-9, "b": 0.1 + 1e-9}}, {1: ["a"]}
    assert atkay.evaluate(recs, truth, "mrr")["mrr"] == 1
    assert atkay.evaluate(recs, truth, "mrr", scores="float32", ties="text_desc")["mrr"] == 0.5
    assert atkay.evaluate(recs, truth, "mrr", scores="float32", ties="text")["mrr"] == 1


def test_ties_by_the_id_as_text() -> None:
    # As text "9" comes after "10"; as integers it comes before.
    recs, truth = {1: {9: 1.0, 10: 1.0}}, {1: [9]}
    values = {ties: atkay.evaluate(recs, truth, "mrr", ties=ties)["mrr"] for ties in ("item", "text", "text_desc")}
    assert values == {"item": 1, "text": 0.5, "text_desc": 1}


def test_items_that_do_not_exist_unless_listed() -> None:
    recs, truth = {1: ["a", "x"]}, {1: {"a": 1, "b": 3}}
    result = atkay.evaluate(recs, truth, ["recall", "ndcg", "map"], unlisted="ignored")
    assert result.to_dict() == {"recall": 1, "ndcg": 1, "map": 1}
    assert result.population.relevant == 1


def test_scores_of_zero_and_below() -> None:
    recs, truth = {1: {"a": -0.1, "x": -0.2}, 2: {"a": 1.0, "x": 0.0}}, {1: ["a"], 2: ["a"]}
    specs = ["precision@1", "recall@1", "map@1", "mrr@1", "hit@1", "ndcg@1"]
    result = atkay.evaluate(recs, truth, specs, nonpositive="missed")
    assert result.query_values.tolist() == [[0, 0, 0, 0, 1, 1], [1, 1, 1, 1, 1, 1]]


def test_scores_of_zero_and_below_in_what_is_pooled_and_in_mnap() -> None:
    # User 1's only hit has a score below 0: one hit in two shown items.
    recs, truth = {1: {"a": -1.0, "x": -2.0}, 2: {"a": 1.0}}, {1: ["a"], 2: ["a"]}
    specs = ["precision(average=pooled)@1", "recall(average=pooled)@1", "mnap@1", "map(per=capped)@1"]
    assert atkay.evaluate(recs, truth, specs, nonpositive="missed").to_dict() == dict.fromkeys(specs, 0.5)


def test_users_without_a_list_count_in_dcg_alone() -> None:
    specs = ["precision@1", "ndcg@1", "recall(average=pooled)@1"]
    result = atkay.evaluate({1: ["a"]}, {1: ["a"], 2: ["a"]}, specs, no_recs="dcg_zero")
    assert result.to_dict() == {"precision@1": 1, "ndcg@1": 0.5, "recall(average=pooled)@1": 1}
    assert result.summaries["precision@1"].undefined == 1


def test_users_whose_truth_is_all_zero() -> None:
    recs = {1: ["a"], 2: ["a"], 3: ["a"]}
    result = atkay.evaluate(recs, {1: {"a": 1}, 2: {"a": 0}}, "hit@1", no_truth="judged")
    assert result["hit@1"] == 0.5
    assert result.population.evaluated == 2
