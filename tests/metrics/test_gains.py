"""Gains and discounts given as tables and functions, in DCG and nDCG."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import atkay
from atkay.errors import RelevanceError, SpecError
from atkay.judged.judged import Judged
from atkay.metrics.worked import arithmetic

RECS, TRUTH = {1: ["a", "x", "b"]}, {1: {"a": 1, "b": 2}}
"""Grades 1 and 2 at ranks 1 and 3."""


@pytest.mark.parametrize(
    ("spec", "value"),
    [
        ("dcg(gain={0:0,1:1,2:4})@3", 1 + 4 / 2),
        ("dcg(gain={1:0.5,2:10})", 0.5 + 10 / 2),
        ("dcg(discount={1:1,2:2,3:5})@3", 1 + 3 / 5),
        ("dcg(discount={1:1,2:2,3:5})@2", 1.0),
        ("ndcg(gain={1:1,2:4})@3", (1 + 4 / 2) / (4 + 1 / math.log2(3))),
        ("ndcg(gain={1:1,2:4},discount={1:1,2:2,3:5})@3", (1 + 4 / 5) / (4 + 1 / 2)),
        ("ndcg(gain={1:1,2:4},ideal=full)@3", (1 + 4 / 2) / (1 + 1 / math.log2(3) + 1 / 2)),
    ],
)
def test_tables_by_hand(spec: str, value: float) -> None:
    assert atkay.evaluate(RECS, TRUTH, spec)[spec] == pytest.approx(value, abs=1e-15)


def test_tables_that_say_what_a_word_says() -> None:
    logs = {rank: math.log2(rank + 1) for rank in range(1, 4)}
    tables = [atkay.NDCG(gain={1: 1, 2: 3}, k=3), atkay.DCG(gain={1: 1, 2: 2}, discount=logs, k=3)]
    ours, words = (atkay.evaluate(RECS, TRUTH, specs) for specs in (tables, ["ndcg@3", "dcg(gain=linear)@3"]))
    assert [*ours.means.values()] == [*words.means.values()]


def test_ties_are_averaged() -> None:
    # a and x have one score: a stands at rank 1 or 2, each in half of the orders.
    recs = {1: {"a": 2.0, "x": 2.0, "b": 1.0}}
    spec = "dcg(gain={1:3,2:8},discount={1:1,2:2,3:4})@3"
    assert atkay.evaluate(recs, TRUTH, spec, ties="expected")[spec] == pytest.approx(3 * (1 + 1 / 2) / 2 + 8 / 4)


@pytest.mark.parametrize(
    ("metric", "spec"),
    [
        (lambda: atkay.NDCG(gain={2: 3, 1: 1}, k=10), "ndcg(gain={1:1,2:3})@10"),
        (lambda: atkay.DCG(gain={0.5: 1 / 3}), "dcg(gain={0.5:0.3333333333333333})"),
        (lambda: atkay.DCG(gain=lambda grade: grade**2), "dcg(gain={1:1,2:4,3:9,4:16,5:25})"),
        (lambda: atkay.DCG(discount=math.sqrt, k=(1, 4)), f"dcg(discount={{1:1,2:{2**0.5},3:{3**0.5},4:2}})@1,4"),
    ],
)
def test_the_spec_has_the_table_and_reads_back(metric: Any, spec: str) -> None:
    assert str(metric()) == spec
    assert atkay.parse(spec) == atkay.parse(spec.upper()) == metric()
    assert atkay.evaluate({1: ["a"]}, {1: {"a": 0.5}}, ["map", "dcg(gain={0.5:3})"])["dcg(gain={0.5:3})"] == 3


def test_the_definition_and_the_arithmetic_have_it() -> None:
    assert atkay.parse("dcg(gain={1:1,2:4})").define().formula == "Σ {1:1,2:4}[grade] / log2(rank + 1)"
    judged = Judged(
        query=np.array([0, 0]), rank=np.array([1, 3]), grade=np.array([1.0, 2.0]), item=np.array([4, 7]),
        n_relevant=np.array([2]), n_listed=np.array([3]), answered=np.array([True]), grades=np.array([2.0, 1.0]),
    )  # fmt: skip
    spec = "dcg(gain={1:2,2:4},discount={1:1,2:2,3:5})@3"
    assert arithmetic(atkay.parse(spec), judged) == "hits at ranks 1, 3: 2 / 1 + 4 / 5 = 2.8000"


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("ndcg(gain={1:2,2:1})", "must have numbers that do not fall: a higher grade is worth as much or more"),
        ("ndcg(gain={else:grade})", "must have numbers of 0 or more"),
        ("ndcg(gain={1:1,else:3})", "write gain as a table of numbers"),
        ("ndcg(discount={1:1,2:2,else:grade})@2", "write discount as a table of numbers"),
        ("ndcg(gain={1:-2})", "numbers of 0 or more"),
        ("ndcg(gain={1:nan})", "numbers of 0 or more"),
        ("ndcg(gain={a:1})", "write gain as a table of numbers, such as gain={1:1,2:3}"),
        ("ndcg(gain={})", "write gain as a table"),
        ("ndcg(gain={1:1,1:2})", "names a number twice"),
        ("ndcg(gain={0:1,1:2})", "an item of grade 0 is not relevant"),
        ("ndcg(gain={1:1,2:3)@3", "a bracket is missing"),
        ("ndcg(discount={1:1,2:2})", "needs a cutoff: write '@10', or k=10"),
        ("ndcg(discount={1:1,2:2})@3", "must divide each rank from 1 to 3 by a number above 0"),
        ("ndcg(discount={1:0,2:2})@2", "a number above 0"),
        ("ndcg(ideal={1:1})", "unknown value '{1:1}' for ideal"),
    ],
)
def test_refuses(spec: str, message: str) -> None:
    with pytest.raises(SpecError, match=message.replace("{", r"\{")):
        atkay.parse(spec)


def test_grades_that_the_table_leaves_as_they_are() -> None:
    # Grades 3, 1 and 2 at ranks 1, 3 and 4 are worth 3, 3 and 9, the most first 9, 3, 3.
    recs, truth, gain = {1: ["c", "x", "a", "b"]}, {1: {"a": 1, "b": 2, "c": 3}}, "(gain={1:3,2:9,else:grade})"
    dcg, ideal = 3 + 3 / 2 + 9 / math.log2(5), 9 + 3 / math.log2(3) + 3 / 2
    specs = [f"dcg{gain}", f"ndcg{gain}", f"ndcg{gain[:-1]},ideal=listed)", f"ndcg{gain}@3"]
    result = atkay.evaluate(recs, truth, specs)
    assert [*result.values()] == pytest.approx([dcg, dcg / ideal, dcg / ideal, (3 + 3 / 2) / ideal])
    # Down to c 9 is the most and 3 is there, so 6 are missed; down to a 9 + 3 + 3 and 6, down to b all.
    missed = [6, 9, 1]  # the fourth place of an ideal list counts 1
    expected = sum(one / math.log2(2 + less) for one, less in zip((3, 3, 9), missed, strict=True)) / 15
    assert atkay.evaluate(recs, truth, f"normalized_gain{gain}").means.popitem()[1] == pytest.approx(expected)
    assert str(atkay.NDCG(gain={1: 3, 2: 9, "else": "grade"})) == f"ndcg{gain}"
    judged = Judged(
        query=np.zeros(2, int), rank=np.array([1, 3]), grade=np.array([3.0, 2.0]), item=np.array([4, 7]),
        n_relevant=np.array([2]), n_listed=np.array([3]), answered=np.array([True]), grades=np.array([3.0, 2.0]),
    )  # fmt: skip
    written = "(3 / log2(2) + 9 / log2(4)) / (9 / log2(2) + 3 / log2(3))"
    assert written in arithmetic(atkay.parse(f"ndcg{gain}"), judged)


def test_what_is_best_is_not_known_where_a_higher_grade_can_be_worth_less() -> None:
    spec = "ndcg(gain={1:3,else:grade})"
    result = atkay.evaluate(RECS, TRUTH, spec)
    [(user, judged)] = TRUTH.items()
    [other] = set(RECS[user]) - set(judged)  # every grade that it may have is tried
    values = [atkay.evaluate(RECS, {user: {**judged, other: grade}}, spec)[spec] for grade in (0, 1, 2)]
    assert tuple(result.bounds[spec]) == pytest.approx((values[0], min(values), max(values)))
    assert "can give a higher grade a lower gain" in str(result.chance)


def test_refuses_a_grade_that_the_table_does_not_have() -> None:
    with pytest.raises(RelevanceError, match=r"does not say what a grade of 2 is worth. Add it to the table"):
        atkay.evaluate(RECS, TRUTH, "ndcg(gain={1:1,3:4})")
