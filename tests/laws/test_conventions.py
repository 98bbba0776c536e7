"""One small data set on which the libraries disagree: each one's printed numbers, by words (CONVENTIONS, part 3)."""

from __future__ import annotations

from typing import Any

import pytest

import atkay

TRUTH = {"A": ["i1", "i2", "i3", "i4", "i5", "i6"], "B": ["i1", "i2"], "C": ["i1"]}
RECS = {"A": ["i1", "i9", "i2", "i8", "i3"], "B": ["i1", "i7"], "D": ["i1", "i2", "i3"]}
# What a library sees that is given the listed rows only, each with its label.
CANDIDATES_ONLY = {
    "A": {"i1": 1, "i9": 0, "i2": 1, "i8": 0, "i3": 1},
    "B": {"i1": 1, "i7": 0},
    "D": {"i1": 0, "i2": 0, "i3": 0},
}


def four(value: float) -> Any:
    return pytest.approx(value, abs=5.0001e-5)


@pytest.mark.parametrize(
    ("library", "protocol", "printed"),
    [
        (
            "pytrec_eval",  # its own nDCG@5 is 0.6265463, the mean of 0.6399454 and 0.6131472
            {"no_recs": "skip"},
            {"p@5": 0.4, "r@5": 0.5, "hr@5": 1, "map@5": 0.4389, "mrr": 1, "ndcg(gain=linear)@5": 0.6265},
        ),
        (
            "ir-measures, ranx make_comparable",
            {},
            {"p@5": 0.2667, "r@5": 0.3333, "hr@5": 0.6667, "map@5": 0.2926, "mrr": 0.6667, "ndcg@5": 0.4177},
        ),
        (
            "rectools",
            {},
            {
                "p@5": 0.2667,
                "r@5": 0.3333,
                "hr@5": 0.6667,
                "map@5": 0.2926,
                "mrr@5": 0.6667,
                "ndcg(gain=binary,ideal=full)@5": 0.3264,
            },
        ),
        (
            "rectools r_precision, divide_by_k, divide_by_achievable",
            {},
            {"precision(per=capped)@5": 0.3667, "map(per=k)@5": 0.2178, "ndcg(gain=binary)@5": 0.4177},
        ),
        (
            "replay, recbole",
            {},
            {
                "p@5": 0.2667,
                "r@5": 0.3333,
                "hr@5": 0.6667,
                "map(per=capped)@5": 0.3178,
                "mrr@5": 0.6667,
                "ndcg@5": 0.4177,
            },
        ),
        (
            "recpack",
            {},
            {
                "p@5": 0.2667,
                "r@5": 0.3333,
                "recall(per=capped)@5": 0.3667,
                "hit(count=number)@5": 1.3333,
                "mrr@5": 0.6667,
                "ndcg@5": 0.4177,
            },
        ),
        ("recommenders", {"no_recs": "skip"}, {"p@5": 0.4, "r@5": 0.5, "mnap@5": 0.4767, "map@5": 0.4389}),
        ("recommenders, ndcg over all of the truth", {}, {"ndcg(gain=binary,discount=ln)@5": 0.4177}),
        (
            "rs_metrics",
            {},
            {"r@5": 0.3333, "hr@5": 0.6667, "map@5": 0.2926, "mrr@5": 0.6667, "ndcg@5": 0.4177},
        ),
        (
            "lenskit",
            {"no_recs": "skip"},
            {
                "precision(per=listed)@5": 0.55,
                "recall(per=capped)@5": 0.55,
                "hr@5": 1,
                "map(per=listed)@5": 0.4767,
                "mrr@5": 1,
                "ndcg(discount=jk)@5": 0.5394,
            },
        ),
        ("elliot", {"no_recs": "skip"}, {"p@5": 0.4, "r@5": 0.5, "hr@5": 1, "mrr@5": 1, "ndcg@5": 0.6265}),
    ],
)
def test_a_librarys_row(library: str, protocol: dict[str, Any], printed: dict[str, float]) -> None:
    result = atkay.evaluate(RECS, TRUTH, list(printed), **protocol)
    assert {spec: result[spec] for spec in printed} == {spec: four(value) for spec, value in printed.items()}


