"""Sampled candidates: the published example of Krichene and Rendle, and the estimators against their definitions."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import atkay
from atkay.errors import InputError, ProtocolError, SampledWarning

RANKS = {"A": [100] * 5, "B": [40, 40, 8437, 9266, 4482], "C": [212, 2, 743, 5342, 1548]}
N, M = 10_000, 99
SPECS = ["mrr", "ndcg", "recall@10"]  # with one relevant item AP is the reciprocal rank

pytestmark = pytest.mark.filterwarnings("ignore::atkay.errors.SampledWarning")


@pytest.mark.parametrize(
    ("system", "values"),
    [("A", [0.6366, 0.7290, 1.0]), ("B", [0.3407, 0.4473, 0.4]), ("C", [0.3262, 0.4600, 0.5694])],
)
def test_what_99_sampled_items_show_on_average(system: str, values: list[float]) -> None:
    """The order of the systems turns round: C is best on the catalogue, A on the samples."""
    expected = atkay.Sampled(catalog_size=N, negatives=M).expected(SPECS, RANKS[system])
    assert [np.mean(expected[spec]) for spec in SPECS] == pytest.approx(values, abs=5e-5)


def lists(sampled_ranks: list[int], negatives: int) -> tuple[dict[int, list[int]], dict[int, list[int]]]:
    """A list of all candidates per user, the relevant item (0) at the given rank."""
    recs = {}
    for user, rank in enumerate(sampled_ranks):
        others = list(range(1, negatives + 1))
        recs[user] = [*others[: rank - 1], 0, *others[rank - 1 :]]
    return recs, {user: [0] for user in recs}


def test_unbiased_rank() -> None:
    # n = 101, m = 10: sampled ranks 1, 2 and 11 stand for 1, 1 + 100/10 = 11 and 1 + 100 * 10/10 = 101.
    recs, truth = lists([1, 2, 11], 10)
    sampled = atkay.Sampled(catalog_size=101, negatives=10, estimator="rank")
    result = atkay.evaluate(recs, truth, ["mrr", "recall@10", "recall@11", "ndcg"], sampled=sampled)
    assert result.per_query["mrr"].to_list() == pytest.approx([1, 1 / 11, 1 / 101])
    assert result.per_query["recall@10"].to_list() == [1, 0, 0]
    assert result.per_query["recall@11"].to_list() == [1, 1, 0]
    assert result.per_query["ndcg"].to_list() == pytest.approx([1, 1 / np.log2(12), 1 / np.log2(102)])


def test_the_unbiased_rank_is_unbiased() -> None:
    """A metric that is linear in the rank keeps its mean: the estimated ranks average to the true one."""
    sampled = atkay.Sampled(catalog_size=N, negatives=M, estimator="rank")
    estimate = 1 + (N - 1) * np.arange(M + 1) / M
    for rank in (1, 7, 212, 5342, N):
        assert sampled.chances(np.array([rank]))[0] @ estimate == pytest.approx(rank)


@pytest.mark.parametrize("gamma", [0.01, 0.1, 0.5])
def test_the_tradeoff_solves_its_equations(gamma: float) -> None:
    """((1 - gamma) A'PA + gamma diag(c)) f = A'P target, P = 1/n and c = A'P 1, written out for a small catalogue."""
    n, m = 60, 8
    sampled = atkay.Sampled(catalog_size=n, negatives=m, estimator="tradeoff", gamma=gamma)
    chances = np.array([[_binomial(m, x, (rank - 1) / (n - 1)) for x in range(m + 1)] for rank in range(1, n + 1)])
    target = np.array([1 / np.log2(rank + 1) for rank in range(1, n + 1)])
    left = (1 - gamma) * chances.T @ chances / n + gamma * np.diag(chances.sum(axis=0) / n)
    solved = np.linalg.solve(left, chances.T @ target / n)
    assert sampled.estimates([atkay.parse("ndcg")])[:, 0] == pytest.approx(solved, rel=1e-8)


def _binomial(m: int, x: int, p: float) -> float:
    from math import comb

    return comb(m, x) * p**x * (1 - p) ** (m - x)


def test_least_squares_comes_closest() -> None:
    """No other values for the sampled ranks come nearer to the metric on the catalogue, all ranks alike."""
    n, m = 40, 5
    sampled = atkay.Sampled(catalog_size=n, negatives=m, estimator="least_squares")
    chances = sampled.chances(np.arange(1, n + 1))
    target = np.array([1.0 if rank <= 4 else 0.0 for rank in range(1, n + 1)])
    best = sampled.estimates([atkay.parse("recall@4")])[:, 0]
    error = ((chances @ best - target) ** 2).sum()
    rng = np.random.default_rng(1)
    for scale in (1e-3, 1e-2, 1e-1, 1):
        for _ in range(20):
            other = best + scale * rng.standard_normal(m + 1)
            assert ((chances @ other - target) ** 2).sum() >= error


def test_blocks_of_ranks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    sampled = atkay.Sampled(catalog_size=300, negatives=9, estimator="tradeoff")
    whole = sampled.estimates([atkay.parse("mrr")])
    monkeypatch.setattr("atkay.metrics.sampled.RANKS_PER_BLOCK", 7)
    assert sampled.estimates([atkay.parse("mrr")]) == pytest.approx(whole, rel=1e-9)


def test_estimates_bring_the_systems_back_in_order() -> None:
    """Averaged over the samples, the corrected recall@10 of C is above those of A and B, as on the catalogue."""
    sampled = atkay.Sampled(catalog_size=N, negatives=M, estimator="tradeoff", gamma=0.01)
    values = sampled.estimates([atkay.parse("recall@10")])[:, 0]
    means = {name: float(np.mean(sampled.chances(np.array(ranks)) @ values)) for name, ranks in RANKS.items()}
    assert means["C"] > max(means["A"], means["B"])


def test_the_result_says_that_it_is_sampled(tmp_path: Path) -> None:
    recs, truth = lists([1, 2], 10)
    sampled = atkay.Sampled(catalog_size=101, negatives=10)
    with pytest.warns(SampledWarning, match=r"10 of 101 items were ranked.*differently"):
        plain = atkay.evaluate(recs, truth, "mrr", sampled=sampled)
    assert plain["mrr"] == 0.75  # (1 + 1/2) / 2, as without the label
    assert "sampled: metrics on a sample of the catalogue, not corrected" in repr(plain)
    assert "sampled" in plain.definitions["mrr"].words
    plain.save(tmp_path / "result.json")
    assert atkay.Result.load(tmp_path / "result.json").sampled == sampled


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"catalog_size": 10, "negatives": 10}, "negatives must be below catalog_size"),
        ({"catalog_size": 10, "negatives": 0}, "negatives must be a positive integer, got 0"),
        ({"catalog_size": 2.5, "negatives": 1}, "catalog_size must be a positive integer"),
        ({"catalog_size": 10, "negatives": 5, "gamma": 1}, "gamma must be a number from 0 to below 1"),
        ({"catalog_size": 10, "negatives": 5, "estimator": "best"}, "estimator"),
    ],
)
def test_what_cannot_be(fields: dict[str, object], message: str) -> None:
    with pytest.raises(ProtocolError, match=message):
        atkay.Sampled(**fields)  # type: ignore[arg-type]  # wrong on purpose


