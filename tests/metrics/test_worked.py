"""The arithmetic of one user's value, as it is written out."""

from __future__ import annotations

import math
import random
import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import atkay
from atkay.errors import SpecError
from atkay.evaluation.judge import judge
from atkay.inputs.coding.align import align_tables
from atkay.inputs.read import read_tables
from atkay.judged.judged import Judged
from atkay.metrics.metric import Metric, RunMetric
from atkay.metrics.spec import parse
from atkay.metrics.worked import TERMS, arithmetic
from atkay.protocol import Protocol
from variants import Row, every_variant, grades, recs_frame, rows, scores, truth_frame

WRITTEN = [
    metric
    for metric in every_variant(None, 1, 3, 10)
    if metric.needs_truth and not metric.needs and not isinstance(metric, RunMetric)
    if type(metric).expression is not Metric.expression  # a metric need not write it out
]
NAMES = sorted({metric.name for metric in WRITTEN})
WORKED = re.compile(r"(?:no hit|hits? at ranks? [0-9, ]+): (.+) = (-?[0-9.]+)")


def judged(recs: Any, truth: Any, **fields: Any) -> Judged:
    protocol = Protocol(**fields)
    return judge(align_tables(read_tables({"recs": recs, "truth": truth}, protocol), protocol), protocol)[0]


def calculated(expression: str) -> float:
    """What a written expression comes to."""
    python = expression.replace("^", "**").replace("ln(", "log(")
    names = {"min": min, "max": max, "log2": math.log2, "log": math.log}
    return float(eval(python, {"__builtins__": {}}, names))  # nothing but our own text


def check(metric: Metric, one: Judged) -> None:
    """The text evaluates to the metric's value, and prints it."""
    value = metric.values(metric.view(one))[0, 0]
    text = arithmetic(metric, one)
    if math.isnan(value):
        assert text.endswith(": no value")
        return
    found = WORKED.fullmatch(text)
    assert found is not None, text
    assert calculated(found[1]) == pytest.approx(value, rel=1e-12, abs=1e-15), text
    assert found[2] == f"{value:.4f}"


def users() -> tuple[dict[int, dict[int, float]], dict[int, dict[int, float]]]:
    """Twenty users with lists of 0 to 12 items and grades of many kinds; 0 is without a list."""
    draw = random.Random(7)
    recs = {
        user: {item: 20 - draw.random() * 30 for item in draw.sample(range(15), draw.randint(1, 12))}
        for user in range(1, 20)
    }
    truth = {
        user: {item: draw.choice([0.0, 0.5, 1.0, 1.0, 2.0, 3.0]) for item in draw.sample(range(15), draw.randint(1, 9))}
        for user in range(20)
    }
    return recs, truth


def test_who_writes_the_arithmetic_out() -> None:
    assert set(NAMES) >= {
        "auc", "bpref", "dcg", "err", "f1", "group_auc", "hit", "map", "mnap", "mpr", "mrr", "ndcg", "precision",
        "r_precision", "rbp", "recall",
    }  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("fields", [{}, {"nonpositive": "missed"}, {"unlisted": "ignored"}])
def test_every_metric_in_all_its_words_comes_to_its_value(name: str, fields: dict[str, str]) -> None:
    metrics = [metric for metric in WRITTEN if metric.name == name]
    found = judged(*users(), **fields)
    for query in np.flatnonzero(found.n_relevant > 0).tolist():
        for metric in metrics:
            check(metric, found.part(query, query + 1))


@given(recs=rows(scores, 0.0), truth=rows(grades, 3.0), metric=st.sampled_from(WRITTEN))
def test_whatever_the_lists_hold(recs: list[Row], truth: list[Row], metric: Metric) -> None:
    found = judged(recs_frame(recs), truth_frame(truth))
    for query in np.flatnonzero(found.n_relevant > 0).tolist():
        check(metric, found.part(query, query + 1))


