"""Category count: worked cases, and plain loops."""

from __future__ import annotations

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
        ("category_count@2", "ab", 3),  # p and q; q and r
        ("category_count@2", "ac", 2),
        ("category_count@1", "xa", 0),
    ],
)
def test_worked_cases(spec: str, listed: str, expected: float) -> None:
    assert value(spec, listed, features=CATEGORIES) == expected


def test_an_empty_list_has_no_value_and_vectors_are_refused() -> None:
    check_no_list("category_count@2")
    check_needs_categories("category_count@2")


SPECS = ["category_count"]
VARIANTS = variants(*SPECS)


@tables
def test_plain_loops(**given: Any) -> None:
    check(VARIANTS, **given)


def test_plain_loops_with_thousands_of_categories() -> None:
    check_thousands_of_categories(VARIANTS)


@pytest.mark.parametrize("spec", SPECS)
def test_digits_depend_neither_on_other_users_nor_on_other_cutoffs(spec: str) -> None:
    check_digits(spec)
