"""Calibration: Steck's example, worked cases, and plain loops."""

from __future__ import annotations

import math
from typing import Any

import pytest

import atkay
from atkay.errors import SpecError
from loops_categories import (
    check,
    check_digits,
    check_no_list,
    check_thousands_of_categories,
    tables,
    value,
    variants,
)


def calibration(spec: str) -> float:
    # Ten training items, seven of one category and three of the other; the list shows the first alone.
    features = {item: "left" if item < 8 else "right" for item in range(1, 11)}
    spec = f"calibration({spec})@2" if spec else "calibration@2"
    return value(spec, [1, 2], train={1: list(range(1, 11))}, features=features)


def test_calibration_of_steck() -> None:
    # q is (0.99 + 0.01 x 0.7, 0.01 x 0.3).
    assert calibration("") == pytest.approx(0.7 * math.log(0.7 / 0.997) + 0.3 * math.log(0.3 / 0.003))
    assert calibration("") == pytest.approx(1.133982, abs=1e-6)
    assert calibration("alpha=0.1") == pytest.approx(0.7 * math.log(0.7 / 0.97) + 0.3 * math.log(10))
    assert calibration("distance=hellinger") == pytest.approx(math.sqrt(1 - math.sqrt(0.7)))
    assert calibration("distance=hellinger") == pytest.approx(0.404153, abs=1e-6)
    # m is (0.85, 0.15).
    js = (0.7 * math.log(0.7 / 0.85) + 0.3 * math.log(0.3 / 0.15) + math.log(1 / 0.85)) / 2
    assert calibration("distance=js") == pytest.approx(js)


@pytest.mark.filterwarnings("ignore:features. 'features' is read as categories:atkay.errors.CategoriesWarning")
def test_calibration_with_far_more_categories_than_a_user_has() -> None:
    # p is (1/2, 1/2), q (0, 1) over the categories of items 0 and 1.
    expected = 0.5 * math.log(0.5 / 0.995) + 0.5 * math.log(100)
    features = {item: f"w{item:04}" for item in range(3000)}
    assert value("calibration@1", [1], train={1: [0, 1]}, features=features) == pytest.approx(expected)


@pytest.mark.parametrize("distance", ["kl", "js", "hellinger"])
def test_the_same_proportions_are_at_no_distance(distance: str) -> None:
    # Thirds and sixths: two categories for one item, three for another.
    features = {1: ["a", "b", "c"], 2: ["a", "b", "c"], 3: ["b", "a"], 4: ["a", "b"]}
    spec = "calibration@2" if distance == "kl" else f"calibration(distance={distance})@2"
    assert value(spec, [1, 3], train={1: [2, 4]}, features=features) == 0


@pytest.mark.parametrize(("weight", "second"), [("log2", 1 / math.log2(3)), ("reciprocal", 1 / 2)])
def test_listed_items_may_be_weighted_by_rank(weight: str, second: float) -> None:
    q = [1 / (1 + second), second / (1 + second)]
    expected = math.sqrt(sum((math.sqrt(1 / 2) - math.sqrt(each)) ** 2 for each in q) / 2)
    spec = f"calibration(distance=hellinger,weight={weight})@2"
    assert value(spec, [1, 2], train={1: [1, 2]}, features={1: "a", 2: "b"}) == pytest.approx(expected)


def test_calibration_needs_categories_on_both_sides() -> None:
    features = {1: "a"}
    assert math.isnan(value("calibration@1", [2], train={1: [1]}, features=features))
    assert math.isnan(value("calibration@1", [1], train={1: [2]}, features=features))
    assert math.isnan(value("calibration@1", [1], train={7: [1]}, features=features))


def test_what_has_no_value_and_what_is_refused() -> None:
    check_no_list("calibration@2")
    with pytest.raises(SpecError, match="alpha must be a number between 0 and 1, got '0'"):
        atkay.parse("calibration(alpha=0)")


SPECS = [
    *(
        f"calibration(distance={name},weight={weight})"
        for name in ("kl", "js", "hellinger")
        for weight in ("uniform", "log2")
    ),
    "calibration(weight=reciprocal)",
    "calibration(alpha=0.3)",
]
VARIANTS = variants(*SPECS)


@tables
def test_plain_loops(**given: Any) -> None:
    check(VARIANTS, **given)


def test_plain_loops_with_thousands_of_categories() -> None:
    check_thousands_of_categories(VARIANTS)


@pytest.mark.parametrize("spec", SPECS)
def test_digits_depend_neither_on_other_users_nor_on_other_cutoffs(spec: str) -> None:
    check_digits(spec)