@pytest.mark.parametrize(
    ("spec", "written"),
    [
        ("precision@5", "3 / 5"),
        ("precision(per=capped)@5", "3 / min(5, 6)"),
        ("recall@5", "3 / 6"),
        ("hit@5", "min(1, 3)"),
        ("f1(beta=2)@5", "(1 + 2^2) * 3 / (2^2 * 6 + 5)"),
        ("map@5", "(1/1 + 2/3 + 3/5) / 6"),
        ("mnap@5", "(1/1 + 2/3 + 3/5) / min(5, 6)"),
        ("map(per=places)@5", "(1/1 + 1/2 + 2/3 + 2/4 + 3/5) / 5"),
        ("mrr@5", "1 / 1"),
        ("mrr(target=best)@5", "1 / 3"),
        ("r_precision", "3 / 6"),
        ("dcg(gain=linear)@5", "1 / log2(2) + 2 / log2(4) + 1 / log2(6)"),
        ("dcg(discount=jk)@3", "1 / max(1, log2(1)) + (2^2 - 1) / max(1, log2(3))"),
        ("ndcg(gain=binary)@2", "(1 / log2(2)) / (1 / log2(2) + 1 / log2(3))"),
    ],
)
def test_how_it_is_written(spec: str, written: str) -> None:
    truth = {"i1": 1, "i2": 2, "i3": 1, "i4": 1, "i5": 1, "i6": 1}
    found = judged({"A": ["i1", "i9", "i2", "i8", "i3"]}, {"A": truth})
    assert WORKED.fullmatch(arithmetic(parse(spec), found))[1] == written  # type: ignore[index]  # it is there


def test_a_long_sum_is_cut_and_says_so() -> None:
    recs, truth = {1: list(range(100))}, {1: list(range(100))}
    text = arithmetic(parse("map"), judged(recs, truth))
    assert f"hits at ranks 1, 2, {', '.join(map(str, range(3, TERMS + 1)))} and {100 - TERMS} more: (1/1" in text
    assert text.endswith(f"{TERMS}/{TERMS} + ... {100 - TERMS} more) / 100 = 1.0000")
    deep = parse("ndcg(ideal=full)@10000000")
    assert arithmetic(deep, judged({1: [1]}, {1: [1]})).endswith("... 9,999,980 more) = 0.0000")


def test_averages_over_ties_name_what_they_follow_from() -> None:
    # One relevant item among three with the same score, and one alone at rank 4: E[P@3] = 1/3.
    recs, truth = {1: {"a": 1.0, "x": 1.0, "y": 1.0, "b": 0.5}, 2: {"a": 2.0, "x": 1.0}}, {1: ["a", "b"], 2: ["a"]}
    spec = parse("precision@3")
    found = judged(recs, truth, ties="expected")
    assert arithmetic(spec, found.part(0, 1)) == (
        "hit at rank 1 to 3, averaged over the orders of equal scores; R = 2, L = 3, k = 3: 0.3333"
    )
    assert arithmetic(spec, found.part(1, 2)) == "hit at rank 1: 1 / 3 = 0.3333"


def test_a_metric_without_words_for_it_names_its_numbers() -> None:
    class Sums(Metric):
        def values(self, judged: Judged) -> Any:
            return judged.total(1, self.cutoffs) + 0.5

    found = judged({1: ["a", "x"]}, {1: ["a", "b"]})
    assert arithmetic(Sums(k=5), found) == "hit at rank 1; R = 2, L = 2, k = 5: 1.5000"


def test_one_user_and_one_cutoff() -> None:
    found = judged({1: ["a"], 2: ["a"]}, {1: ["a"], 2: ["a"]})
    with pytest.raises(SpecError, match="one user and one cutoff at a time, got 2 users and 'mrr'"):
        arithmetic(parse("mrr"), found)
    with pytest.raises(SpecError, match="got 1 users and 'map@1,2'"):
        arithmetic(atkay.MAP(k=(1, 2)), found.part(0, 1))
