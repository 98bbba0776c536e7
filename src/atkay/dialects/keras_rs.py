"""Keras-RS, whose lists are all the items it knows of."""

from __future__ import annotations

from atkay.dialects.dialect import Dialect

DIALECT = Dialect(
    name="keras_rs",
    library="keras-rs",
    version="0.4.0",
    metrics=("precision(per=listed)", "recall", "map", "mrr", "ndcg", "dcg"),
    names={
        "PrecisionAtK": "precision",
        "RecallAtK": "recall",
        "MeanReciprocalRank": "mrr",
        "MeanAveragePrecision": "map",
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
    unstable=2,
    note="Equal scores are shuffled.",
)
