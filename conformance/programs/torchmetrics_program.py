"""torchmetrics: listed items as rows, grouped by user."""

import torch
from lines import answer
from torchmetrics.retrieval import (
    RetrievalHitRate,
    RetrievalMAP,
    RetrievalMRR,
    RetrievalNormalizedDCG,
    RetrievalPrecision,
    RetrievalRecall,
)

CLASSES = {
    "precision": RetrievalPrecision,
    "recall": RetrievalRecall,
    "hit": RetrievalHitRate,
    "map": RetrievalMAP,
    "mrr": RetrievalMRR,
    "ndcg": RetrievalNormalizedDCG,
}


def metric(case):
    measure = CLASSES[case["metric"]](top_k=case["k"])
    scores, target, index = [], [], []
    for number, (user, rows) in enumerate(case["recs"].items()):
        grades = case["truth"].get(user, {})
        for item, score in rows:
            scores.append(float(score))
            target.append(grades.get(item, 0))
            index.append(number)
    kind = None if case["metric"] == "ndcg" else torch.long
    return float(measure(torch.tensor(scores), torch.tensor(target, dtype=kind), indexes=torch.tensor(index)))


answer(metric)
