"""Sentence Transformers' InformationRetrievalEvaluator."""

from __future__ import annotations

from atkay.dialects.dialect import Dialect

DIALECT = Dialect(
    name="sentence_transformers",
    library="sentence-transformers",
    version="6.2.0",
    metrics=("precision", "recall", "hit", "map(per=capped)", "mrr", "ndcg(gain=binary)"),
    names={"accuracy": "hit"},
    protocol={"ties": "text"},
    note="Its reranking evaluators know the listed items alone: for them add unlisted=ignored, no_recs=skip, and "
    "no_truth=zero for CrossEncoderRerankingEvaluator. There equal scores are averaged over in nDCG (ties=expected) "
    "and read as one in MAP (ties=together, per=relevant); in MRR RerankingEvaluator puts the relevant ones first "
    "(ties=best).",
    editions={"<6": {"version": "5.7.0", "protocol": {}}},
)
