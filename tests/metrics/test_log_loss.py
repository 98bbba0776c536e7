"""Log loss: worked cases, what counts as a row, and scores outside 0 to 1."""

from __future__ import annotations

import math

import pytest

import atkay
from atkay.errors import InputError

RECS = {"ann": {"a": 0.8, "b": 0.5, "c": 0.25}, "bob": {"a": 0.1}}
TRUTH = {"ann": {"a": 1, "b": 0}, "bob": {"a": 0}}


def value(spec: str, recs: object = RECS, truth: object = TRUTH) -> float:
    return atkay.evaluate(recs, truth, spec, no_truth="zero")[spec]


def test_worked_case() -> None:
    ann, bob = -math.log(0.8) - math.log(0.5), -math.log(0.9)
    assert value("log_loss") == pytest.approx((ann + bob) / 3)
    assert value("log_loss(average=users)") == pytest.approx((ann / 2 + bob) / 2)


def test_listed_items_that_were_not_clicked() -> None:
    # Her c counts, too, and in clicks alone nothing else changes.
    ann, bob = -math.log(0.8) - math.log(0.5) - math.log(0.75), -math.log(0.9)
    for truth in (TRUTH, {"ann": ["a"]}):
        assert value("log_loss(rows=listed)", truth=truth) == pytest.approx((ann + bob) / 4)


def test_logits() -> None:
    # ln 4 are the log-odds of 0.8, -ln 9 those of 0.1; a logit of -800 is refuted at its own price.
    logits = {"ann": {"a": math.log(4), "b": 0, "c": 7}, "bob": {"a": -math.log(9)}}
    assert value("log_loss(of=logits)", logits) == pytest.approx(value("log_loss"))
    assert value("log_loss(of=logits)", {1: {"a": -800}}, {1: ["a"]}) == 800


def test_a_certainty_that_is_wrong_costs_what_scikit_learn_says() -> None:
    # sklearn.metrics.log_loss([1, 0], [0.0, 1.0]) of scikit-learn 1.9.1
    assert value("log_loss", {1: {"a": 0.0, "b": 1.0}}, {1: {"a": 1, "b": 0}}) == pytest.approx(36.04365338911715)


def test_scores_that_are_no_probabilities() -> None:
    wrong = r"recs: 2 of 3 scores lie outside 0 to 1, such as 1\.5, and log_loss .* or of=logits"
    with pytest.raises(InputError, match=wrong):
        value("log_loss", {1: {"a": 1.5, "b": 0.5, "c": -1}}, {1: {"a": 1, "b": 0, "c": 0}})
