"""BEIR: EvaluateRetrieval on dicts. Its own measures look every user of the run up in the qrels, so a list without
truth raises KeyError in them. They divide by the users of the qrels, the others by those with a list and truth.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from beir.retrieval.evaluation import EvaluateRetrieval
from entries import CUTOFFS, Data, Entry

INPUTS = {
    "qrels": "{user: {item: relevance}} from truth.csv, in file order",
    "run": "{user: {item: score}} from recs.csv, in file order; an item that stands twice keeps its last score",
}
PARTS = ("NDCG", "MAP", "Recall", "P")
CUSTOM = {"MRR": "mrr", "R_cap": "recall_cap", "Hole": "hole", "Accuracy": "top_k_accuracy"}


def ask(data: Data) -> tuple[dict[str, Any], Iterator[Entry]]:
    called = {"evaluate": EvaluateRetrieval.evaluate, "evaluate_custom": EvaluateRetrieval.evaluate_custom}
    return called | {"qrels": data.grades, "run": data.run}, entries()


def entries() -> Iterator[Entry]:
    for name in (*PARTS, *CUSTOM):
        for k in CUTOFFS:
            if name in CUSTOM:
                call = f"evaluate_custom(qrels, run, [{k}], '{CUSTOM[name]}')['{name}@{k}']"
            else:
                call = f"evaluate(qrels, run, [{k}])[{PARTS.index(name)}]['{name}@{k}']"
            one = call.replace("(qrels, run", "({u: qrels[u]}, {u: run[u]}")
            # What is a hole depends on the truth of all users.
            each = "" if name == "Hole" else f"{{u: {one} for u in run if u in qrels}}"
            yield Entry(name, call, k, {}, each)
