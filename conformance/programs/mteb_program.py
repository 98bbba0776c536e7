"""MTEB: qrels and run as they are; a list without qrels would be a KeyError, and is left out."""

from lines import answer
from mteb._evaluators.retrieval_metrics import calculate_retrieval_scores, make_score_dict

NAMES = {"hit": "hit_rate"}
CUTOFFS = (1, 3, 5, 10)  # some of what it reports has to be there


def metric(case):
    run = {user: dict(rows) for user, rows in case["recs"].items() if user in case["truth"]}
    found = calculate_retrieval_scores(run, case["truth"], sorted({*CUTOFFS, case["k"]}))._asdict()
    parts = {name.lstrip("_"): value for name, value in found.items() if name != "all_scores"}
    scores = make_score_dict(_map=parts.pop("map"), task_scores={}, **parts)
    return scores[f"{NAMES.get(case['metric'], case['metric'])}_at_{case['k']}"]


answer(metric)
