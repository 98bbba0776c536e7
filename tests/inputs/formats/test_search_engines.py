"""Elasticsearch, OpenSearch and Quepid: responses, requests of _rank_eval, judgment lists and exports."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import atkay
from atkay.errors import AtkayError, IdError, SourceError
from small_case import METRICS, QRELS, RUN, agrees


def search(scores: dict[str, float | None], index: str = "docs", **more: Any) -> dict[str, Any]:
    """A response of ``_search``."""
    hits = [{"_index": index, "_id": name, "_score": score, "_source": {"t": 1}} for name, score in scores.items()]
    top = max((score for score in scores.values() if score is not None), default=None)
    return {
        "took": 5,
        "timed_out": False,
        "_shards": {"total": 1, "successful": 1, "skipped": 0, "failed": 0},
        "hits": {"total": {"value": len(hits), "relation": "eq"}, "max_score": top, "hits": hits},
    } | more


RESPONSES = {query: search(dict(scores)) for query, scores in RUN.items()}
MSEARCH = {"took": 9, "responses": [response | {"status": 200} for response in RESPONSES.values()]}
RANK_EVAL = {
    "metric_score": 0.5,
    "details": {
        query: {
            "metric_score": 0.5,
            "unrated_docs": [{"_index": "docs", "_id": name} for name in scores if name not in QRELS[query]],
            "hits": [
                {"hit": {"_index": "docs", "_id": name, "_score": score}, "rating": QRELS[query].get(name)}
                for name, score in scores.items()
            ],
            "metric_details": {"precision": {"relevant_docs_retrieved": 1, "docs_retrieved": 2}},
        }
        for query, scores in RUN.items()
    },
    "failures": {},
}
REQUEST = {
    "requests": [
        {
            "id": query,
            "request": {"query": {"match": {"t": "text"}}},
            "ratings": [{"_index": "docs", "_id": name, "rating": grade} for name, grade in grades.items()],
        }
        for query, grades in QRELS.items()
    ],
    "metric": {"precision": {"k": 2, "relevant_rating_threshold": 1}},
}
OPENSEARCH = {
    "name": "Imported Judgments",
    "type": "IMPORT_JUDGMENT",
    "judgmentRatings": [
        {"query": query, "ratings": [{"docId": name, "rating": f"{grade}.000"} for name, grade in grades.items()]}
        for query, grades in QRELS.items()
    ],
}
STORED = search({}) | {"hits": {"hits": [{"_id": "5f45", "_source": OPENSEARCH | {"status": "COMPLETED"}}]}}
QUEPID = {"queries": [{"query": query, "ratings": grades | {"d9": None}} for query, grades in QRELS.items()]}
QUEPID_CASE = {
    "case_name": "docs",
    "queries": [{"arranged_at": 0, "query_text": query, "ratings": grades} for query, grades in QRELS.items()]
    + [{"arranged_at": 1, "query_text": "nobody rated it"}],
}
RATED_RANKING = {
    "id_field": "id",
    "index": "docs",
    "template": "template.json",
    "queries": [
        {
            "placeholders": {"$query": query},
            "relevant_documents": {
                str(grade): [name for name in grades if grades[name] == grade] for grade in sorted({*grades.values()})
            },
        }
        for query, grades in QRELS.items()
    ],
}


def changed(document: Any, change: Callable[[Any], Any]) -> Any:
    copy = json.loads(json.dumps(document))
    change(copy)
    return copy


def given_as(document: object, form: str, tmp_path: Path) -> Any:
    if form == "object":
        return document
    path = tmp_path / f"{abs(hash(str(document)))}.json"
    path.write_text(json.dumps(document, indent=2 if form == "indented" else None))
    return path


FORMS = pytest.mark.parametrize("form", ["object", "file", "indented"])


@FORMS
@pytest.mark.parametrize("memory", [None, "1GB"])
@pytest.mark.parametrize("lists", [RESPONSES, RANK_EVAL], ids=["by name", "_rank_eval"])
def test_responses(lists: Any, form: str, memory: str | None, tmp_path: Path) -> None:
    agrees(given_as(lists, form, tmp_path), memory=memory)


@FORMS
@pytest.mark.parametrize(
    "truth",
    [REQUEST, OPENSEARCH, STORED, QUEPID, QUEPID_CASE, RATED_RANKING],
    ids=["_rank_eval", "OpenSearch", "OpenSearch stored", "Quepid", "Quepid case", "RRE"],
)
def test_judgments(truth: Any, form: str, tmp_path: Path) -> None:
    document = given_as(truth, form, tmp_path)
    agrees(truth=document)
    with pytest.raises(SourceError, match=r"which holds judgments, not ranked lists. Are recs and truth swapped\?"):
        atkay.evaluate(document, QRELS, "mrr")


@FORMS
def test_responses_whose_queries_have_no_names(form: str, tmp_path: Path) -> None:
    """Queries are numbered, as in lists: q1 is 0 and q2 is 1."""
    truth = [["d1", "d3"], ["d4"]]
    for lists in (MSEARCH, list(RESPONSES.values())):
        assert atkay.evaluate(given_as(lists, form, tmp_path), truth, "mrr")["mrr"] == (1 / 2 + 1) / 2
    assert atkay.evaluate(given_as(RESPONSES["q1"], form, tmp_path), truth[:1], "mrr")["mrr"] == 1 / 2
    agrees(dict(zip(RESPONSES, RESPONSES.values(), strict=True)))
    with pytest.raises(SourceError, match="recs has 2 rows and truth 1"):
        atkay.evaluate(given_as(MSEARCH, form, tmp_path), truth[:1], "mrr")


def test_the_order_of_hits_counts() -> None:
    """Sorted by a field hits have no score, and rescored ones may have one that rises."""
    for scores in ([None, None, None], [0.1, 0.9, 0.5]):
        agrees(RESPONSES | {"q1": search(dict(zip(RUN["q1"], scores, strict=True)))})


@pytest.mark.parametrize(
    ("document", "error", "message"),
    [
        (
            changed(MSEARCH, lambda d: d["responses"].append({"error": {}, "status": 404})),
            SourceError,
            "query 2 failed",
        ),
        (RESPONSES | {"q2": search({"d4": 1}, timed_out=True)}, SourceError, "query 'q2' failed, timed out"),
        (RESPONSES | {"q2": search({}, _shards={"failed": 1})}, SourceError, "query 'q2' failed, .* Repeat"),
        (changed(RANK_EVAL, lambda d: d["failures"].update(q2={})), SourceError, "query 'q2' failed"),
        (changed(RESPONSES, lambda d: d["q1"]["hits"]["hits"][0].pop("_id")), SourceError, "lacks a field, .*_id"),
        (
            RESPONSES | {"q2": search({"d1": 1.0}, index="others")},
            IdError,
            "document 'd1' in index 'docs' and in index 'others': two documents of the same _id",
        ),
    ],
)
def test_responses_that_are_not_whole(document: Any, error: type[AtkayError], message: str) -> None:
    with pytest.raises(error, match=message):
        atkay.evaluate(document, QRELS, METRICS)


def test_another_index_in_the_truth() -> None:
    """Indexes are rebuilt under new names; only within one table can an _id mean two documents."""
    agrees({query: search(dict(scores), index="docs-v2") for query, scores in RUN.items()}, REQUEST)


@pytest.mark.parametrize(
    ("document", "error", "message"),
    [
        (RANK_EVAL, SourceError, "a response of _rank_eval, which holds ranked lists, not judgments"),
        (RESPONSES, SourceError, "a search response, which holds ranked lists, not judgments"),
        (OPENSEARCH | {"status": "PROCESSING"}, SourceError, "have the status 'PROCESSING'"),
        (
            changed(STORED, lambda d: d["hits"]["hits"].append(d["hits"]["hits"][0])),
            SourceError,
            "2 lists of judgments",
        ),
        (changed(REQUEST, lambda d: d["requests"][1].update(id="q1")), IdError, "the query 'q1' twice"),
        (changed(REQUEST, lambda d: d["requests"][1].pop("id")), SourceError, "lacks a field, .*'id'"),
        (
            changed(REQUEST, lambda d: d["requests"][0]["ratings"].append({"_index": "b", "_id": "d1", "rating": 0})),
            IdError,
            "document 'd1' in index 'docs' and in index 'b'",
        ),
        (changed(QUEPID, lambda d: d["queries"][0]["ratings"].update(d1="good")), AtkayError, "'good'"),
    ],
)
def test_judgments_that_are_none(document: Any, error: type[AtkayError], message: str) -> None:
    with pytest.raises(error, match=message):
        atkay.evaluate(RUN, document, METRICS)


def test_ratings_of_several_types() -> None:
    """OpenSearch takes 1, "0.5" and 0.75."""
    mixed = changed(OPENSEARCH, lambda d: d["judgmentRatings"][0]["ratings"][0].update(rating=2))
    agrees(truth=changed(mixed, lambda d: d["judgmentRatings"][0]["ratings"][1].update(rating=0.0)))


def test_a_book_of_quepid_has_a_column_for_each_rater(tmp_path: Path) -> None:
    book = tmp_path / "book_1_export.csv"
    book.write_text("query,docid,Ann Lee,bob@shop.com\nq1,d1,2.0,\nq1,d2,1.0,3.0\nq2,d1,,\n")
    with pytest.raises(AtkayError, match=r"item 'd2' appears twice in the truth of .*raters='mean'"):
        atkay.evaluate({"q1": ["d1", "d2"]}, book, "dcg(gain=linear)")
    # q1 has d1 with 2 and d2 with (1 + 3) / 2 or 1; nobody rated q2.
    rules = {2: atkay.Protocol(raters="mean"), 1: atkay.Protocol(raters="majority")}
    for second, protocol in rules.items():
        result = atkay.evaluate({"q1": ["d2"]}, book, "dcg(gain=linear)", protocol=protocol)
        assert result["dcg(gain=linear)"] == second
        assert result.population.relevant == 2


def test_quepid_tables(tmp_path: Path) -> None:
    """A query that nobody rated stands alone in its line, a document that nobody rated has no number."""
    lines = [f"{query},{name},{grade}" for query, grades in QRELS.items() for name, grade in grades.items()]
    basic = tmp_path / "case_1_basic.csv"
    basic.write_text("\n".join(["query,docid,rating", *lines, "nobody rated it", "q1,d9,"]) + "\n")
    agrees(truth=basic)
    agrees(truth=basic, memory="1GB")
    numbered = {"q1": 1, "q2": 2}
    ltr = "".join(
        f"\n{grade} qid:{numbered[query]} # {name} text of the query\n"
        for query, grades in QRELS.items()
        for name, grade in grades.items()
    )
    (tmp_path / "ltr.txt").write_text(ltr)
    recs = {numbered[query]: scores for query, scores in RUN.items()}
    assert dict(atkay.evaluate(recs, tmp_path / "ltr.txt", METRICS).items()) == pytest.approx(
        dict(agrees().items()), abs=1e-15
    )


def test_the_response_of_the_python_client(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is no dict, and keeps one."""
    module = ModuleType("elastic_transport")
    monkeypatch.setitem(sys.modules, "elastic_transport", module)
    response = type("ObjectApiResponse", (), {"__module__": "elastic_transport"})()
    response.body = RESPONSES["q1"]
    assert atkay.evaluate(response, [["d1", "d3"]], "mrr")["mrr"] == 1 / 2
    # Of the list of q1 the second document is relevant, of a list of one response, too.
    assert atkay.evaluate([response], [["d1", "d3"]], "mrr")["mrr"] == 1 / 2
    assert atkay.evaluate({"q1": response}, {"q1": ["d1", "d3"]}, "mrr")["mrr"] == 1 / 2


def test_a_response_that_failed_comes_first() -> None:
    failed = {"error": {"type": "index_not_found_exception", "reason": "no such index"}, "status": 404}
    for recs in ({"q1": failed, "q2": RESPONSES["q1"]}, [failed, RESPONSES["q1"]]):
        with pytest.raises(SourceError, match=r"the search for query .* failed, timed out or left shards out"):
            atkay.evaluate(recs, {"q1": ["d1"]}, "mrr")
