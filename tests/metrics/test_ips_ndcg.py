"""IPS nDCG: worked cases."""

from __future__ import annotations

import math

import pytest

import atkay

TRAIN = {"ann": ["tea", "jam"], "bob": ["tea"], "cat": ["tea"], "dan": ["tea"]}


def test_worked_case() -> None:
    # Weights are 1 for tea and 4 for jam. At 1 the ideal list has jam.
    recs, truth = {"ann": ["tea", "x", "jam"]}, {"ann": ["tea", "jam", "oat"]}
    gain, plain, best = 1 + 4 / 2, 1 + 1 / math.log2(3), 4 + 1 / math.log2(3)
    specs = {
        "ips_ndcg@3": gain / plain,
        "ips_ndcg(estimator=snips)@3": gain / best,
        "ips_ndcg(estimator=snips)@1": 1 / 4,
        "ips_ndcg": gain / plain,
    }
    result = atkay.evaluate(recs, truth, [*specs], train=TRAIN)
    assert dict(result.means) == pytest.approx(specs)


def test_the_best_order_scores_1_and_equal_propensities_leave_ndcg() -> None:
    assert (
        atkay.evaluate({"ann": ["jam", "tea"]}, {"ann": ["tea", "jam"]}, "ips_ndcg(estimator=snips)", train=TRAIN)[
            "ips_ndcg(estimator=snips)"
        ]
        == 1
    )
    recs, truth, table = {"ann": ["x", "tea"]}, {"ann": ["tea", "jam"]}, {"tea": 0.5, "jam": 0.5}
    result = atkay.evaluate(recs, truth, ["ips_ndcg(estimator=snips,propensity=given)", "ndcg"], propensity=table)
    assert result["ips_ndcg(estimator=snips,propensity=given)"] == pytest.approx(result["ndcg"])
