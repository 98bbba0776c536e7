"""Expected free discovery: worked cases, and an oracle in plain loops."""

from __future__ import annotations

import math
from typing import Any

import pytest

import atkay
from loops_history import NAN, User, check, tables, values


def test_worked_cases() -> None:
    # Four users, a has 4 of 8 interactions and b has 2; z is unseen. In bits: 0, 1 and log2(4) of users, 1, 2 and
    # log2(8) of interactions.
    train = {1: ["a", "b"], 2: ["a", "b"], 3: ["a", "c"], 4: ["a", "d"]}
    recs, truth = {1: ["a", "b", "z"]}, {1: ["b", "z"]}
    expected = {
        "efd(discount=flat)": (2 + 3) / 3,
        "efd(discount=flat,unseen=skip)": 2 / 2,
        "efd(discount=flat,unseen=zero)": 2 / 3,
        "efd(discount=flat,relevance=listed)": (1 + 2 + 3) / 3,
    }
    for spec, value in expected.items():
        assert values(recs, truth, spec, train=train) == pytest.approx([value]), spec
    assert values({1: ["z"]}, {1: ["z"]}, "efd(unseen=skip)", train=train) == [0]


def test_what_needs_no_relevant_item_has_no_direction() -> None:
    assert atkay.parse("efd(relevance=listed)@2").better == "neither"
    assert atkay.parse("efd@2").better == "higher"


def efd(m: Any, u: User, top: list[int], _: int) -> float:
    numerator = denominator = 0.0
    for rank, item in enumerate(top, 1):
        if m.unseen == "skip" and not u.n[item]:
            continue
        weight = 1 / math.log2(rank + 1) if m.discount == "log2" else 1.0
        denominator += weight
        if m.relevance == "listed" or item in u.relevant:
            numerator += weight * (u.bits(item, "interactions") if u.n[item] or m.unseen == "one" else 0.0)
    return numerator / denominator if denominator else 0.0 if m.relevance == "hits" else NAN


@tables
def test_every_value_is_that_of_the_oracle(**given: Any) -> None:
    check("efd", efd, **given)
