"""PyTorch Geometric: a row of listed items per user of the truth, filled up with an item that nobody has."""

import torch
from lines import answer, best_first
from torch_geometric import metrics

CLASSES = {
    "precision": metrics.LinkPredPrecision,
    "recall": metrics.LinkPredRecall,
    "hit": metrics.LinkPredHitRatio,
    "map": metrics.LinkPredMAP,
    "mrr": metrics.LinkPredMRR,
    "ndcg": lambda k: metrics.LinkPredNDCG(k, weighted=True),
}


def metric(case):
    items = sorted({item for rows in case["recs"].values() for item, _ in rows}.union(*case["truth"].values()))
    number = {item: at for at, item in enumerate(items)}
    lists = [[number[item] for item in best_first(case["recs"].get(user, []))] for user in case["truth"]]
    width = max(case["k"], *map(len, lists))
    edges = [
        (row, number[item], grade)
        for row, grades in enumerate(case["truth"].values())
        for item, grade in grades.items()
        if grade > 0
    ]
    users, listed, grades = zip(*edges, strict=True)
    measure = CLASSES[case["metric"]](case["k"])
    measure.update(
        torch.tensor([row + [len(items)] * (width - len(row)) for row in lists]),
        torch.tensor([users, listed]),
        torch.tensor(grades, dtype=torch.float),
    )
    return float(measure.compute())


answer(metric)
