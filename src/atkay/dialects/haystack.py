"""Haystack's evaluators of documents, which take the list as the retriever cuts it."""

from __future__ import annotations

from atkay.dialects.dialect import Dialect

REST = ("mrr", "ndcg(gain=linear,ideal=uncut)", "recall", "hit")

DIALECT = Dialect(
    name="haystack",
    library="haystack-ai",
    version="3.4.1",
    metrics=("map", *REST),
    names={
        "DocumentMAPEvaluator": "map",
        "DocumentMRREvaluator": "mrr",
        "DocumentNDCGEvaluator": "ndcg",
        "DocumentRecallEvaluator": "hit",
        "DocumentRecallEvaluator(multi_hit)": "recall",
    },
    protocol={"no_truth": "zero"},
    note="Its recall is by default the hit rate. In its nDCG a document without a score has the grade 1.",
    editions={"<3.1": {"version": "3.0.0", "metrics": ("map(per=hits)", *REST)}},
)
