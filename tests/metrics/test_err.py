"""Expected reciprocal rank: worked values, and plain loops."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest
from hypothesis import given

import atkay
from atkay.errors import SpecError
from variants import ListsAndGrades, anchored, lists_and_grades


def err(listed: list[int], grades: dict[int, float], highest: float, k: int | None) -> float:
    value, reading = 0.0, 1.0
    for rank, item in enumerate(listed[:k], 1):
        satisfied = (2 ** min(grades.get(item, 0.0), highest) - 1) / 2**highest
        value += reading * satisfied / rank
        reading *= 1 - satisfied
    return value


@given(lists_and_grades)
def test_against_plain_loops(users: ListsAndGrades) -> None:
    recs, truth = anchored(users)
    specs: dict[str, Callable[[list[int], dict[int, float]], float]] = {}
    for k, cut in ((1, "@1"), (3, "@3"), (None, "")):
        specs[f"err{cut}"] = partial(err, highest=4, k=k)
        specs[f"err(highest=2){cut}"] = partial(err, highest=2, k=k)
    result = atkay.evaluate(recs, truth, list(specs))
    for row in result.per_query.to_dicts():
        for spec, by_the_book in specs.items():
            value = by_the_book(recs[row["user"]], truth[row["user"]])
            assert row[spec] == pytest.approx(value, abs=1e-12), (row["user"], spec)


def test_err_of_a_published_vector() -> None:
    # R = 7/16, 3/16, 15/16, 0: 7/16 + 1/2 * 3/16 * 9/16 + 1/3 * 15/16 * 9/16 * 13/16.
    value = 7 / 16 + 1 / 2 * 3 / 16 * 9 / 16 + 1 / 3 * 15 / 16 * 9 / 16 * 13 / 16
    result = atkay.evaluate({1: ["c", "b", "d", "a"]}, {1: {"a": 0, "b": 2, "c": 3, "d": 4}}, ["err", "err@2"])
    assert result["err"] == pytest.approx(value, abs=1e-15)
    assert result["err"] == pytest.approx(0.633057, abs=5e-7)
    assert result["err@2"] == pytest.approx(7 / 16 + 1 / 2 * 3 / 16 * 9 / 16)


def test_err_of_a_long_list_of_hits() -> None:
    # Each of 1,000 items satisfies with chance 1/2: Σ 1 / (r 2^r) is ln 2 to the last digit.
    result = atkay.evaluate({1: list(range(1000))}, {1: list(range(1000))}, "err(highest=1)")
    assert result["err(highest=1)"] == pytest.approx(0.6931471805599453, abs=1e-15)


def test_a_grade_above_the_highest_counts_as_the_highest() -> None:
    assert atkay.evaluate({1: ["a"]}, {1: {"a": 9}}, "err(highest=2)")["err(highest=2)"] == 3 / 4


def test_a_user_without_a_list_scores_0() -> None:
    assert atkay.evaluate({1: ["a"]}, {1: ["a"], 2: ["b"]}, "err").per_query["err"][1] == 0


def test_refuses_and_defines() -> None:
    with pytest.raises(SpecError, match="err: highest must be a number above 0, at most 500, got '0'"):
        atkay.parse("err(highest=0)")
    assert atkay.parse("err@5").define().formula == "Σ R_r / r · Π (1 - R_i), R = (2^min(grade, 4) - 1) / 2^4"
