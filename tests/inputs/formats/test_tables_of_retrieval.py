"""Tables that retrieval libraries write: BEIR's header, PyTerrier's frames, ranx's frames."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import polars as pl
import pytest

import atkay
from atkay.errors import ColumnError, OrderError, SwappedWarning
from small_case import QRELS, RUN, agrees, rows

BEIR = ("query-id", "corpus-id", "score")


def test_beir_the_wrong_way_round() -> None:
    qrels, run = (pl.DataFrame(rows(lists, *BEIR)) for lists in (QRELS, RUN))
    with pytest.warns(SwappedWarning, match="Are recs and truth swapped"):
        atkay.evaluate(qrels, run, "mrr")
    with pytest.warns(SwappedWarning, match="Are recs and truth swapped"):  # both of whole numbers: nothing tells
        atkay.evaluate(run.with_columns((pl.col("score") * 10).round()), qrels, "mrr")


def pyterrier(lists: dict[str, dict[str, float]]) -> pd.DataFrame:
    """What ``bm25(topics)`` gives: PyTerrier's own numbers of documents, and ranks from 0."""
    frame = pd.DataFrame(rows(lists, "qid", "docno", "score"))
    frame.insert(1, "docid", [7, 3, 8, 1, 7])
    frame.insert(3, "rank", frame.groupby("qid").cumcount())
    return frame.assign(query="the text of " + frame["qid"])


def test_pyterrier() -> None:
    run = pyterrier(RUN)
    qrels = pd.DataFrame(rows(QRELS, "qid", "docno", "label")).assign(iteration="0")
    result = agrees(run, qrels)
    assert result.columns["recs"] == {"user": "qid", "item": "docno", "rank": "rank", "score": "score"}
    assert "recs ordered by column 'rank', numbered from 0" in result.readings
    agrees(run.sample(frac=1, random_state=0), qrels)
    agrees(run.drop(columns="rank"), qrels)
    agrees(run.drop(columns="score"), qrels)


def test_ranks_of_which_only_some_start_at_0() -> None:
    """The first document of q2 was lost: its list is not 0, 1, ..."""
    lost = pyterrier(RUN).drop(index=3)
    with pytest.raises(OrderError, match=r"'rank' of user 'q2' is 1; the ranks of a list of 1 must be 0 to 0"):
        atkay.evaluate(lost, QRELS, "mrr")


def test_a_query_without_an_id_is_the_query() -> None:
    agrees(pl.DataFrame(rows(RUN, "query", "docid", "score")), pl.DataFrame(rows(QRELS, "query", "docid", "rating")))
    with pytest.raises(ColumnError, match="'user_id', 'query' could each be the user"):
        atkay.evaluate(
            pl.DataFrame(rows(RUN, "query", "docid", "score")).select(pl.lit(1).alias("user_id"), pl.all()), QRELS
        )


def test_ranx_frames(tmp_path: Path) -> None:
    for name, lists in (("qrels.parquet", QRELS), ("run.parquet", RUN)):
        pl.DataFrame(rows(lists, "q_id", "doc_id", "score")).write_parquet(tmp_path / name)
    agrees(tmp_path / "run.parquet", tmp_path / "qrels.parquet")
