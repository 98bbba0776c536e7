"""Evidently: a frame of the listed items, the rank as prediction, 0 as target of what is not in the truth.

It has no number for a place that no list with a relevant item reaches: there it is asked for the last that one does.
"""

import pandas as pd
from evidently.legacy import metrics
from evidently.legacy.pipeline.column_mapping import ColumnMapping
from evidently.legacy.report import Report
from lines import answer, best_first

CLASSES = {
    "precision": "PrecisionTopKMetric",
    "recall": "RecallTopKMetric",
    "hit": "HitRateKMetric",
    "map": "MAPKMetric",
    "mrr": "MRRKMetric",
    "ndcg": "NDCGKMetric",
}


def metric(case):
    rows = [
        (user, item, case["truth"].get(user, {}).get(item, 0), rank)
        for user, row in case["recs"].items()
        for rank, item in enumerate(best_first(row), 1)
    ]
    frame = pd.DataFrame(rows, columns=["user_id", "item_id", "target", "prediction"])
    k = min(
        case["k"], frame.groupby("user_id").filter(lambda of: (of["target"] > 0).any()).groupby("user_id").size().max()
    )
    measure = getattr(metrics, CLASSES[case["metric"]])(k=k)
    columns = ColumnMapping(recommendations_type="rank")
    Report([measure]).run(reference_data=None, current_data=frame, column_mapping=columns)
    series = measure.get_result().current
    return series[k - 1 if min(series.index) == 0 else k]


answer(metric)
