"""Intra-list distance: worked cases, and plain loops."""

from __future__ import annotations

import math
from typing import Any

import pytest

import atkay
from atkay.errors import SideError
from loops_categories import (
    CATEGORIES,
    VECTORS,
    check,
    check_digits,
    check_needs_categories,
    check_no_list,
    check_thousands_of_categories,
    tables,
    value,
    variants,
)


@pytest.mark.parametrize(
    ("listed", "expected"),
    [
        ("ab", 1),  # at a right angle
        ("ac", 0),  # the same direction
        ("ad", 2),  # opposite
        ("ae", 1 - 3 / 5),
        ("abe", (1 + (1 - 3 / 5) + (1 - 4 / 5)) / 3),
        ("abo", 1),  # a vector of zeros has no direction: one pair is left
        ("abx", 1),  # x has no vector
        ("ax", math.nan),
        ("a", math.nan),
    ],
)
def test_cosine_distance(listed: str, expected: float) -> None:
    assert value("ild@3", listed, features=VECTORS) == pytest.approx(expected, nan_ok=True, abs=1e-15)


@pytest.mark.parametrize(
    ("listed", "expected"),
    [("ae", math.hypot(2, 4)), ("abo", (math.hypot(1, 2) + 1 + 2) / 3), ("ax", math.nan), ("abx", math.hypot(1, 2))],
)
def test_euclidean_distance(listed: str, expected: float) -> None:
    found = value("ild(by=euclidean)@3", listed, features=VECTORS)
    assert found == pytest.approx(expected, nan_ok=True)


@pytest.mark.parametrize(
    ("listed", "expected"),
    [
        ("ab", 1 - 1 / 3),
        ("ac", 0),
        ("ad", 1),
        ("ae", 1 - 2 / 3),
        ("abd", (2 / 3 + 1 + 1) / 3),
        ("abx", 2 / 3),
        ("ax", math.nan),
    ],
)
def test_distance_of_categories(listed: str, expected: float) -> None:
    found = value("ild(by=categories)@3", listed, features=CATEGORIES)
    assert found == pytest.approx(expected, nan_ok=True, abs=1e-15)


def test_hamming_distance_is_that_of_rectools() -> None:
    # RecTools 0.19.0, the example of IntraListDiversity: of two features 1 and 2 differ in one, 1 and 3 in two, 2 and 3
    # in one: (1 + 2 + 1) / 3. It says 0 where we have no value.
    features = {"1": [0.0, 0.0], "2": [0.0, 1.0], "3": [1.0, 1.0], "4": [0.0, 0.0]}
    for listed, k, expected in (("123", 2, 1), ("123", 3, 1.33333333), ("14", 2, 0), ("123", 1, math.nan)):
        found = value(f"ild(by=hamming)@{k}", listed, features=features)
        assert found == pytest.approx(expected, nan_ok=True)


def test_distance_of_cooccurrence() -> None:
    # n_a = 2, n_b = 2, n_c = 1; a and b share one user, b and c another, a and c none.
    train = {1: ["a"], 2: ["a", "b"], 3: ["b", "c"]}
    spec = "ild(by=cooccurrence)@3"
    assert value(spec, "ab", train=train) == pytest.approx(1 - 1 / 2)
    assert value(spec, "bc", train=train) == pytest.approx(1 - 1 / math.sqrt(2))
    assert value(spec, "abc", train=train) == pytest.approx((1 / 2 + 1 + 1 - 1 / math.sqrt(2)) / 3)
    assert math.isnan(value(spec, "ax", train=train))
    assert value("ild(by=cooccurrence,unknown=apart)@3", "ax", train=train) == 1
    assert value(spec, "abc", train={1: ["a"], 2: ["c"]}) == 1  # b is unknown, and a and c have nobody in common


@pytest.mark.parametrize(
    ("by", "known", "near"),
    [("features", VECTORS, 1.0), ("euclidean", VECTORS, math.hypot(1, 2)), ("categories", CATEGORIES, 2 / 3)],
)
def test_unknown_items_may_be_put_apart(by: str, known: Any, near: float) -> None:
    # a and b are known, x and y are not: of the six pairs five are at distance 1.
    name = f"by={by}," if by != "features" else ""
    assert value(f"ild({name}unknown=apart)@4", "axby", features=known) == pytest.approx((near + 5) / 6)
    assert value(f"ild({name}unknown=apart)@2", "axby", features=known) == 1
    assert math.isnan(value(f"ild({name}unknown=apart)@1", "axby", features=known))


def test_vectors_whose_squares_are_no_numbers() -> None:
    # (1, 1) and (1, 0) in very large and very small: 1 - cos 45°.
    known = {"a": [1e200, 1e200], "b": [1e-200, 0.0]}
    assert value("ild@2", "ab", features=known) == pytest.approx(1 - math.sqrt(1 / 2))


def test_a_list_without_items_has_no_value() -> None:
    check_no_list("ild(by=categories)@2")


def test_what_is_missing_is_named() -> None:
    recs, truth = {1: ["a", "b"]}, {1: ["a"]}
    with pytest.raises(SideError, match=r"ild@2 needs features=: a table of items with their categories or vectors"):
        atkay.evaluate(recs, truth, "ild@2")
    with pytest.raises(SideError, match=r"ild\(by=cooccurrence\) needs train="):
        atkay.evaluate(recs, truth, "ild(by=cooccurrence)")
    with pytest.raises(SideError, match=r"ild@2 needs item vectors, .* only categories.*or choose by=categories"):
        atkay.evaluate(recs, truth, "ild@2", features=CATEGORIES)
    check_needs_categories("ild(by=categories)@2")


SPECS = [
    f"ild(by={by},unknown={unknown})"
    for by in ("features", "euclidean", "hamming", "categories", "cooccurrence")
    for unknown in ("skip", "apart")
]
VARIANTS = variants(*SPECS)


@tables
def test_plain_loops(**given: Any) -> None:
    check(VARIANTS, **given)


def test_plain_loops_with_thousands_of_categories() -> None:
    of_sets = [spec for spec in SPECS if "by=c" in spec]
    check_thousands_of_categories(variants(*of_sets))


@pytest.mark.parametrize("spec", [spec for spec in SPECS if "cooccurrence" not in spec])
def test_digits_depend_neither_on_other_users_nor_on_other_cutoffs(spec: str) -> None:
    check_digits(spec)
