"""RecTools."""

from __future__ import annotations

from atkay.dialects.dialect import Dialect

DIALECT = Dialect(
    name="rectools",
    library="rectools",
    version="0.19.0",
    metrics=("precision", "recall", "hit", "map", "mrr", "f1", "ndcg(gain=binary,ideal=full)"),
    names={
        "F1Beta": "f1",
    },
)
