"""TF-Ranking, whose lists are all the items it knows of."""

from __future__ import annotations

from atkay.dialects.dialect import Dialect

DIALECT = Dialect(
    name="tfranking",
    library="tensorflow-ranking",
    version="0.5.5",
    metrics=(
        *("precision(per=listed)", "recall", "hit", "map", "mrr", "ndcg", "dcg"),
        *("mean_rank(gain=linear,unlisted=skip,average=pooled)", "opa(average=pooled); ties=worst"),
        *("alpha_dcg(per=nothing)", "p_ia(per=listed)"),
    ),
    names={
        "PrecisionMetric": "precision",
        "RecallMetric": "recall",
        "HitsMetric": "hit",
        "MeanAveragePrecisionMetric": "map",
        "MRRMetric": "mrr",
        "NDCGMetric": "ndcg",
        "DCGMetric": "dcg",
        "ARPMetric": "mean_rank",
        "OPAMetric": "opa",
        "AlphaDCGMetric": "alpha_dcg",
        "AlphaDCGMetric(alpha={alpha})": "alpha_dcg(alpha={alpha})",
        "PrecisionIAMetric": "p_ia",
    },
    protocol={
        "no_recs": "skip",
        "no_truth": "zero",
        "unlisted": "ignored",
        "min_relevance": 1,
        "gains": "positive",
        "negative": "unjudged",
        "scores": "float32",
    },
    uncut=("opa",),
    unstable=2,
    stable=("opa",),
    note="Equal scores are shuffled; in OPA a pair of them counts as wrong. Its bpref knows "
    "no judged items but the listed ones; it is not supported here.",
    without={
        "bpref": "a judged item that is not listed does not exist for it",
        "PWA": "precision weighted by position",
    },
)
