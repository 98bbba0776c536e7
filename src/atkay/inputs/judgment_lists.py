"""Judgment lists: what Elasticsearch, OpenSearch and Quepid keep as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from atkay.errors import IdError, SourceError, listing, shown
from atkay.inputs.search_responses import Nested, document_ids


def judgment_lists(given: Any, what: str, table: str) -> Nested | None:
    """The grades of a ``_rank_eval`` request, of OpenSearch's judgments, or of an export of Quepid's."""
    if not isinstance(given, Mapping):
        return None
    given = _stored(given, what, table)
    status = given.get("status", "COMPLETED")
    queries: list[tuple[Any, Any]]
    if _entries(given.get("requests"), "ratings"):
        kind = "a request of _rank_eval"
        document_ids([one for query in given["requests"] for one in query["ratings"]], what, table)
        queries = [
            (query["id"], [(one["_id"], one["rating"]) for one in query["ratings"]]) for query in given["requests"]
        ]
    elif _entries(given.get("judgmentRatings"), "ratings"):
        kind = "a list of OpenSearch judgments"
        if status != "COMPLETED":
            raise SourceError(
                f"{what}: the judgments have the status {shown(status)}",
                advice="Wait until it is COMPLETED.",
                table=table,
            )
        queries = [
            (query["query"], [(one["docId"], one["rating"]) for one in query["ratings"]])
            for query in given["judgmentRatings"]
        ]
    elif _entries(given.get("queries"), "relevant_documents"):
        kind = "an export of Quepid"
        queries = [
            (query["placeholders"]["$query"], [(item, grade) for grade, items in grades.items() for item in items])
            for query in given["queries"]
            for grades in [query["relevant_documents"]]
        ]
    elif _entries(given.get("queries"), "ratings"):
        kind = "an export of Quepid"
        queries = [
            (query["query"] if "query" in query else query["query_text"], list(query.get("ratings", {}).items()))
            for query in given["queries"]
        ]
    else:
        return None
    names = [name for name, _ in queries]
    twice = [name for name in dict.fromkeys(names) if names.count(name) > 1] if len(set(names)) < len(names) else []
    if twice:
        raise IdError(f"{what} has the query {shown(twice[0])} twice", advice="Join both.", table=table)
    # Quepid writes documents that nobody has rated yet without a number: they are not judged.
    rated = {name: [(item, grade) for item, grade in items if grade not in (None, "")] for name, items in queries}
    return Nested(kind, True, rated)


def _entries(given: Any, key: str) -> bool:
    """Whether it is a list of queries, of which the first says what ``key`` says."""
    return isinstance(given, list) and any(isinstance(one, Mapping) and key in one for one in given)


def _stored(given: Mapping[Any, Any], what: str, table: str) -> Mapping[Any, Any]:
    """The judgments within the response of OpenSearch that brings them."""
    hits = given.get("hits")
    hits = hits.get("hits") if isinstance(hits, Mapping) else None
    if not _entries(hits, "_source") or not hits or "judgmentRatings" not in hits[0]["_source"]:
        return given
    if len(hits) > 1:
        names = [hit["_source"].get("name", hit.get("_id")) for hit in hits]
        raise SourceError(
            f"{what} holds {len(hits)} lists of judgments: {listing(names)}",
            advice="Pass the _source of one of its hits.",
            table=table,
        )
    source: Mapping[Any, Any] = hits[0]["_source"]
    return source
