"""PyTorch Geometric: its link prediction metrics of retrieval. A row of the matrix is the list of one user; where it is
shorter than the longest one, what follows is a number that no item has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch
from entries import CUTOFFS, Data, Entry
from torch_geometric import metrics

KINDS = ("Precision", "Recall", "F1", "MAP", "NDCG", "MRR", "HitRatio")
WEIGHTED = ("Recall", "NDCG")
INPUTS = {
    "fed": "lambda metric, users: float(metric.compute()) after metric.update(pred_index_mat, edge_label_index, "
    "edge_label_weight): a row for each of these users, recs.csv by descending score, equal scores in file order; an "
    "edge for each row of truth.csv that the option 'truth' names, with the relevance as its weight",
    "users": "all users",
    "relevant": "users with such a row",
}


def ask(data: Data) -> tuple[dict[str, Any], Iterator[Entry]]:
    return {f"LinkPred{name}": getattr(metrics, f"LinkPred{name}") for name in KINDS}, entries(data)


def entries(data: Data) -> Iterator[Entry]:
    for rows, which in data.interactions():
        relevant = [user for user in data.users if any(user == other for other, _, _ in rows)]
        scope = {"fed": fed(data, rows), "users": list(data.users), "relevant": relevant}
        for name in KINDS:
            for weighted in (False, True) if name in WEIGHTED and which["truth"] != "every row" else (False,):
                for k in CUTOFFS:
                    call = f"fed(LinkPred{name}({k}{', weighted=True' if weighted else ''}), users)"
                    each = f"{{u: {call.replace('users', '[u]')} for u in relevant}}"
                    yield Entry(
                        f"LinkPred{name}", call, k, which | ({"weighted": True} if weighted else {}), each, scope
                    )


def fed(data: Data, rows: list[tuple[str, str, int]]) -> Callable[..., float]:
    width = max(map(len, data.lists.values()))

    def value(metric: Any, users: list[str]) -> float:
        place = {user: n for n, user in enumerate(users)}
        lists = [[data.items[item] for item in data.lists.get(user, [])] for user in users]
        edges = [(place[user], data.items[item], grade) for user, item, grade in rows if user in place]
        who, what, weight = (torch.tensor(each) for each in zip(*edges, strict=True))
        none = [len(data.items)]
        matrix = torch.tensor([row + none * (width - len(row)) for row in lists])
        metric.update(matrix, torch.stack((who, what)), weight.float())
        return float(metric.compute())

    return value
