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


@pytest.mark.parametrize(
    ("per", "divisor"),
    # Four users have n: a 3, b 1, c 1; five interactions of three items.
    [("one", 1), ("interactions", 5), ("users", 4), ("highest", 3), ("mean", 5 / 3)],
)
def test_it_is_divided_by_what_per_says(per: str, divisor: float) -> None:
    train = {1: ["a", "b"], 2: ["a"], 3: ["a"], 4: ["c"]}
    found = values({1: ["a", "b", "z"]}, {1: ["a"]}, f"arp(per={per})", train=train)
    assert found == pytest.approx([(3 + 1 + 0) / 3 / divisor])


def test_interactions_are_the_normalised_value_of_rectools() -> None:
    # RecTools 0.19.0, the example of AvgRecPopularity: n is 3, 2, 1.
    recs = {1: ["1", "2"], 2: ["3", "1", "2"], 3: ["3", "2"]}
    train = {1: ["1", "2"], 2: ["1", "3"], 3: ["1", "2"]}
    assert values(recs, recs, "arp@3", train=train) == [2.5, 2.0, 1.5]
    found = values(recs, recs, "arp(per=interactions)@3", train=train)
    assert found == pytest.approx([0.41666667, 0.33333333, 0.25])


def arp(m: Any, u: User, top: list[int], __: int) -> float:
    counts = [float(count) for count in u.n.values() if count]
    divisor = {
        "one": 1,
        "interactions": u.pairs,
        "users": len(u.train),
        "highest": max(counts),
        "mean": mean(counts),
    }[m.per]
    return mean([u.n[item] for item in top]) / divisor


@tables
def test_every_value_is_that_of_the_oracle(**given: Any) -> None:
    check("arp", arp, **given)
