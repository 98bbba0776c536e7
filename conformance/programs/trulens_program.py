"""TruLens: a query per user of the truth, a chunk per item of it with its grade as score; users are averaged here."""

import math

from lines import answer, best_first
from trulens.feedback import GroundTruthAgreement
from trulens.feedback.llm_provider import LLMProvider

NAMES = {"precision": "precision_at_k", "recall": "recall_at_k", "hit": "ir_hit_rate", "ndcg": "ndcg_at_k"}


def metric(case):
    golden = [
        {"query": user, "expected_chunks": [{"text": item, "expect_score": grade} for item, grade in grades.items()]}
        for user, grades in case["truth"].items()
    ]
    agreement = GroundTruthAgreement(golden, provider=LLMProvider.model_construct())
    measure, cut = getattr(agreement, NAMES.get(case["metric"], "mrr")), {"k": case["k"]}
    given = {} if case["metric"] == "mrr" else cut
    values = [measure(user, best_first(case["recs"].get(user, [])), **given) for user in case["truth"]]
    values = [value for value in values if not math.isnan(value)]
    return sum(values) / len(values)


answer(metric)
