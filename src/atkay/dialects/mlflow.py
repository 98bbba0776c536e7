"""MLflow's metrics of retrievers. The ideal list of its nDCG is as long as the list itself."""

from __future__ import annotations

from atkay.dialects.dialect import Dialect

DIALECT = Dialect(
    name="mlflow",
    library="mlflow",
    version="3.17.2",
    metrics=("precision(per=listed)", "recall", "ndcg(gain=binary,ideal=possible)"),
    names={"precision_at_{k}": "precision@{k}", "recall_at_{k}": "recall@{k}", "ndcg_at_{k}": "ndcg@{k}"},
    protocol={"no_truth": "zero"},
    note="A list of one relevant item has an nDCG of 1, however many are missed. A user with neither list nor truth "
    "scores 1 in recall and nDCG, and does not exist here.",
)
