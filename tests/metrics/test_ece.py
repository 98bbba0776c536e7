"""Expected calibration error: worked cases, edges of bins, and what torchmetrics says."""

from __future__ import annotations

import math

import pytest

import atkay
from atkay.errors import InputError, SpecError

RECS = {1: {"a": 0.1, "b": 0.3, "c": 0.5}, 2: {"a": 0.7, "b": 1.0, "c": 0.2}}
TRUTH = {1: {"a": 0, "b": 1, "c": 0}, 2: {"a": 1, "b": 1}}


def value(spec: str, recs: object = RECS, truth: object = TRUTH) -> float:
    return atkay.evaluate(recs, truth, spec, no_truth="zero")[spec]


def test_worked_case() -> None:
    # Below 1/2 stand 0.1 and 0.3, one of them relevant; from there on 0.5, 0.7 and 1.0, two of three.
    low, high = abs(0.1 + 0.3 - 1), abs(0.5 + 0.7 + 1.0 - 2)
    assert value("ece(bins=2)") == pytest.approx((low + high) / 5)
    assert value("ece(bins=1)") == pytest.approx(abs(0.1 + 0.3 + 0.5 + 0.7 + 1.0 - 3) / 5)
    # With user 2's c, which was listed and has no grade.
    assert value("ece(bins=2,rows=listed)") == pytest.approx((abs(0.1 + 0.3 + 0.2 - 1) + high) / 6)


def test_logits() -> None:
    # ln 3 are the log-odds of 3/4, 0 those of 1/2: both are in the upper half.
    recs, truth = {1: {"a": math.log(3), "b": 0.0}}, {1: {"a": 1, "b": 0}}
    assert value("ece(bins=2,of=logits)", recs, truth) == pytest.approx(abs(3 / 4 + 1 / 2 - 1) / 2)


def test_what_is_refused() -> None:
    with pytest.raises(InputError, match=r"1 of 1 scores lie outside 0 to 1, such as 1\.5, and ece"):
        value("ece", {1: {"a": 1.5}}, {1: {"a": 1}})
    with pytest.raises(SpecError, match=r"ece: bins must be an integer from 1 to 1,000, got '2\.5'"):
        atkay.parse("ece(bins=2.5)")
