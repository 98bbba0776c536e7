"""Long tail: worked cases, and an oracle in plain loops."""

from __future__ import annotations

from typing import Any

import pytest

from loops_history import User, check, mean, tables, values


@pytest.mark.parametrize(
    ("head", "tail"),
    [
        (0.8, "cdz"),  # above b: 5 < 8, above c and d: 8
        (0.81, "z"),  # above c and d: 8 < 8.1, both are in the head
        (0.5, "bcdz"),  # above b: 5, not below 5
        (0.1, "bcdz"),
        (1, "z"),
    ],
)
def test_the_tail_is_what_the_head_does_not_hold(head: float, tail: str) -> None:
    # Ten interactions: five of a, three of b, one each of c and d.
    train = {1: list("ab"), 2: list("ab"), 3: list("ab"), 4: list("ac"), 5: list("ad")}
    found = values({1: list("abcdz")}, {1: ["a"]}, f"long_tail(head={head})", train=train)
    assert found == [len(tail) / 5]
    for item in "abcdz":
        assert values({1: [item]}, {1: [item]}, f"long_tail(head={head})", train=train) == [item in tail]


def test_a_share_of_interactions_is_not_rounded_up() -> None:
    # 0.55 * 100 is a float above 55, what a holds; b is in the tail all the same.
    train = {user: ["a" if user < 55 else "b"] for user in range(100)}
    assert values({0: ["a", "b"]}, {0: ["a"]}, "long_tail(head=0.55)", train=train) == [0.5]


def long_tail(m: Any, u: User, top: list[int], _: int) -> float:
    def in_tail(item: int) -> bool:
        above = sum(count for count in u.n.values() if count > u.n[item])
        return not u.n[item] or above >= m.head * u.pairs

    return mean([in_tail(item) for item in top])


@tables
def test_every_value_is_that_of_the_oracle(**given: Any) -> None:
    check("long_tail", long_tail, **given)
