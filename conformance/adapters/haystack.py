"""Haystack: its evaluators of documents, whose content is the item. They take no cutoff, so lists are cut before, as a
retriever's top_k does, and take a list and the truth of each user, either of which may be empty: here of all users.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from entries import CUTOFFS, Data, Entry, grouped
from haystack import Document
from haystack.components.evaluators import (
    DocumentMAPEvaluator,
    DocumentMRREvaluator,
    DocumentNDCGEvaluator,
    DocumentRecallEvaluator,
)

INPUTS = {
    "truth": "list of lists: Document(content=item) for the rows of truth.csv that the option 'truth' names; [] where "
    "a user has none",
    "graded": "the same with the relevance as score",
    "found": "lambda k: list of lists of the same users: Document(content=item) for recs.csv by descending score, "
    "equal scores in file order; the first k",
    "users": "the users of both",
}
CALLS = {
    "DocumentMAPEvaluator": "DocumentMAPEvaluator()",
    "DocumentMRREvaluator": "DocumentMRREvaluator()",
    "DocumentNDCGEvaluator": "DocumentNDCGEvaluator()",
    "DocumentRecallEvaluator": "DocumentRecallEvaluator()",
    "DocumentRecallEvaluator(multi_hit)": "DocumentRecallEvaluator('multi_hit')",
}
KINDS = (DocumentMAPEvaluator, DocumentMRREvaluator, DocumentNDCGEvaluator, DocumentRecallEvaluator)


def ask(data: Data) -> tuple[dict[str, Any], Iterator[Entry]]:
    def found(k: int | None) -> list[list[Document]]:
        return [[Document(content=item) for item in data.lists.get(user, [])[:k]] for user in data.users]

    called = {kind.__name__: kind for kind in KINDS}
    return called | {"found": found, "users": list(data.users)}, entries(data)


def entries(data: Data) -> Iterator[Entry]:
    for rows, which in data.interactions():
        scope = {"truth": documents(data, rows), "graded": documents(data, rows, graded=True)}
        for name, call in CALLS.items():
            for given, options in choices(name, rows):
                for k in (None, *CUTOFFS):
                    done = f"{call}.run({given}, found({k}))"
                    each = f"dict(zip(users, {done}['individual_scores']))"
                    yield Entry(name, f"{done}['score']", k, which | options, each, scope)


def choices(name: str, rows: list[tuple[str, str, int]]) -> list[tuple[str, dict[str, str]]]:
    """Which truth to give: where relevance has grades, nDCG is asked with it as score and without."""
    if "NDCG" in name and len({grade for _, _, grade in rows}) > 1:
        return [("graded", {"score": "relevance"}), ("truth", {"score": "none"})]
    return [("truth", {})]


def documents(data: Data, rows: list[tuple[str, str, int]], *, graded: bool = False) -> list[list[Document]]:
    relevant = grouped(rows)
    return [
        [Document(content=item, score=float(grade) if graded else None) for item, grade in relevant.get(user, [])]
        for user in data.users
    ]
