"""IPS DCG: worked cases."""

from __future__ import annotations

import math

import pytest

import atkay

TRAIN = {"ann": ["tea", "jam"], "bob": ["tea"], "cat": ["tea"], "dan": ["tea"]}


def test_worked_case() -> None:
    # Weights are 1 for tea and 4 for jam. Ann's hits stand at ranks 1 and 2, bob's at 3, below the cut at 2.
    recs, truth = {"ann": ["jam", "tea"], "bob": ["x", "y", "tea"]}, {"ann": ["tea", "jam"], "bob": ["tea"]}
    specs = ["ips_dcg@2", "ips_dcg(estimator=snips)@2", "ips_dcg"]
    found = atkay.evaluate(recs, truth, specs, train=TRAIN).per_query
    gain = 4 / 1 + 1 / math.log2(3)
    assert found["ips_dcg@2"].to_list() == pytest.approx([gain / 2, 0])
    assert found["ips_dcg(estimator=snips)@2"].to_list() == pytest.approx([gain / 5, 0])
    assert found["ips_dcg"].to_list() == pytest.approx([gain / 2, 1 / 2])


def test_equal_propensities_leave_dcg_over_the_relevant_items() -> None:
    recs, truth = {"ann": ["x", "jam", "tea"]}, {"ann": ["tea", "jam", "rye"]}
    table = dict.fromkeys(["tea", "jam", "rye"], 1.0)
    for estimator in ("ips", "snips"):
        spec = f"ips_dcg(estimator={estimator},propensity=given)@3"
        result = atkay.evaluate(recs, truth, [spec, "dcg(gain=binary)@3"], propensity=table)
        assert result[spec] == pytest.approx(result["dcg(gain=binary)@3"] / 3)
