"""Ragas' context precision and recall by id, which take the list as the retriever cuts it."""

from __future__ import annotations

from atkay.dialects.dialect import Dialect

DIALECT = Dialect(
    name="ragas",
    library="ragas",
    version="0.4.3",
    metrics=("precision(per=listed); no_recs=skip no_truth=zero", "recall"),
    names={"id_based_context_precision": "precision", "id_based_context_recall": "recall"},
)
