"""PyTorch-Ignite's metrics for recommenders, which rank all items."""

from __future__ import annotations

from atkay.dialects.dialect import Dialect

DIALECT = Dialect(
    name="ignite",
    library="pytorch-ignite",
    version="0.5.5",
    metrics=("hit", "ndcg"),
    names={"HitRate": "hit"},
    protocol={"ties": "item"},
    unstable=2,
    stable=("ndcg",),
    note="In its hit rate the order of equal scores is undefined. relevance_threshold, which concerns its nDCG alone, "
    "is min_relevance.",
)
