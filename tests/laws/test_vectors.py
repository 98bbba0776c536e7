"""Published vectors of ranking metrics (VECTORS, part 2)."""

from __future__ import annotations

import pytest

import atkay


@pytest.mark.parametrize(
    ("spec", "value"),
    # Hits at ranks 1 and 3 of four relevant items: the sum is 1/1 + 2/3.
    [("map@3", (5 / 3) / 4), ("map(per=capped)@3", (5 / 3) / 3), ("map(per=hits)@3", (5 / 3) / 2)],
)
def test_average_precision(spec: str, value: float) -> None:
    result = atkay.evaluate({1: ["a", "x", "b"]}, {1: ["a", "b", "c", "d"]}, spec)
    assert result[spec] == pytest.approx(value)
    assert result[spec] == pytest.approx(
        {"map@3": 0.416667, "map(per=capped)@3": 0.555556}.get(spec, 0.833333), abs=1e-6
    )


def graded(gains: list[int], missed: list[int]) -> tuple[dict[int, list[int]], dict[int, dict[int, int]]]:
    """One list whose items have these gains, and items that it misses."""
    return {1: list(range(len(gains)))}, {1: dict(enumerate([*gains, *missed]))}


def test_jarvelin_and_kekalainen_2002() -> None:
    gains, ideal = [3, 2, 3, 0, 0, 1, 2, 2, 3, 0], [3, 3, 3, 2, 2, 2, 1, 1, 1, 1]
    missed = list(ideal)
    for gain in gains:
        if gain:
            missed.remove(gain)
    recs, truth = graded(gains, missed)
    ks = ",".join(map(str, range(1, 11)))
    specs = f"dcg(gain=linear,discount=jk)@{ks}", f"ndcg(gain=linear,discount=jk)@{ks}"
    result = atkay.evaluate(recs, truth, specs)
    dcg = [3, 5, 6.89, 6.89, 6.89, 7.28, 7.99, 8.66, 9.61, 9.61]
    ndcg = [1, 0.83, 0.87, 0.78, 0.71, 0.69, 0.73, 0.77, 0.83, 0.81]
    for k in range(1, 11):
        assert result[f"dcg(gain=linear,discount=jk)@{k}"] == pytest.approx(dcg[k - 1], abs=0.0051)
        assert result[f"ndcg(gain=linear,discount=jk)@{k}"] == pytest.approx(ndcg[k - 1], abs=0.0051)


@pytest.mark.parametrize(
    ("spec", "value"),
    [
        ("dcg(gain=linear)@6", 6.861127),
        ("ndcg(gain=linear)@6", 0.785002),
        ("ndcg(gain=linear,ideal=listed)@6", 0.960808),
        ("ndcg@6", 0.751083),
    ],
)
def test_graded_list_with_missed_items(spec: str, value: float) -> None:
    assert atkay.evaluate(*graded([3, 2, 3, 0, 1, 2], [3, 2]), spec)[spec] == pytest.approx(value, abs=1e-6)


@pytest.mark.parametrize(
    ("scores", "spec", "value"),
    [
        ([0.1, 0.2, 0.3, 4, 70], "ndcg(gain=linear)", 0.695694),
        ([0.05, 1.1, 1, 0.5, 0], "ndcg(gain=linear)", 0.493680),
        ([0.05, 1.1, 1, 0.5, 0], "ndcg(gain=linear)@4", 0.352024),
    ],
)
def test_scikit_learn(scores: list[float], spec: str, value: float) -> None:
    truth = {1: dict(enumerate([10, 0, 0, 1, 5]))}
    assert atkay.evaluate({1: dict(enumerate(scores))}, truth, spec)[spec] == pytest.approx(value, abs=1e-6)


@pytest.mark.parametrize(("ties", "value"), [("best", 1.0), ("worst", 0.5)])
def test_scikit_learn_ties_lie_between_best_and_worst(ties: str, value: float) -> None:
    # Scores 1 0 0 0 1: grades 10 and 5 tie for the first place. Best 10/10, worst 5/10; scikit-learn averages to 0.75.
    recs, truth = {1: dict(enumerate([1, 0, 0, 0, 1]))}, {1: dict(enumerate([10, 0, 0, 1, 5]))}
    spec = "ndcg(gain=linear)@1"
    assert atkay.evaluate(recs, truth, spec, ties=ties)[spec] == value
