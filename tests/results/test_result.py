"""The result: numbers, tables, words, files."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import atkay
from atkay.errors import SourceError, SpecError
from atkay.metrics.metric import Definition, is_pooled
from atkay.metrics.spec import parse
from variants import every_variant, side

RECS = {"A": ["i1", "i9", "i2", "i8", "i3"], "B": ["i1", "i7"], "D": ["i1", "i2", "i3"]}
TRUTH = {"A": ["i1", "i2", "i3", "i4", "i5", "i6"], "B": ["i1", "i2"], "C": ["i1"]}
METRICS = ["ndcg@5", "p@1,5", "recall(average=pooled)@5"]
NAMES = ["ndcg@5", "precision@1", "precision@5", "recall(average=pooled)@5"]
SEGMENTS = {"A": "new", "B": "old", "D": "old"}


@pytest.fixture
def result() -> atkay.Result:
    return atkay.evaluate(RECS, TRUTH, METRICS, slices=SEGMENTS)


def test_numbers_under_any_of_their_names(result: atkay.Result) -> None:
    assert result["p@5"] == result["precision@5"] == result["Precision @ 5"] == pytest.approx((3 / 5 + 1 / 5 + 0) / 3)
    assert list(result) == NAMES
    assert len(result) == 4
    assert dict(result) == result.to_dict() == {name: result[name] for name in NAMES}
    assert "p@5" in result
    assert "p@7" not in result
    assert "nonsense" not in result
    with pytest.raises(SpecError, match="'precision@7' was not evaluated; this result has 'ndcg@5',"):
        result["p@7"]


def test_the_usual_metrics() -> None:
    usual = ["ndcg@10", "map@10", "mrr@10", "recall@10", "precision@10", "hit@10"]
    assert list(atkay.evaluate(RECS, TRUTH)) == usual


def test_table(result: atkay.Result) -> None:
    assert result.table.columns == ["metric", "mean", "low", "high", "deviation", "users", "undefined"]
    assert result.table["metric"].to_list() == NAMES
    row = result.table.row(2, named=True)
    values = np.array([3 / 5, 1 / 5, 0])
    half = 4.302652729911275 * values.std(ddof=1) / math.sqrt(3)
    assert row["mean"] == pytest.approx(values.mean())
    assert values.mean() - half < 0
    assert (row["low"], row["high"]) == (0, pytest.approx(min(values.mean() + half, 1)))
    assert row["deviation"] == pytest.approx(values.std(ddof=1))
    assert (row["users"], row["undefined"]) == (3, 0)
    assert result.to_polars().equals(result.table)
    assert result.to_pandas()["mean"].tolist() == result.table["mean"].to_list()


def test_per_query(result: atkay.Result) -> None:
    assert result.per_query.columns == ["user", *NAMES]
    assert result.per_query["user"].to_list() == ["A", "B", "C"]
    assert result.per_query["precision@5"].to_list() == [0.6, 0.2, 0.0]


def test_per_query_of_as_many_users_as_numbers() -> None:
    """A square of values is not turned on its side."""
    result = atkay.evaluate(RECS, TRUTH, ["p@1", "p@5", "mrr"])
    assert result.per_query["precision@5"].to_list() == [0.6, 0.2, 0.0]
    assert result.per_query["mrr"].to_list() == [1.0, 1.0, 0.0]


def test_population(result: atkay.Result) -> None:
    population = result.population
    assert (population.evaluated, population.without_list, population.without_truth) == (3, 1, 1)
    assert (population.listed, population.relevant, population.hits) == (10, 9, 4)
    assert population.unknown == 3  # i9, i8 and i7 are in nobody's truth
    assert (population.excluded, population.duplicated, population.tied) == (0, 0, 0)


def test_the_footer_says_what_became_of_users() -> None:
    recs, truth = {"ann": ["a", "b"], "dan": ["a"]}, {"ann": ["a"], "cat": ["a"]}
    assert "1 without a list (scored 0);" in repr(atkay.evaluate(recs, truth, "hit@1"))
    assert "1 without a list (counted with an empty list);" in repr(atkay.evaluate(recs, truth, ["hit@1", "auc"]))
    judged = atkay.evaluate(recs, truth, "hit@1", no_truth="judged")
    assert "1 without truth (scored 0 if any item was judged)" in repr(judged)


NO_LIST, NO_TRUTH = [2, 3], [4, 5]
RUN = {0: [0, 1, 2], 1: [3, 4], 99: [0], 4: [2, 0], 5: [1, 7]}
RELEVANT = {0: {0: 1, 2: 1}, 1: {3: 1, 6: 1}, 99: {0: 1}, 2: {1: 1, 5: 1}, 3: {7: 1}}
MIXES = [
    *([str(metric)] for metric in every_variant(2) if not metric.reads_scores),  # these lists have none
    *(["ndcg@2", other] for other in ("map", "mpr", "auc", "arp@2", "rbp_residual@2", "coverage@2", "median_rank")),
    ["coverage@2", "median_rank"],
    ["arp@2", "coverage@2"],
]


def _values(result: atkay.Result, users: list[int]) -> list[list[float]]:
    place = {user: at for at, user in enumerate(result.ids["user"])}
    return [result.query_values[place[user]].tolist() for user in users]


@pytest.mark.parametrize(("no_recs", "no_truth"), [("zero", "one"), ("skip", "zero")])
def test_what_the_footer_says_is_what_users_score(no_recs: Any, no_truth: Any) -> None:
    # The same with an item of no worth in the lists that were missing, which is taken out, and with truth for all.
    with_list, taken_out = RUN | {user: [6] for user in NO_LIST}, {user: [6] for user in NO_LIST}
    all_truth = RELEVANT | {user: {6: 1} for user in NO_TRUTH}
    for mix in MIXES:
        result = atkay.evaluate(RUN, RELEVANT, mix, no_recs=no_recs, no_truth=no_truth, **side())
        _, no_list, truthless = (part.partition(" (")[2].rstrip(")") for part in result.counted()[0].split("; "))
        metrics = [parse(name) for name in result.by_query]
        if no_list == "skipped":
            assert not set(NO_LIST) & set(result.ids["user"])
        elif no_list == "scored 0":
            assert _values(result, NO_LIST) == [[0] * len(metrics)] * 2
        else:
            assert no_list == "counted with an empty list"
            emptied = atkay.evaluate(with_list, RELEVANT, mix, no_truth=no_truth, exclude=taken_out, **side())
            np.testing.assert_array_equal(_values(result, NO_LIST), _values(emptied, NO_LIST))
            np.testing.assert_equal(dict(result.whole), dict(emptied.whole))
        if truthless == "skipped":
            left_out = atkay.evaluate(RUN, RELEVANT, mix, no_recs=no_recs, no_truth="skip", **side())
            np.testing.assert_equal(result.to_dict(), left_out.to_dict())
            continue
        score, _, named = truthless.partition(" by ")
        about_truth = np.array([metric.needs_truth and not is_pooled(metric) for metric in metrics], bool)
        lower = about_truth & np.array([metric.better == "lower" for metric in metrics], bool)
        needs = about_truth & ~lower
        other = "without a value" if about_truth.sum() == len(result.metrics) else "counted"
        assert score == (f"scored {1 if no_truth == 'one' else 0}" if needs.any() else other)
        scored = [str(metric) for metric, alone in zip(metrics, needs, strict=True) if alone]
        assert named == ("" if len(scored) in (0, len(result.metrics)) else ", ".join(scored))
        of_truthless = np.array(_values(result, NO_TRUTH)).reshape(2, -1)
        assert (of_truthless[:, needs] == (score == "scored 1")).all()
        assert np.isnan(of_truthless[:, lower]).all()
        with_truth = np.array(_values(atkay.evaluate(RUN, all_truth, mix, **side()), NO_TRUTH)).reshape(2, -1)
        counting = {"count", "utility"}  # what is relevant: no protocol decides what a user without any scores
        alike = np.array([not (metric.needs_truth or metric.name in counting) for metric in metrics], bool)
        np.testing.assert_array_equal(of_truthless[:, alike], with_truth[:, alike])


def test_definitions_are_sentences(result: atkay.Result) -> None:
    assert result.definitions["precision@5"] == Definition(
        "relevant items in the top 5, divided by 5; mean over users", "h / 5"
    )
    pooled = result.definitions["recall(average=pooled)@5"]
    assert pooled.words.endswith("divided by the number of relevant items; summed over all users before dividing")


def test_slices(result: atkay.Result) -> None:
    rows = result.slices.filter(pl.col("metric") == "precision@5").select("slice", "segment", "mean", "users").rows()
    assert rows == [("segment", "new", 0.6, 1), ("segment", "old", 0.2, 1), ("segment", None, 0.0, 1)]
    pooled = result.slices.filter(pl.col("metric") == "recall(average=pooled)@5")["mean"].to_list()
    assert pooled == [3 / 6, 1 / 2, 0 / 1]


def test_slices_by_several_columns_and_by_groups() -> None:
    keys = {"user": ["a", "a", "b"], "order": [1, 2, 1]}
    recs, truth = pl.DataFrame({**keys, "item": [1, 2, 3]}), pl.DataFrame({**keys, "item": [1, 9, 3]})
    users = pl.DataFrame({"user": ["a", "b"], "country": ["de", "fr"], "tier": [1, 1]})
    columns = {"recs": atkay.Columns(user=("user", "order")), "truth": atkay.Columns(user=("user", "order"))}
    result = atkay.evaluate(recs, truth, "hit@1", columns=columns, average_over="user", slices=users)
    rows = result.slices.select("slice", "segment", "mean", "users").rows()
    assert rows == [("country", "de", 0.5, 1), ("country", "fr", 1.0, 1), ("tier", "1", 0.75, 2)]


def test_shown_as_text_html_markdown_and_latex(result: atkay.Result) -> None:
    text = repr(result)
    assert "precision@5 ↑               0.2667" in text
    assert "3 users evaluated; 1 without a list (counted with an empty list); 1 without truth (skipped)" in text
    assert "(none)" in text
    assert "<td" in result._repr_html_()
    lines = result.to_markdown().splitlines()
    assert lines[0].startswith("| metric ")
    assert lines[1].startswith("| ---")
    assert lines[6:9] == ["", "↑ higher is better", ""]
    assert lines[9].startswith("| slice ")
    assert result.to_latex().count(r"\toprule") == 2
    assert r"ndcg@5 $\uparrow$ & 0.4177" in result.to_latex()


def test_ids_are_shown_as_text() -> None:
    evil = "<script>alert(1)</script>"
    result = atkay.evaluate(RECS, TRUTH, "mrr", slices={"A": evil, "B": "a|b", "C": "100 %_&"})
    assert "<script>" not in result._repr_html_()
    assert "&lt;script&gt;" in result._repr_html_()


@pytest.mark.parametrize("name", ["result.json", "result.json.gz"])
def test_saved_and_loaded(result: atkay.Result, tmp_path: Path, name: str) -> None:
    result.save(tmp_path / name)
    again = atkay.Result.load(tmp_path / name)
    assert again.table.equals(result.table, null_equal=True)
    assert again.per_query.equals(result.per_query, null_equal=True)
    assert again.slices.equals(result.slices, null_equal=True)
    assert again.metrics == result.metrics
    assert again.protocol == result.protocol
    assert again.population == result.population
    assert again.definitions == result.definitions
    assert again.fingerprint == result.fingerprint
    assert again.columns == result.columns
    assert again.version == result.version == atkay.__version__
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_saved_with_groups_and_undefined_values(tmp_path: Path) -> None:
    truth = pl.DataFrame({"user": ["a", "a", "b"], "order": [1, 2, 1], "item": [1, 2, 3]})
    columns = atkay.Columns(user=("user", "order"))
    result = atkay.evaluate(truth, truth, "hit@1", columns=columns, average_over=("user",))
    result.save(tmp_path / "r.json")
    again = atkay.Result.load(tmp_path / "r.json")
    assert again.summaries["hit@1"].users == 2
    assert again.protocol == result.protocol


def test_the_saved_file_can_be_read_by_anyone(result: atkay.Result, tmp_path: Path) -> None:
    result.save(tmp_path / "r.json")
    record = json.loads((tmp_path / "r.json").read_text())
    assert record["atkay"] == atkay.__version__
    assert record["numbers"]["precision@5"]["mean"] == result["precision@5"]
    assert record["protocol"]["no_recs"] == "zero"
    assert set(record["fingerprint"]) == {"truth", "recs"}
    assert record["definitions"]["precision@5"]["formula"] == "h / 5"


def test_files_are_written_whole_or_not_at_all(
    result: atkay.Result, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "r.json"
    target.write_text("before")

    def full(*_: object) -> None:
        raise OSError("No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="No space left"):
        result.save(target)
    assert target.read_text() == "before"
    assert [path.name for path in tmp_path.iterdir()] == ["r.json"]


@pytest.mark.parametrize("content", ["", "{", "[1]", '{"atkay": "0.1.0"}'])
def test_loading_what_is_no_result(content: str, tmp_path: Path) -> None:
    (tmp_path / "r.json").write_text(content)
    with pytest.raises(SourceError, match=r"'.*r.json' is not a saved atkay result"):
        atkay.Result.load(tmp_path / "r.json")
    with pytest.raises(SourceError, match=r"^no file '.*missing.json'$"):
        atkay.Result.load(tmp_path / "missing.json")


def test_fingerprints_tell_inputs_apart(result: atkay.Result) -> None:
    other_item = atkay.evaluate(RECS, TRUTH | {"C": ["i2"]}, METRICS)
    assert other_item.fingerprint["truth"] != result.fingerprint["truth"]
    other_grade = atkay.evaluate(RECS, {user: dict.fromkeys(items, 2) for user, items in TRUTH.items()}, METRICS)
    assert other_grade.fingerprint["truth"] != result.fingerprint["truth"]
    other_order = atkay.evaluate(RECS | {"B": ["i7", "i1"]}, TRUTH, METRICS)
    assert other_order.fingerprint["truth"] == result.fingerprint["truth"]
    assert other_order.fingerprint["recs"] != result.fingerprint["recs"]


def test_one_user() -> None:
    result = atkay.evaluate({1: [5]}, {1: [5]}, "mrr")
    assert result["mrr"] == 1
    assert result.table["low"].to_list() == [None]
    assert "–" in repr(result)
