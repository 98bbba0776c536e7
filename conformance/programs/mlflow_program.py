"""MLflow: a row per user of the truth, with the retrieved ids and the relevant ones."""

import pandas as pd
from lines import answer, best_first
from mlflow.metrics import ndcg_at_k, precision_at_k, recall_at_k

METRICS = {"precision": precision_at_k, "recall": recall_at_k, "ndcg": ndcg_at_k}


def metric(case):
    users = list(case["truth"])
    retrieved = pd.Series([best_first(case["recs"].get(user, [])) for user in users])
    relevant = pd.Series([[item for item, grade in case["truth"][user].items() if grade > 0] for user in users])
    measured = METRICS[case["metric"]](case["k"]).eval_fn(retrieved, relevant)
    return measured.aggregate_results["mean"]


answer(metric)
