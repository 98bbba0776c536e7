"""Files as their producers write them, all of one case: the same numbers, and the same fingerprint.

Each is as small as the format allows. The case and its numbers stand in ``small_case``; where a format has no names of
queries or documents, the case has those that the format gives it.
"""

from __future__ import annotations

from math import log2
from pathlib import Path
from typing import Any

import pytest

import atkay
from small_case import METRICS, NUMBERS, QRELS, RUN, agrees

FOLDER = Path(__file__).parent
RECS = """
beir/run.tsv
elasticsearch/rank_eval_response.json
elasticsearch/responses_by_query.json
json/lists.json
json/mteb_predictions.json
json/run.json
json/run.jsonl
json/run_indented.json
json/run_records.json
quepid/snapshot.csv
recommenders/kaggle.csv
recommenders/lists.jsonl
recommenders/spark_als.parquet
text/bars.txt
text/bom.csv
text/commas.tsv
text/excel.csv
text/latin_1.csv
text/no_header.csv
text/run.csv.bz2
text/run.csv.gz
text/run.csv.xz
text/run.csv.zst
text/semicolons.csv
text/utf_16.csv
trec/run.txt
""".split()
TRUTH = """
beir/scifact
beir/scifact/qrels/test.tsv
elasticsearch/rank_eval_request.json
json/qrels.json
json/qrels_columns.json
opensearch/judgments.json
opensearch/judgments_stored.json
quepid/basic.csv
quepid/case.json
quepid/export.json
quepid/rre.json
quepid/trec.txt
recommenders/ratings.dat
recommenders/ratings.inter
svmlight/letor.txt
trec/anserini_ciral.tsv
trec/anserini_covid4.txt
trec/anserini_cw09.txt
trec/anserini_msmarco.tsv
trec/qrels.txt
""".split()
OTHERS = """
beir/scifact/corpus.jsonl
beir/scifact/queries.jsonl
elasticsearch/msearch.json
recommenders/ml.item
recommenders/movies.dat
recommenders/u.data
svmlight/LightGBM_predict_result.txt
svmlight/mslr.txt
svmlight/rank.test
svmlight/rank.test.query
""".split()
"""Files with tests of their own, below."""
MEMORY = pytest.mark.parametrize("memory", [None, "1GB"])


def test_every_file_is_named() -> None:
    tests = FOLDER.parents[1]
    trec = "".join((tests / name).read_text() for name in ("inputs/test_trec.py", "evaluation/test_negative.py"))
    files = {path for path in FOLDER.rglob("*") if path.is_file() and path.suffix not in (".py", ".pyc")}
    elsewhere = {path for path in files if path.parent.name == "trec" and f'"{path.name}"' in trec}
    named = {FOLDER / name for name in (*RECS, *TRUTH, *OTHERS)}
    assert files - elsewhere - named == set()
    assert {path for path in named if not path.exists()} == set()


@MEMORY
@pytest.mark.parametrize("name", RECS)
def test_lists(name: str, memory: str | None) -> None:
    agrees(FOLDER / name, QRELS, memory=memory)


@MEMORY
@pytest.mark.parametrize("name", TRUTH)
def test_truth(name: str, memory: str | None) -> None:
    agrees(RUN, FOLDER / name, memory=memory)


def test_files_on_both_sides() -> None:
    agrees(FOLDER / "json" / "run.json", FOLDER / "json" / "qrels.json")
    agrees(FOLDER / "trec" / "run.txt", FOLDER / "trec" / "qrels.txt")
    agrees(FOLDER / "beir" / "run.tsv", FOLDER / "beir" / "scifact")
    agrees(FOLDER / "elasticsearch" / "responses_by_query.json", FOLDER / "elasticsearch" / "rank_eval_request.json")
    agrees(FOLDER / "quepid" / "snapshot.csv", FOLDER / "quepid" / "basic.csv")


def test_the_corpus_is_the_catalog() -> None:
    """d1, d2, d4 and d5 of five documents are listed."""
    for catalog in (FOLDER / "beir" / "scifact", FOLDER / "beir" / "scifact" / "corpus.jsonl"):
        assert atkay.evaluate(RUN, QRELS, "item_coverage", catalog=catalog)["item_coverage"] == 4 / 5


def numbers(recs: Any, truth: Any, **fields: Any) -> dict[str, float]:
    return dict(atkay.evaluate(recs, truth, METRICS, **fields).items())


def test_queries_that_are_numbered() -> None:
    """Responses of _msearch do not name their queries: these are 0 and 1."""
    truth = dict(enumerate(QRELS.values()))
    assert numbers(FOLDER / "elasticsearch" / "msearch.json", truth) == pytest.approx(NUMBERS, abs=1e-12)


def test_ids_that_are_numbers() -> None:
    """MovieLens has numbers alone: q1 is 1, d1 is 1."""
    recs = {int(query[1:]): {int(name[1:]): score for name, score in scores.items()} for query, scores in RUN.items()}
    truth = {int(query[1:]): {int(name[1:]): grade for name, grade in row.items()} for query, row in QRELS.items()}
    result = atkay.evaluate(recs, FOLDER / "recommenders" / "u.data", METRICS)
    assert dict(result.items()) == pytest.approx(NUMBERS, abs=1e-12)
    assert result.fingerprint == atkay.evaluate(recs, truth, METRICS).fingerprint


@MEMORY
@pytest.mark.parametrize("name", ["letor.txt", "mslr.txt", "rank.test"])
def test_predictions(name: str, memory: str | None) -> None:
    """A number per row: the first query lists its second, first and third row, of grades 0, 2 and 1."""
    folder = FOLDER / "svmlight"
    found = numbers(folder / "LightGBM_predict_result.txt", folder / name, memory=memory)
    ndcg = ((3 / log2(3) + 1 / log2(4)) / (3 / log2(2) + 1 / log2(3)) + 1) / 2
    assert found == pytest.approx(NUMBERS | {"ndcg@3": ndcg}, abs=1e-12)


@pytest.mark.parametrize("name", ["movies.dat", "ml.item"])
def test_categories(name: str) -> None:
    """q1 sees d2, d1, d5: Comedy, Animation and Drama; q2 sees d4, d1: Drama, Animation and Comedy."""
    result = atkay.evaluate(RUN, QRELS, "category_count@3", features=FOLDER / "recommenders" / name)
    assert result["category_count@3"] == 3
