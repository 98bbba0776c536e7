"""Published values of several metrics at once."""

from __future__ import annotations

import math

import numpy as np
import pytest

import atkay

N = 10_000
RANKS = {"A": [100] * 5, "B": [40, 40, 8437, 9266, 4482], "C": [212, 2, 743, 5342, 1548]}


@pytest.mark.parametrize(
    ("system", "auc", "ap", "ndcg", "recall"),
    [("A", 0.990, 0.010, 0.150, 0), ("B", 0.555, 0.010, 0.122, 0), ("C", 0.843, 0.101, 0.208, 0.2)],
)
def test_krichene_and_rendle(system: str, auc: float, ap: float, ndcg: float, recall: float) -> None:
    # User u has one relevant item, at the given rank of N. AUC is the mean of (N - rank) / (N - 1).
    ranks = RANKS[system]
    lists = np.tile(np.arange(1, N + 1), (len(ranks), 1))
    result = atkay.evaluate(
        lists, np.array(ranks)[:, None], ["auc", "group_auc", "map", "ndcg", "recall@10", "median_rank", "mpr"]
    )
    assert result["auc"] == pytest.approx(sum((N - rank) / (N - 1) for rank in ranks) / 5, abs=1e-12)
    assert result["auc"] == pytest.approx(auc, abs=5e-4)
    assert result["group_auc"] == pytest.approx(result["auc"], abs=1e-12)
    assert result["map"] == pytest.approx(sum(1 / rank for rank in ranks) / 5, abs=1e-12)
    assert result["map"] == pytest.approx(ap, abs=5e-4)
    assert result["ndcg"] == pytest.approx(sum(1 / math.log2(rank + 1) for rank in ranks) / 5, abs=1e-12)
    assert result["ndcg"] == pytest.approx(ndcg, abs=5e-4)
    assert result["recall@10"] == recall
    assert result["median_rank"] == sorted(ranks)[2]
    assert result["mpr"] == pytest.approx(1 - result["auc"], abs=1e-12)  # (rank - 1) / (N - 1)
