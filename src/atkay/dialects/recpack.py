"""RecPack."""

from __future__ import annotations

from atkay.dialects.dialect import Dialect

DIALECT = Dialect(
    name="recpack",
    library="recpack",
    version="0.3.6",
    metrics=(
        "precision",
        "recall",
        "hit(count=number)",
        "mrr",
        "ndcg(gain=binary)",
        "dcg(gain=binary)",
        "ips_hit(propensity=interactions,clip=0.0001)",
    ),
    names={
        "PrecisionK": "precision",
        "RecallK": "recall",
        "CalibratedRecallK": "recall(per=capped)",
        "HitK": "hit",
        "ReciprocalRankK": "mrr",
        "NDCGK": "ndcg",
        "DCGK": "dcg",
        "IPSHitRateK": "ips_hit",
    },
    unstable=2,
    note="The order of equal scores is undefined. Its IPSHitRateK reads train, the interactions that it is fitted on: "
    "RecPack suggests those of the test.",
    alike={
        "CoverageK": "coverage",
        "PercentileRanking": "mpr",
        "IntraListDiversityK": "ild",
    },
    without={
        "DiscountedGainK": "the terms of DCG, item by item",
    },
)
