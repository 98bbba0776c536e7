"""Expected exposure: worked cases; the fuzz compares with plain loops."""

from __future__ import annotations

from typing import Any

import pytest

import atkay

SPECS = [f"expected_exposure(of={of})" for of in ("loss", "disparity", "relevance")]


def value(listed: Any, truth: Any, spec: str) -> float:
    return atkay.evaluate({1: list(listed)}, {1: truth}, spec, no_truth="zero", no_recs="zero")[str(atkay.parse(spec))]


def test_loss_disparity_and_relevance() -> None:
    # e: a 1, x 1/2, b 1/4; e*: a and b (1 + 1/2) / 2 = 3/4, x 0.
    loss, disparity, relevance = (value("axb", ["a", "b"], spec) for spec in SPECS)
    assert loss == (1 - 3 / 4) ** 2 + (1 / 2) ** 2 + (3 / 4 - 1 / 4) ** 2
    assert disparity == 1 + 1 / 4 + 1 / 16
    assert relevance == (1 + 1 / 4) * 3 / 4
    assert loss == pytest.approx(disparity - 2 * relevance + 2 * (3 / 4) ** 2)


def test_grades_are_levels() -> None:
    # a has grade 3 and deserves 1; b and c deserve (1/2 + 1/4) / 2 = 3/8; d the last place, 1/8.
    truth = {"a": 3, "b": 2, "c": 2, "d": 1}
    # e: b 1, a 1/2, x 1/4, d 1/8
    expected = (1 - 3 / 8) ** 2 + (1 / 2 - 1) ** 2 + (1 / 4) ** 2 + 0 + (3 / 8) ** 2
    assert value("baxd", truth, "expected_exposure") == pytest.approx(expected)
    # All four deserve (1 + 1/2 + 1/4 + 1/8) / 4.
    due = (1 + 1 / 2 + 1 / 4 + 1 / 8) / 4
    found = value("baxd", truth, "expected_exposure(of=relevance,levels=binary)")
    assert found == pytest.approx(due * (1 + 1 / 2 + 1 / 8))


def test_a_cutoff_takes_exposure_from_both() -> None:
    # At 2: a and b would fill the first two places with 1 and 3/4 left of it: a and b deserve (1 + 0.75) / 2; c none.
    truth, words = {"a": 2, "b": 2, "c": 1}, "patience=0.75"
    due = (1 + 0.75) / 2
    assert value("acb", truth, f"expected_exposure({words})@2") == pytest.approx((1 - due) ** 2 + 0.75**2 + due**2)
    # At 1 they share the one place.
    assert value("acb", truth, f"expected_exposure({words})@1") == pytest.approx((1 - 1 / 2) ** 2 + (1 / 2) ** 2)


def test_nobody_is_wronged_only_if_no_grade_has_two_items() -> None:
    assert value("abc", {"a": 3, "b": 2, "c": 1}, "expected_exposure") == 0
    assert value("ab", ["a", "b"], "expected_exposure") == 2 * (1 / 4) ** 2


def test_a_user_without_a_list() -> None:
    recs, truth = {1: ["a"]}, {1: ["a"], 2: ["a", "b"]}
    found = atkay.evaluate(recs, truth, SPECS).query_values
    # e is 0 and e* is 3/4, twice.
    assert found[1].tolist() == [2 * (3 / 4) ** 2, 0, 0]
