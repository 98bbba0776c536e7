"""Sentence Transformers: its evaluators with scores in place of a model. InformationRetrievalEvaluator gets the lists;
of a user without one an empty list. CrossEncoderRerankingEvaluator gets the users with a list, whose listed items are
the documents: relevant items that are not listed are unknown to it. RerankingEvaluator gets them, too, the relevant
ones first, and leaves out users whose documents are of one kind.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch
from entries import CUTOFFS, Data, Entry, grouped
from sentence_transformers.cross_encoder.evaluation import CrossEncoderRerankingEvaluator
from sentence_transformers.sentence_transformer.evaluation import InformationRetrievalEvaluator, RerankingEvaluator

KINDS = ("accuracy", "precision", "recall", "ndcg", "mrr", "map")
INPUTS = {
    "retrieval": "lambda users: compute_metrics of InformationRetrievalEvaluator with the truth and the lists of these "
    "users; the relevant ones are the rows of truth.csv that the option 'truth' names",
    "relevant": "the users with such rows",
    "reranking": "lambda users, k: CrossEncoderRerankingEvaluator(samples, at_k=k, always_rerank_positives=False) for "
    "these users, called with a model that predicts the scores of recs.csv; documents stand in its order",
    "embedded": "lambda users, k: Given(samples, at_k=k, similarity_fct=scores).compute_metrics(None), Given being "
    "RerankingEvaluator with ids in place of embeddings, and scores those of recs.csv",
    "listed": "the users with a list",
    "mixed": "those with both relevant and irrelevant items in it",
}
Asked = Callable[..., dict[str, Any]]


def ask(data: Data) -> tuple[dict[str, Any], Iterator[Entry]]:
    return {"listed": list(data.lists)}, entries(data)


def entries(data: Data) -> Iterator[Entry]:
    for rows, which in data.interactions():
        positive = {user: [item for item, _ in row] for user, row in grouped(rows).items()}
        scope = {"retrieval": retrieval(data, positive), "reranking": reranking(data, positive)}
        scope |= {"embedded": embedded(data, positive)}
        scope["mixed"] = [
            user for user, row in data.lists.items() if 0 < len(set(row) & set(positive.get(user, []))) < len(set(row))
        ]
        scope["relevant"] = list(positive)
        for name in KINDS:
            for k in CUTOFFS:
                value = f"['{name}@k'][{k}]"
                each = f"{{u: retrieval([u]){value} for u in relevant}}"
                yield Entry(name, f"retrieval(relevant){value}", k, which, each, scope)
        options = which | {"evaluator": "reranking"}
        for name in ("mrr", "ndcg"):
            for k in CUTOFFS:
                value = f"['{name}@{k}']"
                each = f"{{u: reranking([u], {k}){value} for u in listed}}"
                yield Entry(name, f"reranking(listed, {k}){value}", k, options, each, scope)
        each = "{u: reranking([u], 10)['map'] for u in listed}"
        yield Entry("map", "reranking(listed, 10)['map']", None, options, each, scope)
        options = which | {"evaluator": "embeddings"}
        for name in ("mrr", "ndcg", "map"):
            for k in (None,) if name == "map" else CUTOFFS:
                each = f"{{u: embedded([u], {k or 10})['{name}'] for u in mixed}}"
                yield Entry(name, f"embedded(listed, {k or 10})['{name}']", k, options, each, scope)


def retrieval(data: Data, positive: dict[str, list[str]]) -> Asked:
    rows = grouped(data.recs)

    def asked(users: list[str]) -> dict[str, Any]:
        cut = list(CUTOFFS)
        evaluator = InformationRetrievalEvaluator(
            {user: user for user in users},
            {item: item for item in data.items},
            {user: set(positive[user]) for user in users},
            **dict.fromkeys(("mrr_at_k", "ndcg_at_k", "accuracy_at_k", "precision_recall_at_k", "map_at_k"), cut),
        )
        lists = [[{"corpus_id": item, "score": score} for item, score in rows.get(user, [])] for user in users]
        return evaluator.compute_metrics(lists)

    return asked


def reranking(data: Data, positive: dict[str, list[str]]) -> Asked:
    rows = grouped(data.recs)
    card = SimpleNamespace(set_evaluation_metrics=lambda *_: None)
    model = SimpleNamespace(
        predict=lambda pairs, **_: np.array([data.run[user][item] for user, item in pairs]), model_card_data=card
    )

    def asked(users: list[str], k: int) -> dict[str, Any]:
        samples = [
            {"query": u, "positive": positive.get(u, []), "documents": [item for item, _ in rows[u]]} for u in users
        ]
        return CrossEncoderRerankingEvaluator(samples, at_k=k, always_rerank_positives=False)(model)

    return asked


class Given(RerankingEvaluator):
    """Ids in place of embeddings."""

    def embed_inputs(self, model: Any, sentences: Any, **_: Any) -> Any:
        return sentences


def embedded(data: Data, positive: dict[str, list[str]]) -> Asked:
    def scores(user: str, items: list[str]) -> Any:
        return torch.tensor([data.run[user][item] for item in items], dtype=torch.float64)

    def asked(users: list[str], k: int) -> dict[str, Any]:
        samples = []
        for user in users:
            kinds: dict[bool, list[str]] = {True: [], False: []}
            for item in data.run[user]:
                kinds[item in positive.get(user, [])].append(item)
            samples.append({"query": user, "positive": kinds[True], "negative": kinds[False]})
        return Given(samples, at_k=k, similarity_fct=scores).compute_metrics(None)

    return asked
