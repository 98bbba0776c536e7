"""Ragas: context precision and recall by id of the k best, a sample per user of the truth."""

import asyncio

from lines import answer, best_first
from ragas import SingleTurnSample
from ragas.metrics import IDBasedContextPrecision, IDBasedContextRecall
from ragas.utils import safe_nanmean

CLASSES = {"precision": IDBasedContextPrecision, "recall": IDBasedContextRecall}


def metric(case):
    samples = [
        SingleTurnSample(
            retrieved_context_ids=best_first(case["recs"].get(user, []), case["k"]),
            reference_context_ids=[item for item, grade in grades.items() if grade > 0],
        )
        for user, grades in case["truth"].items()
    ]
    measure = CLASSES[case["metric"]]()
    return safe_nanmean([asyncio.run(measure.single_turn_ascore(sample)) for sample in samples])


answer(metric)
