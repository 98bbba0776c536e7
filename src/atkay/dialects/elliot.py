"""Elliot. Its MAP is the mean of the precisions at every place."""

from __future__ import annotations

from atkay.dialects.dialect import Dialect

DIALECT = Dialect(
    name="elliot",
    library="elliot",
    version="0.3.1",
    metrics=("precision", "recall", "hit", "map(per=places)", "mrr", "ndcg(gain=exp2_above)"),
    protocol={"no_recs": "skip", "min_relevance": 0},
    checked="source",
    note="min_relevance is its relevance_threshold. The default of 0 makes every item of the truth relevant, whatever "
    "its grade. It is not on PyPI and was not run: its source was read.",
)
