"""Trackers: a flat record of the numbers, and MLflow's own store read back with its own client."""

from __future__ import annotations

import dataclasses
import importlib.util
import json
import math
import re
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import atkay
from atkay.errors import InputError, MissingPackageError, SpecError
from atkay.reporting.mlflow import plain_name
from variants import every_variant

RECS = {"A": ["i1", "i9", "i2", "i8", "i3"], "B": ["i1", "i7"]}
TRUTH = {"A": ["i1", "i2", "i3", "i4", "i5", "i6"], "B": ["i1", "i2"], "C": ["i1"]}
METRICS = ["precision@5", "map(per=hits)@5", "coverage@5"]
# Three hits of A in the top 5, one of B, none of C; coverage is of the whole run and has no interval.
PRECISION = (3 / 5 + 1 / 5 + 0 / 5) / 3


@pytest.fixture
def result() -> atkay.Result:
    segments = {"A": "new", "B": "old", "C": "old"}
    return atkay.evaluate(RECS, TRUTH, METRICS, slices=segments, catalog=["i1", "i2", "i3", "i7", "i8", "i9"])


@pytest.fixture
def mlflow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """MLflow with an empty file store, which it keeps for those who ask for it, and without calls to its makers."""
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    monkeypatch.setenv("MLFLOW_DISABLE_TELEMETRY", "true")
    monkeypatch.delenv("MLFLOW_RUN_ID", raising=False)
    import mlflow

    before = mlflow.get_tracking_uri()
    mlflow.set_tracking_uri((tmp_path / "runs").as_uri())
    yield mlflow
    while mlflow.active_run():
        mlflow.end_run()
    mlflow.set_tracking_uri(before)


def logged(mlflow: Any, run: str) -> Any:
    return mlflow.MlflowClient().get_run(run)


def files(mlflow: Any, run: str, folder: str | None = None) -> list[str]:
    return [each.path for each in mlflow.MlflowClient().list_artifacts(run, folder)]


# A record that any tracker takes


def test_names_and_means(result: atkay.Result) -> None:
    found = result.to_dict()
    assert found == dict(result)
    assert list(found) == METRICS
    assert found["precision@5"] == pytest.approx(PRECISION)
    assert {type(value) for value in found.values()} == {float}
    assert json.loads(json.dumps(found)) == found


def test_the_ends_of_the_interval_follow_the_mean(result: atkay.Result) -> None:
    found = result.to_dict(names="plain", intervals="ends", prefix="val/")
    assert list(found)[:4] == [
        "val/precision_at_5", "val/precision_at_5_low", "val/precision_at_5_high", "val/map_per_hits_at_5",
    ]  # fmt: skip
    values = [3 / 5, 1 / 5, 0]
    deviation = math.sqrt(sum((value - PRECISION) ** 2 for value in values) / 2)
    half = 4.302652729911275 * deviation / math.sqrt(3)  # Student's t of 2 degrees of freedom, 97.5 %
    assert found["val/precision_at_5_low"] == max(PRECISION - half, 0) == 0  # as low as precision can be
    assert found["val/precision_at_5_high"] == min(PRECISION + half, 1) == 1


def test_what_is_undefined_is_nan_or_not_there(result: atkay.Result) -> None:
    assert math.isnan(result.to_dict(intervals="ends")["coverage@5_low"])
    found = result.to_dict(intervals="ends", undefined="drop")
    assert "coverage@5_low" not in found
    # i1, i2, i3, i7, i8 and i9 are all listed.
    assert found["coverage@5"] == 1
    assert json.dumps(found, allow_nan=False)


def test_a_mean_that_is_undefined() -> None:
    """Everything listed is relevant, so there is no pair to put in order."""
    result = atkay.evaluate({1: [5]}, {1: [5]}, ["auc", "mrr"])
    assert math.isnan(result.to_dict()["auc"])
    assert result.to_dict(undefined="drop") == {"mrr": 1.0}


@pytest.mark.parametrize("what", ["names", "intervals", "undefined"])
def test_a_word_that_does_not_exist(result: atkay.Result, what: str) -> None:
    with pytest.raises(SpecError, match=f"to_dict: unknown value 'maybe' for {what}; choose "):
        result.to_dict(**{what: "maybe"})  # type: ignore[arg-type]


