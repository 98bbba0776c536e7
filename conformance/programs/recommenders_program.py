"""Recommenders: frames of the truth, as it is, and of the lists."""

import pandas as pd
from lines import answer
from recommenders.evaluation import python_evaluation as evaluation

NAMES = {"map": "map_at_k", "ndcg": "ndcg_at_k", "precision": "precision_at_k", "recall": "recall_at_k"}
OPTIONS = {"ndcg": {"score_type": "raw", "discfun_type": "log2"}}


def frame(table, column):
    rows = [(user, item, value) for user, row in table.items() for item, value in row]
    return pd.DataFrame(rows, columns=["userID", "itemID", column])


def metric(case):
    truth = frame({user: grades.items() for user, grades in case["truth"].items()}, "rating")
    listed = frame(case["recs"], "prediction")
    measure = getattr(evaluation, NAMES[case["metric"]])
    return measure(truth, listed, k=case["k"], **OPTIONS.get(case["metric"], {}))


answer(metric)
