"""Elasticsearch's ranking evaluation API, _rank_eval."""

from __future__ import annotations

from atkay.dialects.dialect import Dialect

DIALECT = Dialect(
    name="elasticsearch",
    library="elasticsearch",
    version="8",
    metrics=("precision(per=listed)", "recall", "mrr", "dcg", "ndcg(ideal=possible)", "err"),
    names={
        "mean_reciprocal_rank": "mrr",
        "dcg(normalize=true)": "ndcg",
        "expected_reciprocal_rank(maximum_relevance={max})": "err(highest={max})",
    },
    protocol={"no_truth": "zero", "min_relevance": 1, "gains": "positive"},
    cutoff=10,
    checked="source",
    note="min_relevance is its relevant_rating_threshold. It cuts the ideal list at the number of hits that the search "
    "returns.",
    without={
        "precision(ignore_unlabeled=true)": "hits among the judged items of the top k",
        "unknown_doc_rating": "a grade for items that nobody judged",
    },
)
