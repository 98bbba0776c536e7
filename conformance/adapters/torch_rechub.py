"""Torch-RecHub: dicts of lists, and rows for its AUC. Both dicts must have the same users, and a list must be as long
as the cutoff. Its numbers come as text, with four decimals.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from entries import CUTOFFS, Data, Entry, grouped
from torch_rechub.basic.metric import auc_score, gauc_score, topk_metrics

KINDS = ("NDCG", "MRR", "Recall", "Hit", "Precision")
INPUTS = {
    "true": "{user: [item]}: the rows of truth.csv that the option 'truth' names, of the users that 'users' names",
    "pred": "{user: [item]}: recs.csv by descending score, equal scores in file order, of the same users",
    "number": "lambda text: float(text.split(': ')[1])",
    "all_labels, all_scores": "rows of recs.csv",
    "labels, scores, users": "rows of recs.csv of users with both a relevant and an irrelevant item in the list",
}


def ask(data: Data) -> tuple[dict[str, Any], Iterator[Entry]]:
    called = {"topk_metrics": topk_metrics, "gauc_score": gauc_score, "auc_score": auc_score}
    return called | {"number": lambda text: float(text.split(": ")[1])}, entries(data)


def entries(data: Data) -> Iterator[Entry]:
    for rows, which in data.interactions():
        relevant = {user: [item for item, _ in row] for user, row in grouped(rows).items()}
        both = [user for user in data.lists if user in relevant]
        for users, name in ((both, "with a list and truth"), (list(data.lists), "with a list")):
            options = which | {"users": name}
            scope = {"true": {u: relevant.get(u, []) for u in users}, "pred": {u: data.lists[u] for u in users}}
            for kind in KINDS:
                for k in CUTOFFS:
                    call = f"number(topk_metrics(true, pred, [{k}])['{kind}'][0])"
                    # A user without truth has nothing to divide by where its hits are counted.
                    each = f"{{u: {call.replace('true, pred', '{u: true[u]}, {u: pred[u]}')} for u in true if true[u]}}"
                    yield Entry(kind, call, k, options, each, scope)
        labels = [(user, int(item in relevant.get(user, [])), score) for user, item, score in data.recs]
        kinds = {user: {label for other, label, _ in labels if other == user} for user in data.lists}
        kept = [row for row in labels if len(kinds[row[0]]) == 2]
        scope = {"labels": [row[1] for row in kept], "scores": [row[2] for row in kept]}
        scope["users"] = [row[0] for row in kept]
        yield Entry("gauc", "gauc_score(labels, scores, users)", None, which, scope=scope)
        scope |= {"all_labels": [row[1] for row in labels], "all_scores": [row[2] for row in labels]}
        yield Entry("auc", "auc_score(all_labels, all_scores)", None, which, scope=scope)
