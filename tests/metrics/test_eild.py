"""Expected intra-list diversity: worked cases; the fuzz compares with plain loops."""

from __future__ import annotations

import math

import pytest

import atkay
from loops_categories import CATEGORIES, VECTORS, check_digits, check_needs_categories, value

FLAT = "discount=flat,relevance=listed"
W = [1 / math.log2(n + 1) for n in range(1, 5)]
AB, AE, BE = 1 - 1 / 3, 1 - 2 / 3, 1 - 2 / 3
"""Jaccard distances: a has p and q, b has q and r, e has p, q and r."""


def test_all_items_of_a_list() -> None:
    # From a: b is one place below, e two. From b: a is above, e one below. From e: both are above.
    of_a = (W[0] * AB + W[1] * AE) / (W[0] + W[1])
    of_b = (AB + BE) / 2
    of_e = (AE + BE) / 2
    expected = (W[0] * of_a + W[1] * of_b + W[2] * of_e) / (W[0] + W[1] + W[2])
    assert value("eild(by=categories,relevance=listed)@3", "abe", features=CATEGORIES) == pytest.approx(expected)


def test_relevant_items_alone() -> None:
    # a at rank 1 and e at rank 4 are relevant; both have the other alone to be compared with.
    found = value("eild(by=categories)@4", "abde", truth="ae", features=CATEGORIES)
    assert found == pytest.approx(AE * (W[0] + W[3]) / sum(W))
    # In the top 3 there is one, and in the truth of another user none of the list.
    assert value("eild(by=categories)@3", "abde", truth="ae", features=CATEGORIES) == 0
    assert value("eild(by=categories)@4", "abde", truth="a", features=CATEGORIES) == 0
    # a at 1, b at 2, e at 4: from a, e is three places below.
    of_a = (W[0] * AB + W[2] * AE) / (W[0] + W[2])
    of_b = (AB + W[1] * BE) / (1 + W[1])
    of_e = (AE + BE) / 2
    found = value("eild(by=categories)@4", "abde", truth="abe", features=CATEGORIES)
    assert found == pytest.approx((W[0] * of_a + W[1] * of_b + W[3] * of_e) / sum(W))


@pytest.mark.parametrize("by", ["features", "euclidean", "hamming", "categories"])
@pytest.mark.parametrize("unknown", ["skip", "apart"])
def test_flat_and_without_relevance_it_is_ild(by: str, unknown: str) -> None:
    known = CATEGORIES if by == "categories" else VECTORS
    words = f"by={by},unknown={unknown}"
    flat, ild = (str(atkay.parse(each)) for each in (f"eild({words},{FLAT})@4", f"ild({words})@4"))
    for listed in ("abde", "abx", "xaye"):
        assert value(flat, listed, features=known) == pytest.approx(value(ild, listed, features=known))


def test_what_is_not_known_is_left_out_or_put_apart() -> None:
    # x is unknown: left out, it takes its weight along; a and e are then one pair at distance AE.
    words = "by=categories,relevance=listed"
    assert value(f"eild({words})@3", "axe", features=CATEGORIES) == pytest.approx(AE)
    assert math.isnan(value(f"eild({words})@2", "axe", features=CATEGORIES))
    of_a = (W[0] * 1 + W[1] * AE) / (W[0] + W[1])
    expected = (W[0] * of_a + W[1] * 1 + W[2] * (AE + 1) / 2) / (W[0] + W[1] + W[2])
    assert value("eild(by=categories,unknown=apart,relevance=listed)@3", "axe", features=CATEGORIES) == pytest.approx(
        expected
    )


def test_digits_depend_on_the_list_alone() -> None:
    for by in ("features", "hamming", "categories"):
        check_digits(f"eild(by={by},relevance=listed)")
    check_needs_categories("eild(by=categories)@2")
