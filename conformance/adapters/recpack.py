"""RecPack: sparse matrices of users and items. A score of 0 is stored like any other, so the item stays in the list; an
item that stands twice keeps its last score. In the matrix of the truth a relevant item is 1.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from entries import CUTOFFS, Data, Entry
from recpack import metrics
from recpack.metrics.base import Metric
from recpack.metrics.ips import IPSHitRateK
from scipy.sparse import csr_matrix

KINDS = ("PrecisionK", "RecallK", "CalibratedRecallK", "HitK", "ReciprocalRankK", "DCGK", "NDCGK", "DiscountedGainK")
INPUTS = {
    "y_true": "sparse matrix of users and items: 1 for the rows of truth.csv that the option 'truth' names",
    "y_pred": "sparse matrix of the scores in recs.csv",
    "calculated": "calls metric.calculate(y_true, y_pred) and returns the metric",
    "fitted": "calls metric.fit(y_true) as well",
    "named": "puts users' names for their numbers",
}


def ask(data: Data) -> tuple[dict[str, Any], Iterator[Entry]]:
    kinds = {name: getattr(metrics, name) for name in KINDS}
    return kinds | {"IPSHitRateK": IPSHitRateK, "named": data.named}, entries(data)


def matrix(data: Data, rows: list[tuple[str, str, Any]]) -> csr_matrix:
    cells = {(user, item): float(value) for user, item, value in data.coded(rows)}
    places = tuple(zip(*cells, strict=True))
    return csr_matrix((list(cells.values()), places), shape=(len(data.users), len(data.items)))


def entries(data: Data) -> Iterator[Entry]:
    y_pred = matrix(data, data.recs)
    for rows, which in data.interactions():
        y_true = matrix(data, [(user, item, 1) for user, item, _ in rows])

        def calculated(metric: Metric, y_true: csr_matrix = y_true) -> Metric:
            metric.calculate(y_true, y_pred)
            return metric

        for name in KINDS:
            for k in CUTOFFS:
                done = f"calculated({name}({k}))"
                each = f"named({done}.results.groupby('user_id')['score'].sum().to_dict())"
                yield Entry(name, f"{done}.value", k, which, each, {"calculated": calculated})

        def fitted(metric: IPSHitRateK, y_true: csr_matrix = y_true) -> Metric:
            metric.fit(y_true)
            metric.calculate(y_true, y_pred)
            return metric

        for k in CUTOFFS:
            done = f"fitted(IPSHitRateK({k}))"
            each = f"named({done}.results.groupby('user_id')['score'].sum().to_dict())"
            yield Entry("IPSHitRateK", f"{done}.value", k, which | {"fitted": "y_true"}, each, {"fitted": fitted})
        if any(grade > 1 for _, _, grade in rows):
            y_grades = matrix(data, rows)

            def graded(metric: Metric, y_true: csr_matrix = y_grades) -> Metric:
                metric.calculate(y_true, y_pred)
                return metric

            for name in KINDS:
                for k in CUTOFFS:
                    options = which | {"y_true": "relevance"}
                    yield Entry(name, f"calculated({name}({k})).value", k, options, scope={"calculated": graded})
