"""Category entropy: worked cases, and plain loops."""

from __future__ import annotations

import math
from typing import Any

import pytest

from loops_categories import (
    CATEGORIES,
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
    ("spec", "listed", "expected"),
    [
        ("category_entropy@2", "ad", 1.5),  # p 1/4, q 1/4, s 1/2: 2 x 1/4 x 2 + 1/2
        ("category_entropy(count=each)@2", "ad", math.log2(3)),  # three categories, once each
        ("category_entropy@3", "dxy", 0),
        ("category_entropy@1", "xa", math.nan),
        ("category_entropy@2", "xa", 1),
    ],
)
def test_worked_cases(spec: str, listed: str, expected: float) -> None:
    assert value(spec, listed, features=CATEGORIES) == pytest.approx(expected, nan_ok=True)


def test_an_empty_list_has_no_value_and_vectors_are_refused() -> None:
    check_no_list("category_entropy@2")
    check_needs_categories("category_entropy@2")


SPECS = ["category_entropy", "category_entropy(count=each)"]
VARIANTS = variants(*SPECS)


@tables
def test_plain_loops(**given: Any) -> None:
    check(VARIANTS, **given)


def test_plain_loops_with_thousands_of_categories() -> None:
    check_thousands_of_categories(VARIANTS)


@pytest.mark.parametrize("spec", SPECS)
def test_digits_depend_neither_on_other_users_nor_on_other_cutoffs(spec: str) -> None:
    check_digits(spec)
