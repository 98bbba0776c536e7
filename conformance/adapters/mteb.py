"""MTEB: calculate_retrieval_scores on dicts. It looks every user of the run up in the qrels, so a list without truth
raises KeyError; where there is one, it is asked a second time without.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from entries import CUTOFFS, Data, Entry
from mteb._evaluators.retrieval_metrics import calculate_retrieval_scores, make_score_dict

KINDS = ("ndcg", "map", "recall", "precision", "mrr", "hit_rate")
INPUTS = {
    "qrels": "{user: {item: relevance}} from truth.csv, in file order",
    "run": "{user: {item: score}} from recs.csv, in file order; an item that stands twice keeps its last score",
    "matched": "run without users that qrels do not have",
    "scores": "lambda run: make_score_dict of calculate_retrieval_scores(run, qrels, [1, 3, 5, 10])",
}


def ask(data: Data) -> tuple[dict[str, Any], Iterator[Entry]]:
    def scores(run: dict[str, dict[str, float]]) -> dict[str, Any]:
        found = calculate_retrieval_scores(run, data.grades, list(CUTOFFS))._asdict()
        parts = {name.lstrip("_"): value for name, value in found.items() if name != "all_scores"}
        return make_score_dict(_map=parts.pop("map"), task_scores={}, **parts)

    matched = {user: row for user, row in data.run.items() if user in data.grades}
    return {"run": data.run, "matched": matched, "scores": scores}, entries(len(matched) < len(data.run))


def entries(unmatched: bool) -> Iterator[Entry]:
    for name in KINDS:
        for k in CUTOFFS:
            for run in ("run", "matched") if unmatched else ("run",):
                value = f"['{name}_at_{k}']"
                each = f"{{u: scores({{u: {run}[u]}}){value} for u in {run}}}"
                options = {"users": "with truth"} if run == "matched" else {}
                yield Entry(f"{name}_at", f"scores({run}){value}", k, options, each)
