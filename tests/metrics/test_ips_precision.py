"""IPS precision: worked cases."""

from __future__ import annotations

import pytest

import atkay

TRAIN = {"ann": ["tea", "jam"], "bob": ["tea"], "cat": ["tea"], "dan": ["tea"]}


def test_worked_case() -> None:
    # Weights are 1 for tea and 4 for jam; ann's mean is 2.5. Bob's list has two items, eve's none.
    recs = {"ann": ["jam", "x", "tea"], "bob": ["x", "tea"], "eve": []}
    truth = {"ann": ["tea", "jam"], "bob": ["tea"], "eve": ["tea"]}
    specs = ["ips_precision@3", "ips_precision(estimator=snips)@3", "ips_precision"]
    found = atkay.evaluate(recs, truth, specs, train=TRAIN).per_query
    assert found["ips_precision@3"].to_list() == pytest.approx([5 / 3, 1 / 3, 0])
    assert found["ips_precision(estimator=snips)@3"].to_list() == pytest.approx([5 / 2.5 / 3, 1 / 3, 0])
    assert found["ips_precision"].to_list() == pytest.approx([5 / 3, 1 / 2, 0])


def test_it_is_recall_times_relevant_items_over_k() -> None:
    recs, truth = {"ann": ["jam", "x", "tea"]}, {"ann": ["tea", "jam"]}
    for words in ("", "(estimator=snips)"):
        result = atkay.evaluate(recs, truth, [f"ips_precision{words}@1", f"ips_recall{words}@1"], train=TRAIN)
        assert result[f"ips_precision{words}@1"] == pytest.approx(2 / 1 * result[f"ips_recall{words}@1"])