def test_torchmetrics_sees_candidates_only() -> None:
    printed = {
        "p@5": 0.2667,
        "r@5": 0.6667,
        "hr@5": 0.6667,
        "map(per=hits)@5": 0.5852,
        "mrr@5": 0.6667,
        "ndcg@5": 0.6285,
    }
    result = atkay.evaluate(RECS, CANDIDATES_ONLY, list(printed), no_truth="zero")
    assert {spec: result[spec] for spec in printed} == {spec: four(value) for spec, value in printed.items()}
    listed = atkay.evaluate(RECS, TRUTH, "ndcg(ideal=listed)@5", no_recs="skip", no_truth="zero")
    assert listed["ndcg(ideal=listed)@5"] == four(0.6285)


@pytest.mark.parametrize(
    ("user", "spec", "printed"),
    [
        ("A", "map@5", 0.3778),
        ("A", "map(per=capped)@5", 0.4533),
        ("A", "map(per=k)@5", 0.4533),
        ("A", "map(per=hits)@5", 0.7556),
        ("A", "ndcg@5", 0.6399),
        ("A", "ndcg(discount=jk)@5", 0.5788),
        ("B", "ndcg@5", 0.6131),
        ("B", "ndcg(ideal=full)@5", 0.3392),
        ("B", "ndcg(discount=jk)@5", 0.5),
        ("B", "ndcg(ideal=listed)@5", 1.0),
        ("B", "map@5", 0.5),
        ("B", "map(per=k)@5", 0.2),
        ("B", "map(per=hits)@5", 1.0),
    ],
)
def test_one_user_alone(user: str, spec: str, printed: float) -> None:
    assert atkay.evaluate({user: RECS[user]}, {user: TRUTH[user]}, spec)[spec] == four(printed)


@pytest.mark.parametrize(
    ("spec", "printed"),
    [
        ("ndcg(gain=linear)@3", 0.8175),
        ("ndcg@3", 0.7896),
        ("ndcg(gain=binary)@3", 0.7654),
        ("ndcg(gain=linear,ideal=listed)@3", 0.9134),
        ("ndcg(gain=linear,discount=jk)@3", 0.8880),
    ],
)
def test_graded(spec: str, printed: float) -> None:
    assert atkay.evaluate({1: ["b", "a", "z"]}, {1: {"a": 3, "b": 2, "c": 1}}, spec)[spec] == four(printed)


@pytest.mark.parametrize(("ties", "printed"), [("item_desc", 0.5), ("item", 1.0), ("given", 1.0), ("worst", 0.5)])
def test_tie(ties: Any, printed: float) -> None:
    result = atkay.evaluate({1: {"a": 0.7, "b": 0.7}}, {1: ["a"]}, "mrr", ties=ties)
    assert result["mrr"] == printed


def test_scores_are_compared_in_full_precision() -> None:
    assert atkay.evaluate({1: {"b": 0.1 + 1e-9, "a": 0.1 + 1.1e-9}}, {1: ["a"]}, "mrr")["mrr"] == 1


def test_users_are_paired_by_id_not_by_place() -> None:
    recs = {"q2": ["d2"], "q1": ["d1"]}
    assert atkay.evaluate(recs, {"q1": ["d1"], "q2": ["d2"]}, "mrr")["mrr"] == 1


def test_repeated_recommendations_count_once() -> None:
    recs = atkay_rows("u", ["a", "a", "a"])
    result = atkay.evaluate(recs, {"u": ["a", "b"]}, ["p@3", "r@3"], duplicates="first")
    assert result["p@3"] == four(0.3333)
    assert result["r@3"] == 0.5
    assert result.population.duplicated == 2


def test_r_precision_counts_users_without_a_hit() -> None:
    assert atkay.evaluate({"u1": ["a"], "u2": ["x"]}, {"u1": ["a"], "u2": ["b"]}, "r_precision")["r_precision"] == 0.5


@pytest.mark.parametrize(("word", "printed"), [("zero", 0.5), ("one", 1.0), ("skip", 1.0)])
def test_empty_truth(word: Any, printed: float) -> None:
    result = atkay.evaluate({1: ["a"], 2: ["a"]}, {1: ["a"], 2: {"a": 0}} | {1: {"a": 1}}, "ndcg@1", no_truth=word)
    assert result["ndcg@1"] == printed
    assert result.summaries["ndcg@1"].users == (1 if word == "skip" else 2)


def atkay_rows(user: str, items: list[str]) -> Any:
    import polars as pl

    return pl.DataFrame({"user": [user] * len(items), "item": items})
