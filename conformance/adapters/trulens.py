"""TruLens: GroundTruthAgreement, asked for one user after the other. Queries are the users, chunks are the items. A
user whose number is NaN is left out of the mean, as pandas does it. Lists are given in their order, without scores;
where two scores are equal a second time with scores.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from entries import CUTOFFS, Data, Entry, grouped
from trulens.feedback import GroundTruthAgreement
from trulens.feedback.llm_provider import LLMProvider

KINDS = ("precision_at_k", "recall_at_k", "ndcg_at_k", "ir_hit_rate", "mrr")
INPUTS = {
    "agreement": "GroundTruthAgreement of the rows of truth.csv that the option 'truth' names",
    "graded": "the same with the relevance as expect_score",
    "found": "{user: [item]}: recs.csv by descending score, equal scores in file order; [] without a list",
    "scores": "{user: [score]} in the same order",
    "mean": "lambda values: the mean of those that are no NaN",
}


def ask(data: Data) -> tuple[dict[str, Any], Iterator[Entry]]:
    ranked = grouped(data.ranked)
    scores = {user: [score for _, score in ranked.get(user, [])] for user in data.users}
    found = {user: data.lists.get(user, []) for user in data.users}
    return {"found": found, "scores": scores, "mean": mean}, entries(data)


def mean(values: dict[str, float]) -> float:
    there = [value for value in values.values() if not math.isnan(value)]
    return sum(there) / len(there)


def entries(data: Data) -> Iterator[Entry]:
    tied = any(len(row) > len({score for _, score in row}) for row in grouped(data.recs).values())
    for rows, which in data.interactions():
        scope = {"agreement": agreement(rows), "graded": agreement(rows, graded=True)}
        graded = len({grade for _, _, grade in rows}) > 1
        for name in KINDS:
            for given in ("agreement", "graded") if graded and name == "ndcg_at_k" else ("agreement",):
                for scored in (False, True) if tied and name != "ir_hit_rate" else (False,):
                    options = which | ({"expect_score": "relevance" if given == "graded" else "1"} if graded else {})
                    options |= {"relevance_scores": "given"} if scored else {}
                    with_scores = ", relevance_scores=scores[u]" if scored else ""
                    for k in (None,) if name == "mrr" else (None, *CUTOFFS):
                        cut = f", k={k}" if k else ""
                        each = f"{{u: {given}.{name}(u, found[u]{with_scores}{cut}) for u in found}}"
                        own = f"{name}(k=None)" if name == "ndcg_at_k" and not k else name
                        yield Entry(own, f"mean({each})", k, options, each, scope)


def agreement(rows: list[tuple[str, str, int]], *, graded: bool = False) -> GroundTruthAgreement:
    golden = [
        {
            "query": user,
            "expected_chunks": [{"text": item} | ({"expect_score": grade} if graded else {}) for item, grade in row],
        }
        for user, row in grouped(rows).items()
    ]
    # No metric of retrieval asks a model, but one has to be there.
    return GroundTruthAgreement(golden, provider=LLMProvider.model_construct())
