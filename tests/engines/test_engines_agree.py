"""Every registered metric, with every word of its conventions, through every engine: the same bits."""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final
from unittest import mock

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import atkay
from atkay.errors import AtkayError, AtkayWarning
from atkay.evaluation.measure import measure_tables
from atkay.metrics.metric import Metric
from atkay.protocol import Protocol
from atkay.words import words_of
from scenarios import examples
from variants import ANCHOR, Row, every_variant, grades, items, recs_frame, rows, scores, side, truth_frame, users

USERS, ITEMS, LISTED = 60, 40, 12
METRICS = list(every_variant(None, (1, 5)))


class Data:
    """Lists, truth with grades, and something for every metric that needs more; users and items are codes."""

    def __init__(self) -> None:
        rng = np.random.default_rng(7)
        self.lists = np.array([rng.permutation(ITEMS)[:LISTED] for _ in range(USERS)])
        self.score = np.sort(rng.choice(20, (USERS, LISTED)) / 8 - 0.5, axis=1)[:, ::-1]
        grade = np.where(rng.random((USERS, ITEMS)) < 0.15, rng.choice([0.5, 1, 2, 3], (USERS, ITEMS)), 0.0)
        grade[:, 0] = 1  # everybody has something to find
        self.grade = grade
        self.recs = pl.DataFrame(
            {
                "user": np.repeat(np.arange(USERS), LISTED),
                "item": self.lists.ravel(),
                "score": self.score.ravel(),
            }
        )
        user, item = np.nonzero(grade)
        self.truth = pl.DataFrame({"user": user, "item": item, "relevance": grade[user, item]})
        had = rng.random((USERS, ITEMS)) < 0.2
        self.side: dict[str, Any] = {
            "train": {user: np.flatnonzero(row).tolist() for user, row in enumerate(had) if row.any()},
            "catalog": list(range(ITEMS)),
            "features": pl.DataFrame(
                {
                    "item": range(ITEMS),
                    "kind": [["a"], ["b", "c"], ["c"], ["d"]] * (ITEMS // 4),
                    "x": rng.random(ITEMS),
                    "y": rng.random(ITEMS),
                }
            ),
            "propensity": {item: float(p) for item, p in enumerate(rng.random(ITEMS - 2) + 1e-3) if p <= 1},
            "reference": {user: rng.permutation(ITEMS)[:5].tolist() for user in range(USERS)},
        }


DATA = Data()
TIES: Final = "item"  # rows have no order in Spark
Engine = Callable[[Path], atkay.Result]


def files(folder: Path) -> atkay.Result:
    """Rows in no order, in three files, within a memory that makes several parts."""
    shuffled = DATA.recs.sample(fraction=1, shuffle=True, seed=1)
    (folder / "recs").mkdir()
    for part in range(3):
        shuffled[part::3].write_parquet(folder / "recs" / f"{part}.parquet")
    DATA.truth.write_parquet(folder / "truth.parquet")
    recs, truth = str(folder / "recs" / "*.parquet"), folder / "truth.parquet"
    with mock.patch("atkay.engines.files.files.measure_tables", side_effect=measure_tables) as judged:
        result = atkay.evaluate(recs, truth, METRICS, memory="100KB", spill=folder, ties=TIES, **DATA.side)
    assert judged.call_count > 1
    assert sorted(path.name for path in folder.iterdir()) == ["recs", "truth.parquet"]
    return result


def stream(folder: Path) -> atkay.Result:
    """Batches of thirteen users, in three shards that are merged backwards, one of them as bytes."""
    shards = [atkay.Stream(METRICS, n_items=ITEMS, ties=TIES, **DATA.side) for _ in range(3)]
    for nth, first in enumerate(range(0, USERS, 13)):
        users = slice(first, first + 13)
        shards[nth % 3].update(
            DATA.lists[users], DATA.grade[users], scores=DATA.score[users], users=np.arange(USERS)[users]
        )
    whole = shards.pop()
    whole.merge(shards.pop())
    whole.merge(shards.pop().to_bytes())
    return whole.compute()


@pytest.fixture(scope="module")
def memory() -> atkay.Result:
    return atkay.evaluate(DATA.recs, DATA.truth, METRICS, ties=TIES, **DATA.side)


def assert_agrees(result: atkay.Result, memory: atkay.Result) -> None:
    assert list(result) == list(memory)
    for name, summary in memory.summaries.items():
        assert result.summaries[name] == pytest.approx(summary, rel=0, abs=0, nan_ok=True), name


def test_every_metric_is_there(memory: atkay.Result) -> None:
    assert {metric.name for metric in memory.metrics} == set(atkay.list_metrics())
    assert sum(np.isfinite(value) for value in memory.values()) > 0.95 * len(memory)


@pytest.mark.parametrize("engine", [files, stream])
def test_engine(engine: Engine, tmp_path: Path, memory: atkay.Result) -> None:
    assert_agrees(engine(tmp_path), memory)


@pytest.mark.filterwarnings("ignore::FutureWarning:pyspark")
@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_spark(spark: Any, memory: atkay.Result) -> None:
    recs, truth = (spark.createDataFrame(frame.to_arrow()) for frame in (DATA.recs, DATA.truth))
    assert_agrees(atkay.evaluate(recs, truth, METRICS, ties=TIES, **DATA.side), memory)


WORDS = {each.name: list(words_of(each)) for each in dataclasses.fields(Protocol) if words_of(each)}
CUT_ALIKE = list(every_variant(None, 2))
Given = dict[str, Any]


@st.composite
def requests(draw: st.DrawFn) -> tuple[list[Metric], Given]:
    """A few metrics, words of the protocol that go with them, the tables they need, and items to exclude."""
    chosen = draw(st.sets(st.sampled_from(sorted(WORDS))))
    words: Given = {name: draw(st.sampled_from(WORDS[name])) for name in sorted(chosen)}
    if words.get("ties") not in ("expected", "together") and draw(st.booleans()):
        words["depth"] = draw(st.integers(1, 3))
    able = [metric for metric in CUT_ALIKE if metric.averages or words.get("ties") not in ("expected", "together")]
    metrics = draw(st.lists(st.sampled_from(able), min_size=1, max_size=4, unique_by=str))
    needed = {name for metric in metrics for name in metric.needs}
    tables = {name: table for name, table in side().items() if name in needed}
    if seen := draw(st.dictionaries(users, st.lists(items, min_size=1, unique=True), max_size=4)):
        tables["exclude"] = seen
    return metrics, {**words, **tables}


def streamed(recs: list[Row], truth: list[Row], metrics: list[Metric], given: Given) -> atkay.Result:
    """Each user in a batch of its own, the last of them with one of nobody."""
    seen, weights = given.get("exclude", {}), given.get("weights")
    words = {name: one for name, one in given.items() if name not in ("exclude", "weights")}
    whole = atkay.Stream(metrics, n_items=8, **words)
    for user in sorted({row[0] for row in (*recs, *truth)}):
        listed, relevant = ([row[1:] for row in table if row[0] == user] for table in (recs, truth))
        grades = sparse.csr_matrix(
            ([grade for _, grade in relevant], ([0] * len(relevant), [item for item, _ in relevant])), shape=(1, 8)
        )
        whole.update(
            np.array([[item for item, _ in listed]], np.int64).reshape(1, -1),
            grades,
            scores=np.array([[score for _, score in listed]], float).reshape(1, -1),
            users=[user],
            exclude=[seen.get(user, [])],
            weights=None if weights is None else [weights[user]],
        )
    nobody = np.empty((0, 2), np.int64)
    whole.update(nobody, nobody, users=nobody[:, 0], weights=None if weights is None else [])
    return whole.compute()


def outcome(evaluate: Callable[[], atkay.Result]) -> dict[Any, Any] | type[Exception]:
    """The numbers of everybody and of each segment, or the error that is raised."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AtkayWarning)
        try:
            result = evaluate()
        except AtkayError as error:
            return type(error)
    return {**result.summaries, **{tuple(names): summary for *names, summary in result.slice_summaries}}


@pytest.mark.parametrize("engine", ["files", "stream"])
@examples(15, 400)
@given(
    recs=rows(scores, 0.0),
    truth=rows(grades, 3.0),
    request=requests(),
    segments=st.dictionaries(users, st.sampled_from(["x", "y", None]), min_size=1),
    n_parts=st.integers(1, 5),
    aggregate=st.sampled_from(["mean", "mean", "geometric", "median", "worst(share=0.3)"]),
    weighted=st.booleans(),
)
def test_any_request(
    engine: str,
    recs: list[Row],
    truth: list[Row],
    request: tuple[list[Metric], Given],
    segments: dict[int, str | None],
    n_parts: int,
    aggregate: str,
    weighted: bool,
) -> None:
    metrics, given = request
    ordered = aggregate not in ("mean", "geometric")
    given["aggregate"] = "mean" if ordered and engine == "stream" else aggregate  # which keeps no values
    if weighted and not ordered:
        given["weights"] = {user: user % 3 + 0.5 for user in range(ANCHOR + 1)}
    frames = recs_frame(recs), truth_frame(truth)
    if engine == "stream":
        reference = outcome(lambda: atkay.evaluate(*frames, metrics, **given))
        outcome_there = outcome(lambda: streamed(recs, truth, metrics, given))
    else:
        given = given | {"slices": segments}
        reference = outcome(lambda: atkay.evaluate(*frames, metrics, **given))
        with mock.patch("atkay.engines.files.files.parts_needed", return_value=n_parts):
            outcome_there = outcome(lambda: atkay.evaluate(*frames, metrics, memory="1MB", **given))
    if isinstance(reference, type) or isinstance(outcome_there, type):
        assert outcome_there == reference
        return
    assert outcome_there.keys() == reference.keys()
    for name, summary in reference.items():
        assert outcome_there[name] == pytest.approx(summary, rel=1e-9, abs=1e-9, nan_ok=True), name
