"""LensKit."""

from __future__ import annotations

from atkay.dialects.dialect import Dialect

DIALECT = Dialect(
    name="lenskit",
    library="lenskit",
    version="2025.8.1",
    metrics=(
        "precision(per=listed)",
        "recall(per=capped)",
        "hit",
        "map(per=listed)",
        "mrr",
        "ndcg(gain=binary,discount=jk)",
        "dcg(gain=binary,discount=jk)",
        "rbp(p=0.85)",
    ),
    names={
        "AveragePrecision": "map",
        "RecipRank": "mrr",
    },
    protocol={"no_recs": "skip", "no_truth": "zero"},
    alike={
        "ListGini": "gini",
        "ExposureGini": "gini",
        "MeanPopRank": "arp",
        "RMSE": "rmse",
        "MAE": "mae",
    },
)
