"""Long tail: worked cases, and an oracle in plain loops."""

from __future__ import annotations

from typing import Any

import pytest

from loops_history import NAN, User, check, mean, tables, values


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


@pytest.mark.parametrize(
    ("head", "tail"),
    [
        (0.2, "bcde"),  # of five items, one: a
        (0.21, "cde"),  # above b: 1 < 1.05, so b is in the head
        (0.4, "cde"),  # above c, d and e: 2, not below 2
        (0.5, ""),  # above c, d and e: 2 < 2.5, and these three are equally popular
    ],
)
def test_the_head_may_be_a_share_of_the_items(head: float, tail: str) -> None:
    # Users: six of a, two of b, one each of c, d and e.
    train = {n: ["a"] for n in range(6)} | {6: list("bc"), 7: list("bd"), 8: ["e"]}
    words = f"head={head},head_of=items"
    assert values({1: list("abcde")}, {1: ["a"]}, f"long_tail({words})", train=train) == [len(tail) / 5]
    assert values({1: list("abcde")}, {1: ["a"]}, f"long_tail({words},per=one)", train=train) == [len(tail)]
    for item in "abcdez":
        here = values({1: [item]}, {1: [item]}, f"long_tail({words})", train=train)
        assert here == [item in tail or item == "z"]


def test_the_number_of_items_in_the_tail() -> None:
    # a holds 8 of 10 interactions. An emptied list has none of either.
    train = {n: ["a"] for n in range(8)} | {8: ["b"], 9: ["c"]}
    recs, exclude = {1: ["b", "a", "c"], 2: ["a"]}, {2: ["a"]}
    found = values(recs, recs, "long_tail(per=one)@2,3", train=train, exclude=exclude)
    assert found == pytest.approx([1, NAN], nan_ok=True)
    assert values(recs, recs, "long_tail(per=one)@3", train=train) == [2, 0]


def long_tail(m: Any, u: User, top: list[int], _: int) -> float:
    weight = {item: count if m.head_of == "interactions" else 1 for item, count in u.n.items() if count}

    def in_tail(item: int) -> bool:
        above = sum(weight[other] for other in weight if u.n[other] > u.n[item])
        return item not in weight or above >= m.head * sum(weight.values())

    return mean([in_tail(item) for item in top]) * (1 if m.per == "listed" else len(top))


@tables
def test_every_value_is_that_of_the_oracle(**given: Any) -> None:
    check("long_tail", long_tail, **given)
