"""SVMlight and LETOR files, and predictions for their rows, as LightGBM and XGBoost write them."""

from __future__ import annotations

from math import log2
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import atkay
from atkay.errors import AtkayError, SourceError
from small_case import METRICS, QRELS, RUN, agrees, rows

LETOR = """\
2 qid:q1 1:0.5 2:1.0 46:0.007 #docid = d1 inc = 1 prob = 0.0246906
0 qid:q1 1:.5 2:1e-3 #docid = d2 inc = 0.0078 prob = 0.07

1 qid:q1 #docid = d3 inc = 1 prob = 1
# a comment of the file
1 qid:q2 3:1 #docid = d4 inc = 1 prob = 0.2
"""
PLAIN = "2 qid:7 1:3 2:3 136:0\n0 qid:7 1:2\n1 qid:7 1:1\n1 qid:8 1:0\n"
SCORES = [0.8, 0.9, 0.1, 0.7]
# The list of the first query is the second, the first and the third row: grades 0, 2 and 1.
NUMBERS = {
    "mrr": (1 / 2 + 1) / 2,
    "precision@2": (1 / 2 + 1 / 2) / 2,
    "ndcg@3": ((3 / log2(3) + 1 / log2(4)) / (3 / log2(2) + 1 / log2(3)) + 1) / 2,
}
MEMORY = pytest.mark.parametrize("memory", [None, "1GB"])


def written(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def numbers(recs: Any, truth: Any, **fields: Any) -> dict[str, float]:
    return dict(atkay.evaluate(recs, truth, METRICS, **fields).items())


@MEMORY
@pytest.mark.parametrize("name", ["S1.txt", "test.svmlight", "fold"])
def test_documents_that_comments_name(name: str, memory: str | None, tmp_path: Path) -> None:
    """Lists from anywhere else can be judged with the labels."""
    agrees(RUN, written(tmp_path / name, LETOR), memory=memory)


@MEMORY
@pytest.mark.parametrize("text", [LETOR, PLAIN, PLAIN.replace("\n", "\r\n"), PLAIN.replace(" ", "\t"), "\n" + PLAIN])
@pytest.mark.parametrize("end", ["\n", "\n\n", ""])
def test_predictions_in_a_file(text: str, end: str, memory: str | None, tmp_path: Path) -> None:
    predictions = written(tmp_path / "LightGBM_predict_result.txt", "\n".join(map(str, SCORES)) + end)
    assert numbers(predictions, written(tmp_path / "test.txt", text), memory=memory) == pytest.approx(NUMBERS)


@pytest.mark.parametrize("kind", [np.array, pd.Series, pl.Series, lambda x: pl.DataFrame({"pred": x})])
def test_predictions_in_memory(kind: Any, tmp_path: Path) -> None:
    assert numbers(kind(SCORES), written(tmp_path / "test.txt", PLAIN)) == pytest.approx(NUMBERS)
    frame = pl.DataFrame(rows(QRELS, "qid", "docno", "label"))
    assert numbers(kind(SCORES), frame) == pytest.approx(NUMBERS)
    assert numbers(kind(SCORES[::-1]), frame.reverse()) == pytest.approx(NUMBERS)


@MEMORY
@pytest.mark.parametrize("suffix", [".query", ".group"])
def test_sizes_of_queries_in_a_file_beside(suffix: str, memory: str | None, tmp_path: Path) -> None:
    """As LightGBM's example rank.test and XGBoost's mq2008.test have them."""
    data = written(tmp_path / "rank.test", PLAIN.replace(" qid:7", "").replace(" qid:8", ""))
    with pytest.raises(SourceError, match=r"has no qid: in its rows, and no 'rank.test.query' or 'rank.test.group'"):
        numbers(np.array(SCORES), data, memory=memory)
    sizes = written(tmp_path / f"rank.test{suffix}", "3\n1\n")
    assert numbers(np.array(SCORES), data, memory=memory) == pytest.approx(NUMBERS)
    for wrong, what in (("3\n2\n", "2 queries, 5 rows"), ("3\nx\n", "rows together"), ("4", "")):
        sizes.write_text(wrong)
        if what:
            with pytest.raises(SourceError, match=what):
                numbers(np.array(SCORES), data, memory=memory)
    assert atkay.evaluate(np.array(SCORES), data, "mrr").population.evaluated == 1


@MEMORY
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0.8\n0.9\n0.1\n", "holds 3 scores, but 'test.txt' has 4 rows. Predictions belong to the rows of the truth"),
        ("0.8\n0.9\n0.1\n0.7\n0.7\n", "holds 5 scores, but 'test.txt' has 4 rows"),
        ("0.8\n0.9\n\n0.1\n0.7\n", "line 3 of '.*' is '', not a number"),
        ("0.8\n0.9\n0.1\ninf\n", "recs"),
        ("0.8\n0.9\nnan\n0.7\n", "recs"),
        ("0.8\n0.9\n0.1\n" + "0.1\n" * 200 + "much\n", "line 204 of '.*' is 'much', not a number"),
    ],
)
def test_predictions_that_do_not_fit(text: str, message: str, memory: str | None, tmp_path: Path) -> None:
    with pytest.raises(AtkayError, match=message):
        numbers(written(tmp_path / "pred.txt", text), written(tmp_path / "test.txt", PLAIN), memory=memory)