def test_plain_names_of_all_metrics_are_plain_and_their_own() -> None:
    specs = {str(one) for one in every_variant(None, 1, 5, 10, 100)}
    specs |= {"rbp(p=0.85)", "f1(beta=1e-06)", "f1(beta=1e+06)", "f1(beta=1.5)", "f1(beta=15)"}
    names = [f"{plain_name(spec)}{end}" for spec in specs for end in ("", "_low", "_high")]
    assert len(specs) > 500
    assert len(set(names)) == len(names)
    assert all(re.fullmatch("[a-z][a-z0-9_]*", name) for name in names)
    assert max(map(len, names)) < 200  # MLflow takes 250 characters, and there may be a prefix


def test_two_numbers_never_share_a_name(result: atkay.Result, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("atkay.reporting.mlflow.plain_name", lambda name: "same")
    with pytest.raises(SpecError, match="two metrics share the name 'same'"):
        result.to_dict(names="plain")


# MLflow


def test_mlflow_takes_every_plain_name(mlflow: Any) -> None:
    names = sorted({plain_name(str(one)) for one in every_variant(None, 10)})
    with mlflow.start_run() as run:
        mlflow.log_metrics({f"val/{name}_high": float(at) for at, name in enumerate(names)})
    assert logged(mlflow, run.info.run_id).data.metrics == {f"val/{name}_high": at for at, name in enumerate(names)}


def test_a_run_is_started_and_ended(result: atkay.Result, mlflow: Any) -> None:
    run = result.log_mlflow()
    assert mlflow.active_run() is None
    found = logged(mlflow, run)
    assert found.info.status == "FINISHED"
    low, high = result.summaries["map(per=hits)@5"][1:3]
    assert found.data.metrics == {
        "precision_at_5": result["precision@5"],
        "precision_at_5_low": result.summaries["precision@5"].low,
        "precision_at_5_high": result.summaries["precision@5"].high,
        "map_per_hits_at_5": result["map(per=hits)@5"],
        "map_per_hits_at_5_low": low,
        "map_per_hits_at_5_high": high,
        "coverage_at_5": 1.0,
    }


def test_the_active_run_stays_active(result: atkay.Result, mlflow: Any) -> None:
    with mlflow.start_run() as run:
        assert result.log_mlflow(report=None, saved=None) == run.info.run_id
        assert mlflow.active_run().info.run_id == run.info.run_id
    assert len(mlflow.search_runs(output_format="list")) == 1
    assert files(mlflow, run.info.run_id) == []


def test_protocol_and_definitions(result: atkay.Result, mlflow: Any) -> None:
    found = logged(mlflow, result.log_mlflow(report=None, saved=None)).data
    assert found.params["protocol.no_recs"] == "zero"
    assert found.params["protocol.ties"] == "given"
    assert set(found.params) == {
        *(f"protocol.{each.name}" for each in dataclasses.fields(atkay.Protocol)),
        *("protocol.apart", "dialect", "sampled"),
    }
    assert found.params["protocol.exclude"] == found.params["dialect"] == "none"
    assert found.tags["definition.precision_at_5"] == (
        "precision@5: relevant items in the top 5, divided by 5; mean over users. h / 5"
    )
    assert found.tags["definition.map_per_hits_at_5"].startswith("map(per=hits)@5: ")
    assert found.tags["fingerprint.truth"] == result.fingerprint["truth"]
    assert found.tags["atkay"] == atkay.__version__


def test_runs_are_found_by_numbers_and_by_protocol(result: atkay.Result, mlflow: Any) -> None:
    run = result.log_mlflow(report=None, saved=None)

    def search(words: str) -> list[str]:
        return [each.info.run_id for each in mlflow.search_runs(filter_string=words, output_format="list")]

    assert search("metrics.precision_at_5 > 0.26 and params.protocol.ties = 'given'") == [run]
    assert search("metrics.precision_at_5_low > 0.26") == []


def test_another_librarys_dialect_is_said(mlflow: Any) -> None:
    result = atkay.evaluate(RECS, TRUTH, "map@5", dialect="rectools")
    found = logged(mlflow, result.log_mlflow(report=None, saved=None)).data
    assert found.params["dialect"] == result.dialect
    assert found.params["dialect"].startswith("rectools")


@pytest.mark.filterwarnings("ignore::atkay.errors.SampledWarning")
def test_samples_and_averages_are_said(mlflow: Any) -> None:
    sampled = atkay.Sampled(catalog_size=101, negatives=2, estimator="rank")
    recs = {"user": ["a", "a", "a"], "week": [1, 1, 1], "item": [5, 6, 7]}
    truth = {"user": ["a"], "week": [1], "item": [6]}
    columns = atkay.Columns(user=("user", "week"))
    result = atkay.evaluate(
        pl.DataFrame(recs), pl.DataFrame(truth), "mrr", columns=columns, average_over="user", sampled=sampled
    )
    found = logged(mlflow, result.log_mlflow(report=None, saved=None)).data
    assert found.params["sampled"].endswith("from a sample of it; 2 of 101 items were ranked")
    assert found.params["protocol.average_over"] == "user"
    assert found.metrics == {"mrr": 1 / 51}  # sampled rank 2 of 3 stands for 1 + 100 * 1/2; one user has no interval


def test_steps_of_a_training_loop(mlflow: Any) -> None:
    lists = [["i9", "i8", "i1"], ["i9", "i1"], ["i1"]]  # the hit moves up: 1/3, 1/2, 1
    with mlflow.start_run() as run:
        for epoch, each in enumerate(lists):
            result = atkay.evaluate({"A": each, "B": each}, {"A": ["i1"], "B": ["i1"]}, "mrr")
            result.log_mlflow(prefix="val/", step=epoch, report=None, saved=None)
    history = mlflow.MlflowClient().get_metric_history(run.info.run_id, "val/mrr")
    assert [(each.step, each.value) for each in history] == [(0, 1 / 3), (1, 1 / 2), (2, 1.0)]
    found = logged(mlflow, run.info.run_id).data
    assert found.params["val/protocol.ties"] == "given"
    assert found.tags["val/definition.mrr"].startswith("mrr: ")


@pytest.mark.parametrize(
    "other", [{"no_recs": "skip"}, {"min_relevance": 0.5}, {"exclude": ["i9"]}, {"dialect": "rectools"}]
)
def test_numbers_of_another_protocol_are_not_mixed_in(mlflow: Any, other: dict[str, Any]) -> None:
    first, second = atkay.evaluate(RECS, TRUTH, "precision@5"), atkay.evaluate(RECS, TRUTH, "precision@5", **other)
    with mlflow.start_run() as run:
        first.log_mlflow(report=None, saved=None)
        with pytest.raises(mlflow.MlflowException, match="Changing param values is not allowed"):
            second.log_mlflow(step=1, report=None, saved=None)
        second.log_mlflow(prefix="other_", report=None, saved=None)
    history = mlflow.MlflowClient().get_metric_history(run.info.run_id, "precision_at_5")
    assert [each.value for each in history] == [first["precision@5"]]
    assert logged(mlflow, run.info.run_id).data.metrics["other_precision_at_5"] == second["precision@5"]


class Texts(HTMLParser):
    """What a reader sees of a page without running its scripts."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: set[str] = set()
        self.open = ""

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.open = tag

    def handle_data(self, data: str) -> None:
        if self.open not in ("script", "style"):
            self.seen.add(data)


def test_the_report_and_the_saved_result(result: atkay.Result, mlflow: Any) -> None:
    run = result.log_mlflow()
    assert files(mlflow, run) == ["report.html", "result.json"]
    download = mlflow.MlflowClient().download_artifacts
    page = Path(download(run, "report.html")).read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    texts = Texts()
    texts.feed(page)
    assert set(METRICS) <= texts.seen
    again = atkay.Result.load(download(run, "result.json"))
    assert again.to_dict() == result.to_dict()
    assert again.slices.equals(result.slices, null_equal=True)


def test_artifacts_under_other_names(result: atkay.Result, mlflow: Any) -> None:
    run = result.log_mlflow(prefix="val/", report=None, saved="epoch_3/numbers.json.gz")
    assert files(mlflow, run, "val/epoch_3") == ["val/epoch_3/numbers.json.gz"]
    path = mlflow.MlflowClient().download_artifacts(run, "val/epoch_3/numbers.json.gz")
    assert Path(path).read_bytes()[:2] == b"\x1f\x8b"
    assert atkay.Result.load(path).to_dict() == result.to_dict()


@pytest.mark.parametrize("given", ["", "folder/", True])
def test_what_is_no_name_of_an_artifact(result: atkay.Result, mlflow: Any, given: Any) -> None:
    with pytest.raises(InputError, match=f"log_mlflow: report must be the name of an artifact or None, got {given!r}"):
        result.log_mlflow(report=given)
    assert mlflow.search_runs(output_format="list") == []  # no run is left behind


def test_without_altair_there_is_no_report(result: atkay.Result, mlflow: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    find = importlib.util.find_spec
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None if name == "altair" else find(name))
    assert files(mlflow, result.log_mlflow()) == ["result.json"]


def test_without_mlflow(result: atkay.Result, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mlflow", None)
    with pytest.raises(MissingPackageError, match=r"log_mlflow needs mlflow, .* pip install 'atkay\[mlflow\]'"):
        result.log_mlflow()
