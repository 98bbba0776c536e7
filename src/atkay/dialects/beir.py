"""BEIR's EvaluateRetrieval: pytrec_eval's measures, and some of its own that count and sort in another way."""

from __future__ import annotations

from atkay.dialects.dialect import Dialect
from atkay.dialects.trec_eval import PROTOCOL

OWN = "no_recs=zero ties=given scores=exact"

DIALECT = Dialect(
    name="beir",
    library="beir",
    version="2.2.0",
    metrics=("precision", "recall", "map", "ndcg(gain=linear)", f"mrr; {OWN}", f"hit; {OWN}"),
    names={
        "P": "precision",
        "R_cap": f"recall(per=capped); {OWN}",
        "Accuracy": "hit",
    },
    protocol={**PROTOCOL, "scores": "float32"},
    note="It prints five decimals. Its MRR, R_cap, Accuracy and Hole count users without a list, and a user without "
    "truth is an error.",
    alike={
        "hole": "unjudged",
    },
    without={
        "Hole": "an item that is judged for anybody is judged for everybody",
    },
)
