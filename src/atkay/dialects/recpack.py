"""RecPack."""

from __future__ import annotations

from atkay.dialects.dialect import Dialect

DIALECT = Dialect(
    name="recpack",
    library="recpack",
    version="0.3.6",
    metrics=("precision", "recall", "hit(count=number)", "mrr", "ndcg(gain=binary)", "dcg(gain=binary)"),
    names={
        "PrecisionK": "precision",
        "RecallK": "recall",
        "CalibratedRecallK": "recall(per=capped)",
        "HitK": "hit",
        "ReciprocalRankK": "mrr",
        "NDCGK": "ndcg",
        "DCGK": "dcg",
    },
    unstable=2,
    note="The order of equal scores is undefined.",
)
