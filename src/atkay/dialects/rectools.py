"""RecTools."""

from __future__ import annotations

from atkay.dialects.dialect import Dialect

DIALECT = Dialect(
    name="rectools",
    library="rectools",
    version="0.19.0",
    metrics=("precision", "recall", "hit", "map", "mrr", "f1", "ndcg(gain=binary,ideal=full)", "partial_auc"),
    names={
        "F1Beta": "f1",
        "PartialAUC": "partial_auc",
        "PAP": "partial_auc(relevant=top)",
    },
    alike={
        "Accuracy": "accuracy",
        "MCC": "mcc",
        "CatalogCoverage": "coverage",
        "MeanInvUserFreq": "surprisal",
        "IntraListDiversity": "ild",
        "AvgRecPopularity": "arp",
        "Serendipity": "serendipity",
        "CoveredUsers": "user_coverage",
    },
    without={
        "Intersection": "the items that two runs share, which atkay.overlap compares",
        "SufficientReco": "the users with k items",
        "UnrepeatedReco": "the items that are not listed twice, which atkay refuses",
    },
)
