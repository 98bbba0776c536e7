"""Two queries whose numbers can be checked by hand, and what every file and object of them has to give."""

from __future__ import annotations

from math import log2
from typing import Any

import pytest

import atkay

QRELS = {"q1": {"d1": 2, "d2": 0, "d3": 1}, "q2": {"d4": 1}}
RUN = {"q1": {"d2": 0.9, "d1": 0.8, "d5": 0.1}, "q2": {"d4": 0.7, "d1": 0.3}}
METRICS = ["mrr", "precision@2", "ndcg@3"]
# q1: the first relevant document, of grade 2, stands at rank 2 of 3; the best order is grade 2, then grade 1.
# q2: the only relevant document stands first.
NUMBERS = {
    "mrr": (1 / 2 + 1 / 1) / 2,
    "precision@2": (1 / 2 + 1 / 2) / 2,
    "ndcg@3": ((3 / log2(3)) / (3 / log2(2) + 1 / log2(3)) + 1) / 2,
}
FINGERPRINT = atkay.evaluate(RUN, QRELS, METRICS).fingerprint


def agrees(recs: Any = RUN, truth: Any = QRELS, **fields: Any) -> atkay.Result:
    """The numbers by hand, and the fingerprint of the dicts."""
    result = atkay.evaluate(recs, truth, METRICS, **fields)
    assert dict(result.items()) == pytest.approx(NUMBERS, abs=1e-12)
    assert result.fingerprint == FINGERPRINT
    return result


def rows(lists: dict[str, dict[str, Any]], *names: str) -> list[dict[str, Any]]:
    """Records of query, document and number, under the names of a format."""
    return [
        dict(zip(names, row, strict=True)) for q, of_q in lists.items() for row in ((q, *one) for one in of_q.items())
    ]
