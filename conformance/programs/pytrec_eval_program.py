"""pytrec_eval: qrels and run as they are."""

import pytrec_eval
from lines import answer

NAMES = {
    "precision": "P_{k}",
    "recall": "recall_{k}",
    "hit": "success_{k}",
    "map": "map_cut_{k}",
    "ndcg": "ndcg_cut_{k}",
}


def metric(case):
    name = NAMES[case["metric"]].format(k=case["k"])
    evaluator = pytrec_eval.RelevanceEvaluator(case["truth"], {name.replace(f"_{case['k']}", f".{case['k']}")})
    values = evaluator.evaluate({user: dict(rows) for user, rows in case["recs"].items()})
    return sum(of[name] for of in values.values()) / len(values)


answer(metric)
