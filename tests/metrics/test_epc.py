"""Expected popularity complement: worked cases, and an oracle in plain loops."""

from __future__ import annotations

import math
from typing import Any

import pytest

import atkay
from loops_history import NAN, User, check, tables, values


def test_epc_of_items_that_a_quarter_and_half_of_the_users_saw() -> None:
    # (0.75 / log2(2) + 0.5 / log2(3)) / (1 / log2(2) + 1 / log2(3)) = (0.75 + 0.315465) / 1.630930
    train = {1: ["x"], 2: ["a", "b"], 3: ["b"], 4: ["x"]}
    assert values({1: ["a", "b"]}, {1: ["a", "b"]}, "epc@2", train=train) == pytest.approx([0.653287], abs=1e-6)


def test_worked_cases() -> None:
    # Four users, a has 4 of 8 interactions and b has 2; z is unseen. In bits: 0, 1 and log2(4) of users, 1, 2 and
    # log2(8) of interactions.
    train = {1: ["a", "b"], 2: ["a", "b"], 3: ["a", "c"], 4: ["a", "d"]}
    recs, truth = {1: ["a", "b", "z"]}, {1: ["b", "z"]}
    expected = {
        "epc(discount=flat)": (1 / 2 + 1) / 3,
        "epc(discount=flat,relevance=listed)": (0 + 1 / 2 + 1) / 3,
    }
    for spec, value in expected.items():
        assert values(recs, truth, spec, train=train) == pytest.approx([value]), spec


def test_what_needs_no_relevant_item_has_no_direction() -> None:
    assert atkay.parse("epc(relevance=listed)@2").better == "neither"
    assert atkay.parse("epc@2").better == "higher"


def epc(m: Any, u: User, top: list[int], _: int) -> float:
    numerator = denominator = 0.0
    for rank, item in enumerate(top, 1):
        weight = 1 / math.log2(rank + 1) if m.discount == "log2" else 1.0
        denominator += weight
        if m.relevance == "listed" or item in u.relevant:
            numerator += weight * (1 - u.n[item] / len(u.train))
    return numerator / denominator if denominator else 0.0 if m.relevance == "hits" else NAN


@tables
def test_every_value_is_that_of_the_oracle(**given: Any) -> None:
    check("epc", epc, **given)
