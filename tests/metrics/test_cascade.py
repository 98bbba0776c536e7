"""ERR and RBP: worked values, and plain loops written from the definitions."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest
from hypothesis import given

import atkay
from atkay.errors import SpecError
from variants import ListsAndGrades, lists_and_grades


def per_user(found: ListsAndGrades, specs: list[str]) -> dict[int, dict[str, float]]:
    """Values by user; user 99 sees to it that there is always something to evaluate."""
    found = {**found, 99: ([0], {0: 1.0})}
    recs = {user: listed for user, (listed, _) in found.items()}
    truth = {user: grades for user, (_, grades) in found.items()}
    return {row["user"]: row for row in atkay.evaluate(recs, truth, specs).per_query.to_dicts()}


def err(listed: list[int], grades: dict[int, float], highest: float, k: int | None) -> float:
    value, reading = 0.0, 1.0
    for rank, item in enumerate(listed[:k], 1):
        satisfied = (2 ** min(grades.get(item, 0.0), highest) - 1) / 2**highest
        value += reading * satisfied / rank
        reading *= 1 - satisfied
    return value


def rbp(listed: list[int], grades: dict[int, float], p: float, gain: str, highest: float, k: int | None) -> float:
    value = 0.0
    for rank, item in enumerate(listed[:k], 1):
        grade = grades.get(item, 0.0)
        worth = {"binary": float(grade > 0), "linear": min(grade / highest, 1.0), "grade": grade}[gain]
        value += worth * p ** (rank - 1)
    return (1 - p) * value


def residual(listed: list[int], grades: dict[int, float], p: float, k: int | None) -> float:
    return float(p ** len(listed[:k]))


@given(lists_and_grades)
def test_against_plain_loops(found: ListsAndGrades) -> None:
    specs: dict[str, Callable[[list[int], dict[int, float]], float]] = {}
    for k, cut in ((1, "@1"), (3, "@3"), (None, "")):
        specs[f"err{cut}"] = partial(err, highest=4, k=k)
        specs[f"err(highest=2){cut}"] = partial(err, highest=2, k=k)
        specs[f"rbp{cut}"] = partial(rbp, p=0.8, gain="binary", highest=1, k=k)
        specs[f"rbp(p=0.5,gain=linear,highest=3){cut}"] = partial(rbp, p=0.5, gain="linear", highest=3, k=k)
        specs[f"rbp(p=0.5,gain=grade){cut}"] = partial(rbp, p=0.5, gain="grade", highest=1, k=k)
        specs[f"rbp_residual{cut}"] = partial(residual, p=0.8, k=k)
        specs[f"rbp_residual(p=0.95){cut}"] = partial(residual, p=0.95, k=k)
    for user, row in per_user(found, list(specs)).items():
        for spec, by_the_book in specs.items():
            value = by_the_book(*found.get(user, ([0], {0: 1.0})))
            assert row[spec] == pytest.approx(value, abs=1e-12), (user, spec)


def test_err_of_a_published_vector() -> None:
    # R = 7/16, 3/16, 15/16, 0: 7/16 + 1/2 * 3/16 * 9/16 + 1/3 * 15/16 * 9/16 * 13/16.
    value = 7 / 16 + 1 / 2 * 3 / 16 * 9 / 16 + 1 / 3 * 15 / 16 * 9 / 16 * 13 / 16
    result = atkay.evaluate({1: ["c", "b", "d", "a"]}, {1: {"a": 0, "b": 2, "c": 3, "d": 4}}, ["err", "err@2"])
    assert result["err"] == pytest.approx(value, abs=1e-15)
    assert result["err"] == pytest.approx(0.633057, abs=5e-7)
    assert result["err@2"] == pytest.approx(7 / 16 + 1 / 2 * 3 / 16 * 9 / 16)


def test_a_grade_above_the_highest_counts_as_the_highest() -> None:
    found = atkay.evaluate({1: ["a"]}, {1: {"a": 9}}, ["err(highest=2)", "rbp(gain=linear,highest=2)"])
    assert found["err(highest=2)"] == 3 / 4
    assert found["rbp(gain=linear,highest=2)"] == pytest.approx(0.2)


def test_err_of_a_long_list_of_hits() -> None:
    # Each of 1,000 items satisfies with chance 1/2: Σ 1 / (r 2^r) is ln 2 to the last digit.
    result = atkay.evaluate({1: list(range(1000))}, {1: list(range(1000))}, "err(highest=1)")
    assert result["err(highest=1)"] == pytest.approx(0.6931471805599453, abs=1e-15)


def test_rbp_of_a_published_vector() -> None:
    # 0.2 * (1 + 0.8²) = 0.2 * 1.64; three items leave 0.8³ open.
    result = atkay.evaluate({1: ["a", "x", "b"]}, {1: ["a", "b"]}, ["rbp", "rbp_residual", "rbp_residual@2"])
    assert result["rbp"] == pytest.approx(0.328, abs=1e-15)
    assert result["rbp_residual"] == pytest.approx(0.512)
    assert result["rbp_residual@2"] == pytest.approx(0.64)


def test_a_user_without_a_list_leaves_everything_open() -> None:
    result = atkay.evaluate({1: ["a"]}, {1: ["a"], 2: ["b"]}, ["rbp", "rbp_residual", "err"])
    row = result.per_query.row(1, named=True)
    assert row == {"user": 2, "rbp": 0, "rbp_residual": 1, "err": 0}


def test_rbp_never_passes_one() -> None:
    items = list(range(2000))
    for p in ("0.8", "0.3", "0.7"):
        assert 0.999999 < atkay.evaluate({1: items}, {1: items}, f"rbp(p={p})")[f"rbp(p={p})"] <= 1


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("rbp(p=1)", "rbp: p must be a number between 0 and 1, got '1'"),
        ("rbp_residual(p=0)", "a number between 0 and 1"),
        ("err(highest=0)", "err: highest must be a number above 0, at most 500, got '0'"),
    ],
)
def test_refuses(spec: str, message: str) -> None:
    with pytest.raises(SpecError) as caught:
        atkay.parse(spec)
    assert message in str(caught.value)


def test_definitions() -> None:
    assert atkay.parse("err@5").define().formula == "Σ R_r / r · Π (1 - R_i), R = (2^min(grade, 4) - 1) / 2^4"
    assert atkay.parse("rbp@5").define().formula == "(1 - 0.8) Σ 0.8^(rank - 1)"
    assert (
        atkay.parse("rbp(gain=linear,highest=5)").define().formula == "(1 - 0.8) Σ min(grade / 5, 1) · 0.8^(rank - 1)"
    )
    assert atkay.parse("rbp(gain=grade)").define().formula == "(1 - 0.8) Σ grade · 0.8^(rank - 1)"
    assert atkay.parse("rbp_residual@5").define() == (
        "0.8 to the power of the number of items listed in the top 5",
        "0.8^L",
    )
