"""LlamaIndex: ids of what was expected and of what was retrieved; users are averaged here."""

from lines import answer, best_first
from llama_index.core.evaluation.retrieval.metrics import resolve_metrics

NAMES = {"hit": "hit_rate", "map": "ap"}


def metric(case):
    [measure] = resolve_metrics([NAMES.get(case["metric"], case["metric"])])
    values = []
    for user, grades in case["truth"].items():
        relevant = [item for item, grade in grades.items() if grade > 0]
        retrieved = best_first(case["recs"].get(user, []), case["k"])
        values.append(measure().compute(expected_ids=relevant, retrieved_ids=retrieved).score)
    return sum(values) / len(values)


answer(metric)
