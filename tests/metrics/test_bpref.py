"""Bpref: the published value, trec_eval's own values, and plain loops."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import atkay
from atkay.errors import SpecError
from atkay.judged.judged import Judged
from variants import ListsAndGrades, lists_and_grades


def bpref(listed: list[int], grades: dict[int, float], per: str, least: float, k: int | None) -> float:
    relevant = {item for item, grade in grades.items() if grade > 0 and grade >= least}
    others = set(grades) - relevant
    most = len(relevant) + (10 if per == "plus10" else 0)
    divisor = min(len(others), len(relevant)) if per == "capped" else most
    value, above = 0.0, 0
    for item in listed[:k]:
        if item in relevant:
            value += 1 - min(above, most) / divisor if above else 1
        above += item in others
    return value / len(relevant)


@given(lists_and_grades, st.sampled_from([None, 1.0, 2.0]), st.sampled_from(["irrelevant", "drop"]))
def test_against_plain_loops(found: ListsAndGrades, least: float | None, unjudged: Any) -> None:
    found = {**found, 99: ([0], {0: 3.0})}
    recs = {user: listed for user, (listed, _) in found.items()}
    truth = {user: grades for user, (_, grades) in found.items()}
    words = [(per, k) for per in ("capped", "relevant", "plus10") for k in (1, 3, None)]
    metrics = [atkay.parse(f"bpref(per={per})" + ("" if k is None else f"@{k}")) for per, k in words]
    result = atkay.evaluate(recs, truth, metrics, min_relevance=least, unjudged=unjudged)
    for row in result.per_query.to_dicts():
        listed, grades = found[row["user"]]
        if unjudged == "drop":
            listed = [item for item in listed if item in grades]
        for metric, (per, k) in zip(metrics, words, strict=True):
            assert row[str(metric)] == pytest.approx(bpref(listed, grades, per, least or 0.0, k)), (row, metric)


def test_a_published_vector() -> None:
    # Judged, in rank order, N R R R R; not retrieved 3 N and 2 R. R = 6, N = 4: 4 hits, each 1 - 1/4, over 6.
    truth = {"r1": 1, "r2": 1, "r3": 1, "r4": 1, "r5": 1, "r6": 1, "n1": 0, "n2": 0, "n3": 0, "n4": 0}
    result = atkay.evaluate({1: ["n1", "r1", "r2", "r3", "r4"]}, {1: truth}, ["bpref", "bpref(per=relevant)"])
    assert result["bpref"] == 4 * (1 - 1 / 4) / 6 == 0.5
    assert result["bpref(per=relevant)"] == pytest.approx(4 * (1 - 1 / 6) / 6)


@pytest.mark.parametrize(
    ("listed", "grades", "value"),
    [
        # No item is judged and not relevant: recall.
        ("ax", {"a": 1, "b": 1}, 0.5),
        # The only judged non-relevant item stands above.
        ("ba", {"a": 1, "b": 0}, 0.0),
        # It is not listed; x is not judged.
        ("xa", {"a": 1, "b": 0}, 1.0),
        # a: 1 - 1/2; c: three above, counted up to R = 2, so 1 - 2/2.
        ("nambc", {"a": 2, "c": 1, "n": 0, "m": 0, "b": 0}, 0.25),
    ],
)
def test_trec_eval_agrees(listed: str, grades: dict[str, int], value: float) -> None:
    # RelevanceEvaluator({"q": grades}, {"bpref"}).evaluate({"q": {item: -rank}})["q"]["bpref"], pytrec_eval 0.5.
    assert atkay.evaluate({"q": list(listed)}, {"q": grades}, "bpref")["bpref"] == value


RANDOM = [
    # truth (item:grade), list, and bpref, recip_rank, map and Rprec of pytrec_eval 0.5:
    # RelevanceEvaluator(qrels, {"bpref", "recip_rank", "map", "Rprec"}).evaluate(run), scores falling along each list
    ("2:0 6:0 0:0 1:0 8:2 11:2", "3 1 8 6", (0.25, 0.3333333333333333, 0.16666666666666666, 0.0)),
    ("9:2 1:0 3:0 0:0", "2 4 6 11 1 10 8 9 7 0 5", (0.0, 0.125, 0.125, 0.0)),
    ("1:2 8:1 11:2 0:2 3:1 7:1", "2 3 1 4 7 11", (0.6666666666666666, 0.5, 0.4055555555555555, 0.6666666666666666)),
    (
        "7:0 4:2 9:2 1:0 8:0 10:1 3:1 11:1 2:2",
        "7 1 10 4 11 5 6 0 8 2 9 3",
        (0.16666666666666666, 0.3333333333333333, 0.4646464646464646, 0.5),
    ),
    ("11:0 6:0 5:2 0:0 7:0 2:1", "11 3 6 9 7", (0.0, 0.0, 0.0, 0.0)),
    (
        "2:1 7:0 6:2 8:1",
        "5 10 6 3 2 0 1 11 4",
        (0.6666666666666666, 0.3333333333333333, 0.24444444444444446, 0.3333333333333333),
    ),
    (
        "3:1 0:1 7:0 2:0 4:2 8:2 10:2 1:2 11:2",
        "7 10 6 0",
        (0.14285714285714285, 0.5, 0.14285714285714285, 0.2857142857142857),
    ),
    ("1:1 3:0 7:0 2:0 11:0", "1 5 9 0 11 6 7 4 3 8 10", (1.0, 1.0, 1.0, 1.0)),
]


def test_trec_eval_agrees_on_random_lists() -> None:
    recs = {at: [int(item) for item in listed.split()] for at, (_, listed, _) in enumerate(RANDOM)}
    truth = {
        at: {int(pair.partition(":")[0]): int(pair.partition(":")[2]) for pair in graded.split()}
        for at, (graded, _, _) in enumerate(RANDOM)
    }
    result = atkay.evaluate(recs, truth, ["bpref", "mrr", "map", "r_precision"])
    for row, (_, _, values) in zip(result.per_query.rows(), RANDOM, strict=True):
        assert row[1:] == pytest.approx(values, abs=1e-15)


def test_grades_below_the_least_are_judged_not_relevant() -> None:
    # With min_relevance=2 only b is relevant, and a stands above it: 1 - 1/1.
    truth = {1: {"a": 1, "b": 2}}
    assert atkay.evaluate({1: ["a", "b"]}, truth, "bpref")["bpref"] == 1
    assert atkay.evaluate({1: ["a", "b"]}, truth, "bpref", min_relevance=2)["bpref"] == 0


def test_what_was_taken_out_of_the_list_stands_above_nothing() -> None:
    truth = {1: {"a": 1, "b": 0, "c": 0}}
    assert atkay.evaluate({1: ["b", "a"]}, truth, "bpref", exclude={1: ["b"]})["bpref"] == 1


def test_hits_alone_do_not_tell() -> None:
    one = np.ones(1, int)
    judged = Judged(
        query=0 * one, rank=one, grade=np.ones(1), item=one, n_relevant=one, n_listed=one, answered=one > 0,
        grades=np.ones(1),
    )  # fmt: skip
    with pytest.raises(SpecError, match="only hits were kept"):
        atkay.parse("bpref").values(judged)
    assert Judged.concatenate([judged, judged.part(0, 1)]).n_nonrelevant is None
    assert judged.where(np.zeros(1, bool)).nonrelevant_above is None


def test_definitions() -> None:
    assert atkay.parse("bpref").define().formula == "(1/R) Σ (1 - min(n, R) / min(N, R))"
    assert atkay.parse("bpref(per=relevant)").define().formula == "(1/R) Σ (1 - min(n, R) / R)"
    assert atkay.parse("bpref(per=plus10)@5").define().formula == "(1/R) Σ (1 - min(n, R + 10) / (R + 10))"
