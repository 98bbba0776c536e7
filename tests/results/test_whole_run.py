"""Numbers of the whole run: in tables, slices and files, beside means over users."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import atkay

RECS = {"a": ["x", "y"], "b": ["x", "z"], "c": ["x", "y"]}
TRUTH = {"a": ["x"], "b": ["z"], "c": ["y"], "d": ["x"], "e": ["z"]}  # d and e have no list
SEGMENTS = {"a": "full", "b": "full", "c": "full", "d": "empty", "e": "empty"}
SIDE: dict[str, Any] = {
    "catalog": ["x", "y", "z", "w"],
    "features": {"x": "red", "y": "blue", "z": "blue"},
    "train": {"t": ["x", "y"], "u": ["x"], "v": ["x"], "w": ["x"]},
}
OF_RUN = {
    "coverage@2": 3 / 4,
    # x 3, y 2, z 1, w 0: (-3 x 0 - 1 x 1 + 1 x 2 + 3 x 3) / (4 x 6)
    "gini@2": 10 / 24,
    # 1/2, 1/3 and 1/6
    "entropy@2": 1 / 2 + math.log2(3) / 3 + math.log2(6) / 6,
    # 1 - (3 x 2 + 2 x 1) / (3 x 2 x 2)
    "inter_list_distance@2": 1 / 3,
    # Red: 3 times rank 1, for 5 users and one item. Blue: 3 times rank 2, for 5 users and two items.
    "exposure@2": 2 * math.log2(3),
    # x is the head, with 4 of 5 interactions, y the tail; z and w are in no group. Listed 3/5 and 2/5; mean 1/2 and
    # std 1/10
    "pop_rsp@2": 1 / 5,
    # Hits over relevant: red 1/2 (a, not d), blue 2/3 (c and b, not e); mean 7/12, std 1/12
    "pop_reo(groups=categories)@2": 1 / 7,
}
METRICS = ["ndcg@2", *OF_RUN, "mrr", "user_coverage@2"]


@pytest.fixture
def result() -> atkay.Result:
    return atkay.evaluate(RECS, TRUTH, METRICS, slices=SEGMENTS, **SIDE)


def test_the_numbers(result: atkay.Result) -> None:
    assert list(result) == METRICS
    for name, expected in OF_RUN.items():
        assert result[name] == pytest.approx(expected), name
    assert result["user_coverage@2"] == 3 / 5
    assert result["mrr"] == pytest.approx((1 + 1 / 2 + 1 / 2) / 5)


def test_the_table_has_a_number_and_no_interval(result: atkay.Result) -> None:
    assert result.table["metric"].to_list() == METRICS
    for name, expected in OF_RUN.items():
        row = result.table.row(METRICS.index(name), named=True)
        assert row["mean"] == pytest.approx(expected)
        assert (row["low"], row["high"], row["deviation"]) == (None, None, None)
        assert (row["users"], row["undefined"]) == (5, 0)
    assert result.table.row(METRICS.index("mrr"), named=True)["deviation"] is not None
    assert result.to_pandas()["metric"].tolist() == METRICS


def test_users_have_no_value_of_the_whole_run(result: atkay.Result) -> None:
    assert result.per_query.columns == ["user", "ndcg@2", "mrr", "user_coverage@2"]
    assert result.per_query["mrr"].to_list() == [1, 0.5, 0.5, 0, 0]
    assert result.per_query["user_coverage@2"].to_list() == [1, 1, 1, 0, 0]


def test_definitions_say_that_all_lists_count_together(result: atkay.Result) -> None:
    for name in OF_RUN:
        assert result.definitions[name].words.endswith("; of all lists together"), name
    assert result.definitions["user_coverage@2"].words.endswith("; mean over users")


def test_a_slice_whose_users_have_no_list(result: atkay.Result) -> None:
    rows = {(row["segment"], row["metric"]): row for row in result.slices.iter_rows(named=True)}
    assert len(rows) == 2 * len(METRICS)
    empty = {name: rows["empty", name]["mean"] for name in METRICS}
    assert empty == {
        "ndcg@2": 0, "mrr": 0, "user_coverage@2": 0, "coverage@2": 0,
        # Nothing is listed, so there is nothing to spread, to compare or to share.
        "gini@2": None, "entropy@2": None, "inter_list_distance@2": None, "exposure@2": None, "pop_rsp@2": None,
        "pop_reo(groups=categories)@2": None,
    }  # fmt: skip
    assert rows["full", "coverage@2"]["mean"] == 3 / 4
    assert rows["full", "gini@2"]["mean"] == result["gini@2"]  # the other users added nothing
    # Without d and e: listed 3/3 and 2/3; mean 5/6, std 1/6
    assert rows["full", "pop_rsp@2"]["mean"] == pytest.approx(1 / 5)
    # Without d and e: red 1/1, blue 2/2
    assert rows["full", "pop_reo(groups=categories)@2"]["mean"] == 0
    assert {row["users"] for (segment, _), row in rows.items() if segment == "empty"} == {2}


def test_an_emptied_list_is_no_list() -> None:
    """All that b lists is excluded."""
    recs, truth = {"a": ["x", "y"], "b": ["z"]}, {"a": ["x"], "b": ["x"]}
    result = atkay.evaluate(recs, truth, list(OF_RUN), exclude={"b": ["z"]}, slices={"a": "p", "b": "q"}, **SIDE)
    assert result["coverage@2"] == 2 / 4
    assert result["entropy@2"] == 1
    assert math.isnan(result["inter_list_distance@2"])  # one list
    means = result.slices.filter(pl.col("segment") == "q")["mean"].to_list()
    assert means == [0, *[None] * 6]


def test_shown_as_text_html_markdown_and_latex(result: atkay.Result) -> None:
    lines = repr(result).splitlines()
    assert lines[0].split() == ["metric", "mean", "95", "%", "CI", "SD", "users", "undefined"]
    gini = next(line for line in lines if line.startswith("gini@2"))
    assert gini.split() == ["gini@2", "0.4167", "–", "–", "5", "0"]
    empty = next(line for line in lines if "empty" in line and "gini@2" in line)
    assert empty.split() == ["segment", "empty", "gini@2", "–", "–", "–", "2", "0"]
    row = next(line for line in result.to_markdown().splitlines() if "gini" in line)
    assert [cell.strip() for cell in row.strip("|").split("|")] == ["gini@2", "0.4167", "–", "–", "5", "0"]
    assert r"gini@2 & 0.4167 & – & – & 5 & 0 \\" in result.to_latex()
    assert r"inter\_list\_distance@2 & 0.3333" in result.to_latex()
    html = result._repr_html_()
    assert "gini@2" in html
    assert "nan" not in (repr(result) + html + result.to_markdown() + result.to_latex()).lower()


@pytest.mark.parametrize("name", ["result.json", "result.json.gz"])
def test_saved_and_loaded(result: atkay.Result, tmp_path: Path, name: str) -> None:
    result.save(tmp_path / name)
    again = atkay.Result.load(tmp_path / name)
    assert dict(again) == dict(result)
    assert again.table.equals(result.table, null_equal=True)
    assert again.slices.equals(result.slices, null_equal=True)
    assert again.per_query.equals(result.per_query, null_equal=True)
    assert again.definitions == result.definitions
    assert repr(again) == repr(result)


def test_a_file_holds_no_number_that_json_does_not_know(result: atkay.Result, tmp_path: Path) -> None:
    result.save(tmp_path / "r.json")

    def refuse(word: str) -> None:
        raise AssertionError(word)

    record = json.loads((tmp_path / "r.json").read_text(), parse_constant=refuse)
    assert set(record["whole"]) == set(OF_RUN)
    assert set(record["per_query"]["values"]) == {"ndcg@2", "mrr", "user_coverage@2"}


def test_nothing_but_numbers_of_the_whole_run(tmp_path: Path) -> None:
    result = atkay.evaluate(RECS, TRUTH, ["coverage@1,2", "gini"], slices=SEGMENTS, **SIDE)
    assert list(result.values()) == [1 / 4, 3 / 4, pytest.approx(10 / 24)]
    assert result.per_query.columns == ["user"]
    assert result.per_query["user"].to_list() == list("abcde")
    assert result.table["users"].to_list() == [5, 5, 5]
    result.save(tmp_path / "r.json")
    again = atkay.Result.load(tmp_path / "r.json")
    assert dict(again) == dict(result)
    assert again.per_query.equals(result.per_query)
    assert repr(again) == repr(result)


def test_several_cutoffs_are_those_asked_for_one_by_one() -> None:
    names = [name.removesuffix("@2") for name in OF_RUN]
    together = atkay.evaluate(RECS, TRUTH, [f"{name}@2,1,7" for name in names], **SIDE)
    for name in names:
        for k in (1, 2, 7):
            alone = atkay.evaluate(RECS, TRUTH, f"{name}@{k}", **SIDE)[f"{name}@{k}"]
            assert together[f"{name}@{k}"] == pytest.approx(alone, abs=0, rel=0, nan_ok=True), (name, k)


def test_users_without_a_segment(tmp_path: Path) -> None:
    result = atkay.evaluate(RECS, TRUTH, "coverage@1", slices={"a": 1, "d": 2}, catalog=["x", "y"])
    rows = result.slices.select("segment", "mean", "users").rows()
    assert rows == [("1", 0.5, 1), ("2", 0.0, 1), (None, 0.5, 3)]
    result.save(tmp_path / "r.json")
    assert atkay.Result.load(tmp_path / "r.json").slices.equals(result.slices)


WITH_LISTS = {
    **OF_RUN,
    # For the three users with a list. Red: 3 times rank 1, for 3 users and one item.
    "exposure(of=highest)@2": 1.0,
    # x is in 3 of 3 lists and y in 2 of 3: mean 5/6, std 1/6. That d had x in training does not matter.
    "pop_rsp@2": 1 / 5,
    # Hits over relevant items: red 1/1 (a), blue 2/2 (b and c).
    "pop_reo(groups=categories)@2": 0.0,
    # The first hits stand at ranks 1, 2 and 2.
    "median_rank": 2.0,
}


@pytest.mark.parametrize("memory", [None, 4_000])
@pytest.mark.parametrize("beside", [[], ["ndcg@2"], ["mrr"]])
def test_skipped_users_do_not_count(memory: int | None, beside: list[str], tmp_path: Path) -> None:
    given: dict[str, Any] = {**SIDE, "train": SIDE["train"] | {"d": ["x"]}, "slices": SEGMENTS, "no_recs": "skip"}
    result = atkay.evaluate(RECS, TRUTH, [*WITH_LISTS, *beside], memory=memory, **given)
    for name, value in WITH_LISTS.items():
        assert result[name] == pytest.approx(value), name
        assert result.summaries[name][4:] == (3, 0), name
    # The segment of users without a list has nobody who counts.
    counts = {(segment, name): summary[4:] for _, segment, name, summary in result.slice_summaries}
    for name in WITH_LISTS:
        assert counts["full", name] == (3, 0), name
    assert "empty" not in {segment for segment, _ in counts}
    result.save(tmp_path / "result.json")
    loaded = atkay.Result.load(tmp_path / "result.json")
    assert [summary[4:] for summary in loaded.summaries.values()] == [
        summary[4:] for summary in result.summaries.values()
    ]


def test_skipped_users_do_not_count_in_batches() -> None:
    stream = atkay.Stream(["median_rank", "coverage@2", "ndcg@2"], n_items=4, no_recs="skip")
    for items, target in zip([[0, 1], [0, 2], [0, 1], [-1, -1], [-1, -1]], [0, 2, 1, 0, 2], strict=True):
        other = atkay.Stream(["median_rank", "coverage@2", "ndcg@2"], n_items=4, no_recs="skip")
        other.update([items], [target])
        stream.merge(other.to_bytes())
    result = stream.compute()
    assert (result["median_rank"], result["coverage@2"]) == (2.0, 3 / 4)
    assert [summary[4:] for summary in result.summaries.values()] == [(3, 0)] * 3


@pytest.mark.parametrize(("missed", "users"), [("beyond", 5), ("last", 5), ("skip", 3)])
def test_median_rank_counts_users_with_a_relevant_item(missed: str, users: int) -> None:
    spec = f"median_rank(missed={missed})"
    result = atkay.evaluate({**RECS, "f": ["x"]}, TRUTH, spec, no_truth="zero")
    (summary,) = result.summaries.values()
    assert summary[4:] == (users, 6 - users)
