"""LlamaIndex's metrics of retrieval, which take the list as the retriever cuts it."""

from __future__ import annotations

from atkay.dialects.dialect import Dialect

DIALECT = Dialect(
    name="llama_index",
    library="llama-index-core",
    version="0.14.25",
    metrics=("precision(per=listed)", "recall", "hit", "map", "mrr", "ndcg(gain=binary,ideal=uncut)"),
    names={
        "HitRate": "hit",
        "HitRate(use_granular_hit_rate=True)": "recall",
        "AveragePrecision": "map",
        "hit_rate": "hit",
        "ap": "map",
    },
    protocol={"no_recs": "skip"},
    note="A user without a list or without truth is an error there and is left out here.",
    without={"MRR(use_granular_mrr=True)": "the mean of 1 / rank over the hits"},
)
