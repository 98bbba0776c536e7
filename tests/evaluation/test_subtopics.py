"""Truth with a row for each subtopic of an item: what is read, and what other metrics make of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import atkay
from atkay import Columns
from atkay.errors import DuplicateError, SideError
from atkay.inputs.coding.align import subtopic_codes

ROWS = [
    ("1", 1, "d1", 2), ("1", 2, "d1", 0), ("1", 1, "d2", 1), ("1", 3, "d3", 1), ("1", 3, "d2", 0), ("1", 2, "d4", -1),
    ("2", 1, "d1", 1), ("2", 2, "d3", 3),
]  # fmt: skip
QRELS = "".join(f"{query} {topic} {document} {grade}\n" for query, topic, document, grade in ROWS)
TRUTH = pl.DataFrame(ROWS, schema=["user", "subtopic", "item", "grade"], orient="row")
LISTS = {"1": ["d2", "d1", "d4", "d3"], "2": ["d9", "d3", "d1"]}
BY_SUBTOPIC = ["subtopic_recall@2", "p_ia@2", "ap_ia"]


def values(truth: Any, metrics: Any = BY_SUBTOPIC, **given: Any) -> list[list[float]]:
    """A row per user."""
    found: list[list[float]] = atkay.evaluate(LISTS, truth, metrics, **given).query_values.tolist()
    return found


def test_an_item_has_the_subtopics_for_which_it_is_relevant() -> None:
    # User 1: d1 is about 1 (not 2), d2 about 1 (not 3), d3 about 3, so S = 2. User 2: d1 about 1, d3 about 2.
    expected = [
        [1 / 2, 2 / 2 / 2, ((1 + 2 / 2) / 2 + 1 / 4) / 2],
        [1 / 2, 1 / 2 / 2, (1 / 3 + 1 / 2) / 2],
    ]
    assert values(TRUTH) == [pytest.approx(row) for row in expected]


def test_min_relevance_is_about_the_row() -> None:
    # From grade 2 on: d1 is about 1 alone, and d3 of user 2 about 2.
    assert values(TRUTH, min_relevance=2) == [[1, 1 / 2, 1 / 2], [1, 1 / 2, 1 / 2]]


def test_other_metrics_count_an_item_once_with_its_highest_grade() -> None:
    best = TRUTH.group_by("user", "item").agg(pl.col("grade").max())
    metrics = ["map", "ndcg(gain=linear)@3", "recall@2", "bpref", "err@3"]
    for given in ({}, {"negative": "unjudged"}, {"min_relevance": 2.0}, {"unjudged": "drop"}):
        of_rows, of_best = (atkay.evaluate(LISTS, truth, metrics, **given) for truth in (TRUTH, best))
        assert dict(of_rows) == dict(of_best)
        assert of_rows.population == of_best.population
        assert of_rows.fingerprint != of_best.fingerprint


def test_the_second_field_of_qrels_is_read_where_subtopics_are_needed(tmp_path: Path) -> None:
    path = tmp_path / "diversity.qrels"
    path.write_text(QRELS)
    result = atkay.evaluate(LISTS, path, BY_SUBTOPIC)
    assert result.query_values.tolist() == values(TRUTH)
    assert result.fingerprint == atkay.evaluate(LISTS, TRUTH, BY_SUBTOPIC).fingerprint
    assert "subtopic 'iteration'" in " ".join(result.readings)
    named = {"truth": Columns(subtopic="iteration")}
    assert values(path, "map", columns=named) == values(TRUTH, "map")
    with pytest.raises(DuplicateError, match=r"pass columns={'truth': Columns\(subtopic='iteration'\)}"):
        values(path, "map")
    # Features are what the metric reads if there are any, so that the field is left alone.
    with pytest.raises(DuplicateError):
        values(path, features={"d1": ["a"]})


@pytest.mark.parametrize("field", ["0", "Q0"])
def test_a_second_field_that_says_nothing_is_no_subtopic(tmp_path: Path, field: str) -> None:
    path = tmp_path / "plain.qrels"
    path.write_text(f"1 {field} d1 1\n1 {field} d3 1\n2 {field} d1 1\n")
    for given in ({}, {"memory": "1MB"}):
        with pytest.raises(SideError, match="needs subtopics"):
            values(path, **given)


def test_subtopics_of_the_truth_come_before_features() -> None:
    features = {"d1": ["a"], "d2": ["a"], "d3": ["b"]}
    metrics = ["subtopic_recall@2", "subtopic_recall(subtopics=features)@2"]
    truth = TRUTH.filter(pl.col("grade") > 0)
    # User 2 has found d3: one of the subtopics 1 and 2, and one of the categories a and b; user 1 a alone, and 1 of 2.
    assert values(truth.with_columns(subtopic=pl.col("item")), metrics, features=features) == [
        [2 / 3, 1 / 2],
        [1 / 2, 1 / 2],
    ]


def test_repeated_rows() -> None:
    twice = pl.concat([TRUTH, TRUTH[:1].with_columns(grade=pl.lit(0, pl.Int64))])
    with pytest.raises(DuplicateError, match="item 'd1' appears twice in the truth of user '1'"):
        values(twice)
    assert values(twice, duplicates="first") == values(TRUTH)
    # The mean of the grades 2 and 0 of d1 and subtopic 1 is 1, so from 2 on nothing is relevant to user 1.
    assert values(twice, raters="mean") == values(TRUTH)
    assert values(twice, raters="mean", min_relevance=2) == [[1, 1 / 2, 1 / 2]]


@pytest.mark.parametrize("memory", ["1KB", "1MB"])
def test_files(tmp_path: Path, memory: str) -> None:
    TRUTH.write_csv(tmp_path / "a.csv")
    TRUTH.write_parquet(tmp_path / "a.parquet")
    (tmp_path / "a.qrels").write_text(QRELS)
    for name in ("a.csv", "a.parquet", "a.qrels"):
        whole = atkay.evaluate(LISTS, tmp_path / name, BY_SUBTOPIC)
        parts = atkay.evaluate(LISTS, tmp_path / name, BY_SUBTOPIC, memory=memory)
        assert parts.query_values.tolist() == whole.query_values.tolist() == values(TRUTH)
        assert parts.fingerprint == whole.fingerprint


@pytest.mark.filterwarnings("ignore::FutureWarning:pyspark")
@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_spark(spark: Any) -> None:
    rows = [(user, item, float(-rank)) for user, items in LISTS.items() for rank, item in enumerate(items)]
    recs = spark.createDataFrame(pl.DataFrame(rows, schema=["user", "item", "score"], orient="row").to_arrow())
    for truth in (TRUTH, spark.createDataFrame(TRUTH.to_arrow())):
        assert dict(atkay.evaluate(recs, truth, BY_SUBTOPIC, ties="item")) == dict(
            atkay.evaluate(LISTS, TRUTH, BY_SUBTOPIC)
        )


@pytest.mark.parametrize(
    ("ids", "codes"),
    [
        (["10", "9", "2", "9"], [2, 1, 0, 1]),  # text of integers in their order
        (["10", "b", "9"], [0, 2, 1]),  # other text in its own
        (["010", "9"], [0, 1]),
        ([10, -9, 2], [2, 0, 1]),
    ],
)
def test_the_order_of_subtopics(ids: list[Any], codes: list[int]) -> None:
    found, numbers = subtopic_codes(pl.Series("subtopic", ids))
    assert found.to_list() == codes
    assert len(numbers) == len(set(ids))


def test_integers_and_their_text_are_the_same_subtopics() -> None:
    of_text, of_integers = (subtopic_codes(pl.Series("subtopic", ids))[1] for ids in (["10", "9"], [10, 9]))
    assert of_text.tolist() == of_integers.tolist() == [9, 10]


def test_a_missing_subtopic() -> None:
    gap = TRUTH.with_columns(subtopic=pl.when(pl.col("item") != "d3").then("subtopic"))
    with pytest.raises(atkay.errors.IdError, match=r"truth: 'subtopic' is missing in row 3 .* one of 2 such rows"):
        values(gap)


def test_arrays_have_no_subtopics() -> None:
    with pytest.raises(SideError, match=r"p_ia@2 needs features=: .* Subtopics of the truth are for evaluate"):
        atkay.Stream("p_ia@2", n_items=3)
    stream = atkay.Stream("p_ia@2", n_items=3, features={0: ["a"], 1: ["a", "b"]})
    stream.update(np.array([[0, 2]]), np.array([[0, 1]]))
    assert stream.compute()["p_ia@2"] == 1 / 2 / 2
