"""Evidently's metrics of rankings, which know the listed items alone."""

from __future__ import annotations

from atkay.dialects.dialect import Dialect

DIALECT = Dialect(
    name="evidently",
    library="evidently",
    version="0.7.23",
    metrics=("precision(per=listed)", "recall", "hit", "map", "mrr", "ndcg(gain=linear)"),
    names={
        "PrecisionTopKMetric": "precision",
        "RecallTopKMetric": "recall",
        "HitRateKMetric": "hit",
        "MAPKMetric": "map",
        "MRRKMetric": "mrr",
        "NDCGKMetric": "ndcg",
        "PrecisionTopK": "precision",
        "RecallTopK": "recall",
    },
    protocol={"no_recs": "skip", "unlisted": "ignored"},
    note="Given scores in place of ranks, it puts equal scores at the mean of their ranks, cut down to an integer. In "
    "its MAP a hit at the end of a list that is shorter than k counts again at each place below. min_rel_score makes "
    "its nDCG binary.",
    without={
        "FBetaTopKMetric": "from the means of precision and recall",
        "MARKMetric": "the sum of recall at the hits, divided by the relevant items",
    },
)
