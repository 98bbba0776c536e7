"""rs_metrics."""

from __future__ import annotations

from atkay.dialects.dialect import Dialect

DIALECT = Dialect(
    name="rs_metrics",
    library="rs_metrics",
    version="0.6.0",
    metrics=("precision(per=listed)", "recall", "hit", "map", "mrr", "ndcg(gain=binary)"),
    names={
        "mapr": "map",
    },
    note="Its precision is NaN if any user has no list.",
    alike={
        "coverage": "coverage",
        "popularity": "arp",
        "surprisal": "surprisal",
        "a_ndcg": "alpha_ndcg",
    },
)
