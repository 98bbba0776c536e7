"""ranx: Qrels and Run objects, users made comparable."""

from lines import answer
from ranx import Qrels, Run, evaluate

NAMES = {"hit": "hit_rate"}


def metric(case):
    run = Run({user: dict(rows) for user, rows in case["recs"].items()})
    name = f"{NAMES.get(case['metric'], case['metric'])}@{case['k']}"
    return evaluate(Qrels(case["truth"]), run, name, make_comparable=True)


answer(metric)
