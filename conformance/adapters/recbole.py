"""RecBole: its metrics on the matrices that its collector makes. A row is a user with truth: whether each of the first
ten places is a hit, and how many items are relevant. Places that a short list or a missing one lacks are misses.
For GAUC and AUC the candidates are the listed items.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from entries import CUTOFFS, Data, Entry
from recbole.evaluator import metrics
from recbole.evaluator.collector import DataStruct
from scipy.stats import rankdata

KINDS = {"Hit": "hit", "MRR": "mrr", "MAP": "map", "Recall": "recall", "NDCG": "ndcg", "Precision": "precision"}
CONFIG = {"topk": list(CUTOFFS), "metric_decimal_place": 17}
INPUTS = {
    "config": f"{CONFIG}",
    "collected": "DataStruct with 'rec.topk' (hits of the first ten places and number of relevant items, for each "
    "user with truth), 'rec.meanrank' (sum of the relevant items' average ranks, length of the list, relevant items in "
    "the list), 'rec.score' and 'data.label' (of all listed items)",
    "hits, relevant": "the columns of 'rec.topk' as arrays",
    "users": "the users of the rows",
}


def ask(data: Data) -> tuple[dict[str, Any], Iterator[Entry]]:
    names = (*KINDS, "GAUC", "AUC")
    return {name: getattr(metrics, name) for name in names} | {"config": CONFIG}, entries(data)


def entries(data: Data) -> Iterator[Entry]:
    for rows, which in data.interactions():
        wanted: dict[str, list[str]] = {}
        for user, item, _ in rows:
            wanted.setdefault(user, []).append(item)
        hits = [[item in wanted[user] for item in data.lists.get(user, [])[: max(CUTOFFS)]] for user in wanted]
        padded = np.array([row + [False] * (max(CUTOFFS) - len(row)) for row in hits])
        relevant = np.array([len(row) for row in wanted.values()])
        collected = DataStruct()
        collected.set("rec.topk", torch.tensor(np.column_stack([padded, relevant]).astype(int).tolist()))
        ranks = []
        labels = [float(item in wanted.get(user, [])) for user, item, _ in data.ranked]
        for user in data.lists:
            own = [place for place, row in enumerate(data.ranked) if row[0] == user]
            found = np.array([labels[place] for place in own])
            order = rankdata([-data.ranked[place][2] for place in own])
            ranks.append([float(order[found > 0].sum()), float(len(own)), float(found.sum())])
        collected.set("rec.meanrank", torch.tensor(ranks, dtype=torch.float64))
        collected.set("rec.score", torch.tensor([score for _, _, score in data.ranked], dtype=torch.float64))
        collected.set("data.label", torch.tensor(labels))
        scope = {"collected": collected, "hits": padded, "relevant": relevant, "users": list(wanted)}
        for name, key in KINDS.items():
            given = "hits" if name in ("Hit", "MRR", "Precision") else "hits, relevant"
            for k in CUTOFFS:
                call = f"{name}(config).calculate_metric(collected)['{key}@{k}']"
                each = f"dict(zip(users, {name}(config).metric_info({given})[:, {k - 1}]))"
                yield Entry(name, call, k, which, each, scope)
        for name in ("GAUC", "AUC"):
            yield Entry(name, f"{name}(config).calculate_metric(collected)['{name.lower()}']", None, which, scope=scope)
