"""PyTorch Geometric's metrics of retrieval for link prediction."""

from __future__ import annotations

from atkay.dialects.dialect import Dialect

KINDS = {"Precision": "precision", "Recall": "recall", "F1": "f1", "MAP": "map", "NDCG": "ndcg", "MRR": "mrr"}

DIALECT = Dialect(
    name="pyg",
    library="torch-geometric",
    version="2.8.1",
    metrics=("precision", "recall", "f1", "map(per=capped)", "ndcg(gain=binary)", "mrr", "hit"),
    names={f"LinkPred{own}": ours for own, ours in KINDS.items()} | {"LinkPredHitRatio": "hit"},
    note="With weighted=True its nDCG is ndcg(gain=linear).",
    alike={
        "LinkPredCoverage": "coverage",
        "LinkPredDiversity": "ild",
        "LinkPredPersonalization": "inter_list_distance",
        "LinkPredAveragePopularity": "arp",
    },
)
