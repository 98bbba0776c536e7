"""Evidence: readings of lists that must find the same hits are one, and no others."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
import pytest

from atkay.audit.evidence import Evidence
from atkay.judged.judged import Judged
from atkay.metrics.dcg import DCG
from atkay.metrics.metric import Metric
from atkay.metrics.ndcg import NDCG
from atkay.metrics.spec import parse_all
from atkay.protocol import Protocol

ALIKE, APART = 1, 2
"""How often lists are read for the best and the worst order of equal scores."""


def numbers(truth: Any, spec: str, *protocols: Protocol, scores: tuple[float, ...] = (1, 1)) -> list[list[float]]:
    """The numbers of one user with the items a and b, and c below them."""
    recs = {"ann": dict(zip("abc", (*scores, 0.5), strict=True))}
    evidence = Evidence.read(recs, {"ann": truth}, protocols[0])
    found = dict(evidence.numbers(parse_all(spec), protocols))
    return [found[protocol].tolist() for protocol in protocols]


@pytest.mark.parametrize(
    ("truth", "times"),
    [
        ({"a": 1, "b": 1}, ALIKE),
        ({"a": 1, "b": 1, "z": 3}, ALIKE),
        ({"c": 1}, ALIKE),
        ({"c": 2, "a": -1, "b": -1}, ALIKE),
        ({"a": 1}, APART),
        ({"a": 1, "b": 2}, APART),
        ({"a": 1, "b": 0}, APART),
        ({"c": 1, "b": 0}, APART),
        ({"c": 1, "a": 1, "b": -1}, APART),
        ({"c": 1, "a": 0, "b": -1}, APART),
        ({"c": 1, "a": -2, "b": -1}, APART),
        ({"c": 1, "b": -1}, APART),
    ],
)
def test_orders_of_ties_are_one_where_all_items_of_a_score_have_one_grade(
    truth: dict[str, float], times: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert _readings(monkeypatch, truth) == times


@pytest.mark.parametrize("fields", [{"depth": 1}, {"depth": 3}, {"raters": "mean"}, {"raters": "error"}])
def test_orders_of_ties_stay_apart_where_lists_are_cut_or_grades_come_from_several(
    fields: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert _readings(monkeypatch, {"a": 1, "b": 1}, **fields) == APART


def test_orders_of_ties_stay_apart_where_they_have_a_closed_form(monkeypatch: pytest.MonkeyPatch) -> None:
    words: list[Any] = ["best", "expected", "together"]
    assert _readings(monkeypatch, {"a": 1, "b": 1}, words) == 3


def test_scores_that_single_precision_makes_equal(monkeypatch: pytest.MonkeyPatch) -> None:
    near = (1, 1 + 1e-9)
    assert _readings(monkeypatch, {"a": 1}, scores=near) == ALIKE
    assert _readings(monkeypatch, {"a": 1}, scores=near, precision="float32") == APART
    assert _readings(monkeypatch, {"a": 1, "b": 1}, scores=near, precision="float32") == ALIKE


def test_a_score_that_is_0_in_single_precision_alone() -> None:
    # b is the third of the list, and missed where its score counts as 0.
    words: list[Any] = ["exact", "float32"]
    protocols = [Protocol(scores=word, nonpositive="missed") for word in words]
    assert numbers({"b": 1}, "mrr", *protocols, scores=(1, 1e-50)) == [[1 / 3], [0]]


def _readings(
    monkeypatch: pytest.MonkeyPatch,
    truth: dict[str, float],
    words: Any = ("best", "worst"),
    scores: tuple[float, ...] = (1, 1),
    precision: Any = "exact",
    **fields: Any,
) -> int:
    """How often the lists are read for these words of ties."""
    times: list[Protocol] = []
    read = Evidence._read

    def counted(self: Evidence, reading: Protocol) -> Any:
        times.append(reading)
        return read(self, reading)

    with monkeypatch.context() as patch:
        patch.setattr(Evidence, "_read", counted)
        numbers(truth, "ndcg", *(Protocol(ties=word, scores=precision, **fields) for word in words), scores=scores)
    return len(times)


def test_numbers_of_ties_that_decide() -> None:
    best, worst = Protocol(ties="best"), Protocol(ties="worst")
    assert numbers({"a": 1, "b": 1}, "mrr,dcg@2", best, worst) == [pytest.approx([1, 1 + 1 / math.log2(3)])] * 2
    assert numbers({"a": 1}, "mrr", best, worst) == [[1], [1 / 2]]
    # A depth of 1 keeps one of the two: 2^2 - 1, or 2^1 - 1.
    cut = [Protocol(ties=word, depth=1) for word in ("best", "worst")]
    assert numbers({"a": 1, "b": 2}, "dcg", *cut) == [[3], [1]]
    # Without a, which is not judged, b is the first and c the second.
    dropped = [Protocol(ties=word, unjudged="drop") for word in ("best", "worst")]
    assert numbers({"c": 1, "b": -1}, "mrr", *dropped) == [[1 / 2]] * 2


def test_who_has_nothing_but_grades_below_zero_counts_as_in_evaluate() -> None:
    # Precision at 1 is 1 for ann; bob and cy, of whose items the one grade is below 0, score 0: 1/3. Without cy, 1/2.
    recs, truth = {"ann": ["a"], "bob": ["b"]}, {"ann": {"a": 1}, "bob": {"b": -1}, "cy": {"c": -2}}
    protocols = [
        Protocol(no_truth="judged", no_recs=no_recs, negative=negative)
        for no_recs in ("zero", "skip")
        for negative in ("irrelevant", "unjudged")
    ]
    found = dict(Evidence.read(recs, truth, Protocol()).numbers(parse_all("precision@1"), protocols))
    assert [found[each].item() for each in protocols] == pytest.approx([1 / 3, 1 / 3, 1 / 2, 1 / 2])


def test_gains_that_are_alike_are_measured_once() -> None:
    # a and c of grade 1 at ranks 1 and 3: DCG@3 = 1 + 1/2, and 1 at the cutoffs 1 and 2. exp2_above without a
    # min_relevance is 2^2 - 1 = 3 for a grade of 1, that of an ideal item.
    spec = "dcg(gain=binary)@3,1,dcg(gain=exp2_above)@3,dcg(gain=linear)@2,dcg@3,ndcg(gain=linear,ideal=full)@3"
    evidence = Evidence.read({"ann": ["a", "x", "c"]}, {"ann": ["a", "c"]}, Protocol())
    [(_, found)] = evidence.numbers(parse_all(spec), [Protocol()])
    assert found.tolist() == pytest.approx([1.5, 1, 4.5, 1, 1.5, 1.5 / (1 + 1 / math.log2(3) + 1 / 2)])


@pytest.mark.parametrize("cls", [DCG, NDCG])
def test_the_plainest_gain(cls: type[DCG]) -> None:
    def plainest(gain: Any, hits: Any, truth: Any, threshold: float = 0.0) -> Metric:
        judged = dataclasses.replace(Judged.of_nobody(1, None), grade=hits, grades=truth, threshold=threshold)
        return cls(gain=gain, k=3).plainest(judged)

    ones, twos, zeros = (np.broadcast_to(grade, 2) for grade in (1.0, 2.0, 0.0))
    graded = np.array([1.0, 2.0])
    first = cls(gain="exp2", k=3)
    # Of a grade of 1 all three are 1; of 2 they are 3, 2 and 1; of 0 they are 0, 0 and 1.
    assert plainest("exp2", ones, ones) == plainest("linear", ones, ones) == plainest("binary", ones, ones) == first
    assert plainest("linear", zeros, zeros) == first
    for hits, truth in ((twos, twos), (graded, graded), (ones, graded), (graded, ones), (ones[:0], ones)):
        for gain in ("exp2", "linear", "binary"):
            assert plainest(gain, hits, truth) == dataclasses.replace(first, gain=gain)
    assert plainest("binary", zeros, zeros) == dataclasses.replace(first, gain="binary")
    above = dataclasses.replace(first, gain="exp2_above")
    for threshold in (0.0, 1.0):
        assert all(plainest("exp2_above", each, each, threshold) == above for each in (ones, twos, zeros, graded))