def test_estimates_need_one_relevant_item_among_all_candidates() -> None:
    recs, truth = lists([1, 2], 10)
    sampled = atkay.Sampled(catalog_size=101, negatives=10, estimator="rank")
    for other in ({0: [0], 1: [0, 3]}, {0: [0], 1: [99]}, {0: {0: 1}, 1: {0: 2}}):
        with pytest.raises(InputError, match="one relevant item of grade 1 per user"):
            atkay.evaluate(recs, other, "mrr", sampled=sampled)
    with pytest.raises(InputError, match="a list of 4"):
        atkay.evaluate(recs | {1: [0, 1, 2, 3]}, truth, "mrr", sampled=sampled)
    with pytest.raises(ProtocolError, match="cannot be estimated from a sample"):
        atkay.evaluate(recs, truth, "coverage@3", catalog=range(200), sampled=sampled)
    with pytest.raises(ProtocolError, match="sampled must be Sampled"):
        atkay.evaluate(recs, truth, "mrr", sampled=99)  # type: ignore[arg-type]  # wrong on purpose


def test_equal_scores_are_averaged_in_estimates() -> None:
    """A constant scorer stands at each of 11 sampled ranks alike: the mean of 1 / (1 + 10 r) over r = 0..10."""
    sampled = atkay.Sampled(catalog_size=101, negatives=10, estimator="rank")
    mean = sum(1 / (1 + 10 * r) for r in range(11)) / 11
    for items in (range(11), range(10, -1, -1)):
        recs = {1: dict.fromkeys(items, 0.0)}
        assert atkay.evaluate(recs, {1: [0]}, "mrr", ties="expected", sampled=sampled)["mrr"] == pytest.approx(mean)


def test_auc_is_a_function_of_the_rank() -> None:
    # Sampled rank 2 of 11 stands for rank 11 of 101: 90 of 100 others come after it.
    recs, truth = lists([2], 10)
    sampled = atkay.Sampled(catalog_size=101, negatives=10, estimator="rank")
    assert atkay.evaluate(recs, truth, "auc", sampled=sampled)["auc"] == pytest.approx(0.9)
    for system, auc in (("A", 0.990), ("B", 0.555), ("C", 0.843)):
        expected = atkay.Sampled(catalog_size=N, negatives=M).expected("auc", RANKS[system])["auc"]
        assert np.mean(expected) == pytest.approx(auc, abs=5e-4)


def test_ranks_that_cannot_be(tmp_path: Path) -> None:
    sampled = atkay.Sampled(catalog_size=np.int64(101), negatives=np.int64(10))  # type: ignore[arg-type]  # as good
    for rank in (0, 102, 1.5):
        with pytest.raises(ProtocolError, match="ranks must be integers from 1 to 101"):
            sampled.expected("mrr", [rank])  # type: ignore[list-item]  # wrong on purpose
    with pytest.raises(ProtocolError, match="cannot be estimated"):
        sampled.expected("coverage@5", [1])
    recs, truth = lists([2], 10)
    atkay.evaluate(recs, truth, "mrr", sampled=sampled).save(tmp_path / "a.json")


def test_every_definition_says_that_candidates_were_sampled() -> None:
    keys = {"user": ["a", "a", "b"], "order": [1, 2, 1], "item": [1, 2, 3]}
    by_order = atkay.Columns(user=("user", "order"))
    result = atkay.evaluate(
        pl.DataFrame(keys),
        pl.DataFrame(keys),
        ["mrr", "recall(average=pooled)@1", "entropy@1"],
        columns={"recs": by_order, "truth": by_order},
        average_over="user",
        sampled=atkay.Sampled(catalog_size=10, negatives=2),
    )
    assert all("sampled: metrics on a sample" in definition.words for definition in result.definitions.values())
