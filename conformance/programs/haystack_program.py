"""Haystack: documents, of which the truth may have a score; a question per user of the truth."""

from haystack import Document
from haystack.components.evaluators import (
    DocumentMAPEvaluator,
    DocumentMRREvaluator,
    DocumentNDCGEvaluator,
    DocumentRecallEvaluator,
)
from lines import answer, best_first

CLASSES = {
    "map": DocumentMAPEvaluator,
    "mrr": DocumentMRREvaluator,
    "ndcg": DocumentNDCGEvaluator,
    "recall": lambda: DocumentRecallEvaluator(mode="multi_hit"),
    "hit": lambda: DocumentRecallEvaluator(mode="single_hit"),
}


def metric(case):
    truth, retrieved = [], []
    for user, grades in case["truth"].items():
        graded = any(grade != 1 for grade in grades.values())
        truth.append([Document(content=item, score=grade if graded else None) for item, grade in grades.items()])
        rows = case["recs"].get(user, [])
        retrieved.append([Document(content=item) for item in best_first(rows, case["k"])])
    return CLASSES[case["metric"]]().run(ground_truth_documents=truth, retrieved_documents=retrieved)["score"]


answer(metric)
