"""Search responses: the lists that Elasticsearch and OpenSearch return."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice, pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from atkay.errors import IdError, SourceError, shown

if TYPE_CHECKING:
    from collections.abc import Sequence


class Nested(NamedTuple):
    """What a document holds: the documents of each query, and a number of each where there are any.

    ``judged``: these are judgments, otherwise ranked lists. ``numbered``: the queries have no names, only an order.
    """

    kind: str
    judged: bool
    lists: Mapping[Any, Sequence[tuple[Any, Any]]]
    numbered: bool = False


def search_responses(given: Any, what: str, table: str) -> Nested | None:
    """The lists of a response of ``_search``, ``_msearch`` or ``_rank_eval``, or of responses by query."""
    if isinstance(given, Mapping) and isinstance(details := given.get("details"), Mapping) and "failures" in given:
        if given["failures"]:
            raise _failed(what, next(iter(given["failures"])), table)
        hits = {name: [one["hit"] for one in query["hits"]] for name, query in details.items()}
        return Nested("a response of _rank_eval", False, _ranked(hits, what, table))
    numbered = True
    if _is_response(given):
        responses: Mapping[Any, Any] = {0: given}
    elif isinstance(given, Mapping) and isinstance(given.get("responses"), list):
        responses = dict(enumerate(given["responses"]))
    elif isinstance(given, list) and given and _is_answer(given[0]):
        responses = dict(enumerate(given))
    elif isinstance(given, Mapping) and any(map(_is_answer, islice(given.values(), 1))):
        responses, numbered = given, False
    else:
        return None
    for name, response in responses.items():
        shards = response.get("_shards", {}) if _is_response(response) else {"failed": 1}
        if response.get("timed_out") or shards.get("failed"):
            raise _failed(what, name, table)
    hits = {name: response["hits"]["hits"] for name, response in responses.items()}
    return Nested("a search response", False, _ranked(hits, what, table), numbered)


def _is_response(given: Any) -> bool:
    hits = given.get("hits") if isinstance(given, Mapping) else None
    return isinstance(hits, Mapping) and isinstance(hits.get("hits"), list)


def _is_answer(given: Any) -> bool:
    """Whether it is a response or an error, as ``_msearch`` has it in place of one."""
    return _is_response(given) or (
        isinstance(given, Mapping) and isinstance(given.get("status"), int) and isinstance(given.get("error"), Mapping)
    )


def _failed(what: str, query: Any, table: str) -> SourceError:
    return SourceError(
        f"{what}: the search for query {shown(query)} failed, timed out or left shards out, so its list is not whole",
        advice="Repeat the search.",
        table=table,
    )


def _ranked(hits: Mapping[Any, Sequence[Any]], what: str, table: str) -> dict[Any, list[tuple[Any, Any]]]:
    """The documents in the order of the hits, which need not be that of their scores."""
    ids = document_ids([hit for of_query in hits.values() for hit in of_query], what, table)
    scores = {name: [hit.get("_score") for hit in of_query] for name, of_query in hits.items()}
    falling = all(None not in one and all(a >= b for a, b in pairwise(one)) for one in scores.values())
    every = iter(ids)
    return {name: [(next(every), one if falling else None) for one in of_query] for name, of_query in scores.items()}


def document_ids(hits: Sequence[Any], what: str, table: str) -> list[Any]:
    """The ``_id`` of each hit or rating, if it is that of one document."""
    index_of: dict[Any, Any] = {}
    for hit in hits:
        index = hit.get("_index")
        if index_of.setdefault(hit["_id"], index) != index:
            raise IdError(
                f"{what} has document {shown(hit['_id'])} in index {shown(index_of[hit['_id']])} and in index "
                f"{shown(index)}: two documents of the same _id",
                advice="Join both into one id, such as 'index/_id', in recs and in truth, and pass {query: [ids]}.",
                table=table,
            )
    return [hit["_id"] for hit in hits]
