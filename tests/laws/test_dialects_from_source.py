"""Dialects of programs that were not run: values worked out from their source."""

from __future__ import annotations

import math

import pytest

import atkay

RECS = {1: ["a", "x", "b"], 2: ["c"], 3: ["x"]}
TRUTH = {1: {"a": 1, "b": 3, "c": 2}, 2: {"c": 2, "d": 3}}


def of_users(spec: str, dialect: str, **fields: float) -> list[float]:
    result = atkay.evaluate(RECS, TRUTH, spec, dialect=dialect, **fields)  # type: ignore[arg-type]
    values: list[float] = result.query_values[:, 0].tolist()
    return values


def test_elasticsearch() -> None:
    # Three hits are returned, so the ideal of user 1 has three ratings, and with k = 2 two; that of user 2 has one.
    assert of_users("precision@5", "elasticsearch") == [2 / 3, 1, 0]
    assert of_users("precision@5", "elasticsearch", min_relevance=2) == [1 / 3, 1, 0]
    assert of_users("recall@5", "elasticsearch") == [2 / 3, 1 / 2, 0]
    assert of_users("mean_reciprocal_rank@5", "elasticsearch", min_relevance=2) == [1 / 3, 1, 0]
    gained = (2**1 - 1) / math.log2(2) + (2**3 - 1) / math.log2(4)
    assert of_users("dcg@5", "elasticsearch", min_relevance=2) == pytest.approx([gained, 3, 0])
    ideal = 7 / math.log2(2) + 3 / math.log2(3) + 1 / math.log2(4)
    assert of_users("dcg(normalize=true)@5", "elasticsearch") == pytest.approx([gained / ideal, 3 / 7, 0])
    ideal = 7 / math.log2(2) + 3 / math.log2(3)
    assert of_users("dcg(normalize=true)@2", "elasticsearch") == pytest.approx([1 / ideal, 3 / 7, 0])
    # (2^1 - 1) / 2^3 at rank 1; then with 7/8 left (2^3 - 1) / 2^3 at rank 3.
    name = "expected_reciprocal_rank(maximum_relevance=3)@5"
    assert of_users(name, "elasticsearch") == pytest.approx([1 / 8 + 7 / 8 * 7 / 8 / 3, 3 / 8, 0])
    assert list(atkay.evaluate(RECS, TRUTH, "recall", dialect="elasticsearch")) == ["recall@10"]


def test_session_rec() -> None:
    # Ranks 1 and 2 have a discount of 1, rank 3 one of log2(3).
    best = 1 + 1 + 1 / math.log2(3)
    assert of_users("NDCG@5", "session_rec") == pytest.approx([(1 + 1 / math.log2(3)) / best, 1 / 2])
    assert of_users("NDCG@2", "session_rec") == pytest.approx([1 / 2, 1 / 2])
    assert of_users("Precision@5", "session_rec") == [2 / 5, 1 / 5]
    assert of_users("Recall@5", "session_rec") == [2 / 3, 1 / 2]
    assert of_users("HitRate@5", "session_rec") == of_users("MRR@5", "session_rec") == [1, 1]
    assert list(atkay.evaluate(RECS, TRUTH, "MRR", dialect="session_rec")) == ["mrr@20"]


def test_warprec() -> None:
    # Gains of 2^(1 + 1) - 1 = 3, 15 and 7 for grades 1, 3 and 2.
    found = 3 / math.log2(2) + 15 / math.log2(4)
    ideal = 15 / math.log2(2) + 7 / math.log2(3) + 3 / math.log2(4)
    ideal_of_2 = 15 / math.log2(2) + 7 / math.log2(3)
    assert of_users("nDCG@5", "warprec") == pytest.approx([found / ideal, 7 / ideal_of_2])
    binary = 1 + 1 / math.log2(3) + 1 / math.log2(4)
    of_2 = 1 / (1 + 1 / math.log2(3))
    assert of_users("nDCGRendle2020@5", "warprec") == pytest.approx([(1 + 1 / math.log2(4)) / binary, of_2])
    assert of_users("MAP@2", "warprec") == [1 / 2, 1 / 2]
    assert of_users("Precision@5", "warprec") == [2 / 5, 1 / 5]
