"""scikit-learn: a row per user, a column per listed item; users are averaged here."""

from lines import answer
from sklearn.metrics import ndcg_score


def metric(case):
    values = []
    for user, rows in case["recs"].items():
        grades = case["truth"].get(user, {})
        values.append(ndcg_score([[grades.get(item, 0) for item, _ in rows]], [[s for _, s in rows]], k=case["k"]))
    return sum(values) / len(values)


answer(metric)
