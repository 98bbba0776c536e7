"""Average recommendation popularity: worked cases, and an oracle in plain loops."""

from __future__ import annotations

from typing import Any

import pytest

from loops_history import NAN, User, check, mean, tables, values


def test_worked_cases() -> None:
    # n: a 3, b 1; z is unseen and counts 0. An emptied list has no value.
    train = {1: ["a", "b"], 2: ["a"], 3: ["a"]}
    recs = {1: ["a", "b", "z"], 2: ["a"]}
    found = values(recs, recs, "arp", train=train, exclude={2: ["a"]})
    assert found == pytest.approx([(3 + 1 + 0) / 3, NAN], nan_ok=True)
    assert values(recs, recs, "arp@2", train=train) == [(3 + 1) / 2, 3]


def arp(_: Any, u: User, top: list[int], __: int) -> float:
    return mean([u.n[item] for item in top])


@tables
def test_every_value_is_that_of_the_oracle(**given: Any) -> None:
    check("arp", arp, **given)
