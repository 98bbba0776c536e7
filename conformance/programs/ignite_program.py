"""pytorch-ignite: a row per user, a column per item; between what is listed and what is not stand k others."""

import torch
from ignite.metrics.rec_sys import NDCG, HitRate
from lines import answer

CLASSES = {"hit": HitRate, "ndcg": NDCG}


def metric(case):
    measure = CLASSES[case["metric"]](top_k=[case["k"]])
    items = sorted({item for rows in case["recs"].values() for item, _ in rows}.union(*case["truth"].values()))
    column = {item: at for at, item in enumerate(items)}
    users = list(case["truth"])
    scores = torch.full((len(users), len(items) + case["k"]), -2e9, dtype=torch.float64)
    scores[:, len(items) :] = -1e9
    grades = torch.zeros_like(scores)
    for row, user in enumerate(users):
        for item, score in case["recs"].get(user, []):
            scores[row, column[item]] = score
        for item, grade in case["truth"][user].items():
            grades[row, column[item]] = grade
    measure.update((scores, grades))
    return measure.compute()[0]


answer(metric)
