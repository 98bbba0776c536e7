"""A data set of BEIR as a folder: one split is the truth, the corpus is the catalog."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import atkay
from atkay.errors import SourceError
from small_case import QRELS, RUN, agrees, rows


@pytest.fixture
def data_set(tmp_path: Path) -> Path:
    folder = tmp_path / "scifact"
    (folder / "qrels").mkdir(parents=True)
    pl.DataFrame(rows(QRELS, "query-id", "corpus-id", "score")).write_csv(folder / "qrels" / "test.tsv", separator="\t")
    (folder / "corpus.jsonl").write_text("".join(f'{{"_id": "d{n}", "text": "t"}}\n' for n in range(1, 6)))
    (folder / "queries.jsonl").write_text('{"_id": "q1", "text": "t"}\n{"_id": "q2", "text": "t"}\n')
    return folder


@pytest.mark.parametrize("memory", [None, "1GB"])
def test_one_split(data_set: Path, memory: str | None) -> None:
    agrees(RUN, data_set, memory=memory)
    agrees(RUN, data_set / "qrels", memory=memory)
    assert atkay.evaluate(RUN, data_set, "item_coverage", catalog=data_set)["item_coverage"] == 4 / 5


def test_several_splits(data_set: Path) -> None:
    """Together they would be another truth than any of them."""
    (data_set / "qrels" / "train.tsv").write_text("query-id\tcorpus-id\tscore\nq3\td1\t1\n")
    for truth in (data_set, data_set / "qrels"):
        with pytest.raises(
            SourceError, match=r"the splits 'test.tsv', 'train.tsv'. Pass one of them, such as '.*test.tsv', or"
        ):
            atkay.evaluate(RUN, truth, "mrr")
    agrees(RUN, data_set / "qrels" / "test.tsv")
    together = atkay.evaluate(RUN, data_set / "qrels" / "*", "mrr")
    assert together["mrr"] == (1 / 2 + 1 + 0) / 3


def test_a_data_set_is_no_run(data_set: Path) -> None:
    with pytest.raises(SourceError, match=r"is a data set of BEIR, .* Pass its folder as truth, and a run as recs"):
        atkay.evaluate(data_set, data_set, "mrr")