@MEMORY
@pytest.mark.parametrize(
    ("text", "message"),
    [
        (PLAIN + "much qid:8 1:0\n", "line 5 of '.*' as SVMlight: 'much qid:8 1:0'"),
        (PLAIN + "1 1:0\n", "line 5 of '.*' as SVMlight: '1 1:0'"),
        ("\n" + LETOR + "1 qid:q2 1:0\n", "line 8 of '.*' as SVMlight: '1 qid:q2 1:0'"),
        (LETOR + "1 qid:q2 1:0 #docid = d4\n", "twice"),
    ],
)
def test_rows_that_are_none(text: str, message: str, memory: str | None, tmp_path: Path) -> None:
    with pytest.raises(AtkayError, match=message):
        numbers(RUN, written(tmp_path / "test.txt", text), memory=memory)


def test_labels_are_no_lists(tmp_path: Path) -> None:
    data = written(tmp_path / "test.txt", PLAIN)
    with pytest.raises(SourceError, match=r"is SVMlight, which holds labels, not ranked lists. Pass it as truth, and"):
        numbers(data, data)


def test_scores_alone_need_rows(tmp_path: Path) -> None:
    for truth in (QRELS, pl.DataFrame(rows(QRELS, "qid", "docno", "label")).drop("label")):
        with pytest.raises(SourceError, match="an array holds scores alone, one after the other, and"):
            numbers(np.array(SCORES), truth)
    with pytest.raises(SourceError, match=r"truth: '.*' holds a number per line and no header"):
        numbers(RUN, written(tmp_path / "pred.txt", "1\n2\n"))


@given(
    labels=st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4), st.floats(-1, 1)), min_size=1, max_size=12),
    gap=st.sampled_from([" ", "\t", "  "]),
    comment=st.sampled_from(["", " # text", " #docid = {}", "  # docid={} inc = 1", " #docid: {}"]),
    empty=st.sampled_from(["", "\n", "# 1 qid:9 1:1\n"]),
)
def test_any_file_agrees_with_its_table(
    tmp_path_factory: pytest.TempPathFactory, labels: list[tuple[int, int, float]], gap: str, comment: str, empty: str
) -> None:
    folder = tmp_path_factory.mktemp("svmlight")
    lines = [
        f"{gap.join([str(grade), f'qid:{query}', f'1:{score}'])}{comment.format(f'd{at}')}\n{empty}"
        for at, (query, grade, score) in enumerate(labels)
    ]
    data = written(folder / "data.txt", empty + "".join(lines))
    scores = written(folder / "pred.txt", "".join(f"{score!r}\n" for *_, score in labels))
    table = pl.DataFrame([{"user": q, "item": at, "label": g} for at, (q, g, _) in enumerate(labels)])
    lists = table.select("user", "item", score=pl.Series([score for *_, score in labels], dtype=pl.Float64))
    try:
        expected = numbers(lists, table)
    except AtkayError:  # nothing is relevant
        return
    assert numbers(scores, data) == expected
