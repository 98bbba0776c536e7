"""TruLens' GroundTruthAgreement: its metrics of retrieval."""

from __future__ import annotations

from atkay.dialects.dialect import Dialect

DIALECT = Dialect(
    name="trulens",
    library="trulens-feedback",
    version="2.16.0",
    metrics=("precision(per=listed); no_recs=skip", "recall", "hit", "mrr", "ndcg(gain=linear)"),
    names={
        "precision_at_k": "precision",
        "recall_at_k": "recall",
        "ir_hit_rate": "hit",
        "ndcg_at_k": "ndcg",
        "ndcg_at_k(k=None)": "ndcg(ideal=possible); no_recs=skip",
    },
    uncut=("mrr",),
    note="Its mrr uses the whole list. Given scores, its precision and recall add all items whose score equals that of "
    "the last one in the top k.",
)
