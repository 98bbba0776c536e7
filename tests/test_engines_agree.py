"""Every registered metric, with every word of its conventions, through every engine: the same numbers to 1e-12."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import polars as pl
import pytest

import atkay
from atkay.parts import judge_part
from variants import every_variant

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
            "baseline": {user: rng.permutation(ITEMS)[:5].tolist() for user in range(USERS)},
        }


DATA = Data()
TIES = "item"  # rows have no order in Spark
Engine = Callable[[Path], atkay.Result]


def files(folder: Path) -> atkay.Result:
    """Rows in no order, in three files, within a memory that makes several parts."""
    shuffled = DATA.recs.sample(fraction=1, shuffle=True, seed=1)
    (folder / "recs").mkdir()
    for part in range(3):
        shuffled[part::3].write_parquet(folder / "recs" / f"{part}.parquet")
    DATA.truth.write_parquet(folder / "truth.parquet")
    recs, truth = str(folder / "recs" / "*.parquet"), folder / "truth.parquet"
    with mock.patch("atkay.engines.files.judge_part", side_effect=judge_part) as judged:
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
def session() -> Iterator[Any]:
    pytest.importorskip("pyspark", reason="PySpark is not installed")
    from atkay.engines.spark import check_java, local_session

    try:
        check_java()
    except ImportError as error:
        pytest.skip(str(error))
    spark = local_session(cores=2)
    yield spark
    spark.stop()


@pytest.fixture(scope="module")
def memory() -> atkay.Result:
    return atkay.evaluate(DATA.recs, DATA.truth, METRICS, ties=TIES, **DATA.side)


def assert_agrees(found: atkay.Result, memory: atkay.Result) -> None:
    assert list(found) == list(memory)
    for name, summary in memory.summaries.items():
        assert found.summaries[name] == pytest.approx(summary, rel=1e-12, abs=1e-12, nan_ok=True), name


def test_every_metric_is_there(memory: atkay.Result) -> None:
    assert {metric.name for metric in memory.metrics} == set(atkay.metrics())
    assert sum(np.isfinite(value) for value in memory.values()) > 0.95 * len(memory)


@pytest.mark.parametrize("engine", [files, stream])
def test_engine(engine: Engine, tmp_path: Path, memory: atkay.Result) -> None:
    assert_agrees(engine(tmp_path), memory)


@pytest.mark.filterwarnings("ignore::FutureWarning:pyspark")
@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_spark(session: Any, memory: atkay.Result) -> None:
    recs, truth = (session.createDataFrame(frame.to_arrow()) for frame in (DATA.recs, DATA.truth))
    assert_agrees(atkay.evaluate(recs, truth, METRICS, ties=TIES, **DATA.side), memory)
