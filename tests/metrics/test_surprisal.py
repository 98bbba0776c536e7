"""Surprisal: RePlay's own values, worked cases, and an oracle in plain loops."""

from __future__ import annotations

import math
from typing import Any

import pytest

import atkay
from loops_history import NAN, User, check, tables, values

REPLAY_RECS = {1: [3, 7, 10, 11, 2], 2: [5, 8, 11, 1, 3], 3: [4, 9, 2]}
REPLAY_TRAIN = {1: [5, 6, 8, 9, 2], 2: [5, 8, 11, 1, 3], 3: [4, 9, 2]}


def test_surprisal_in_the_documentation_of_replay() -> None:
    # Three users. Items 3 and 7: one user and none, 1 each. Items 5 and 8: two users, log2(3/2) / log2(3) = 0.369070.
    # Items 4 and 9: one user and two.
    result = atkay.evaluate(REPLAY_RECS, REPLAY_RECS, "surprisal@2", train=REPLAY_TRAIN)
    assert result.query_values[:, 0] == pytest.approx([1, 0.3690702464285426, 0.6845351232142713])
    assert result["surprisal@2"] == pytest.approx(0.6845351232142715)
    # Recorded from RePlay 0.22.0 at 4, where the list of user 3 is short: it divides by k.
    found = values(REPLAY_RECS, REPLAY_RECS, "surprisal(per=k)@4", train=REPLAY_TRAIN)
    assert found == pytest.approx([1, 0.6845351232142713, 0.43453512321427135])


def test_worked_cases() -> None:
    # Four users, a has 4 of 8 interactions and b has 2; z is unseen. In bits: 0, 1 and log2(4) of users, 1, 2 and
    # log2(8) of interactions.
    train = {1: ["a", "b"], 2: ["a", "b"], 3: ["a", "c"], 4: ["a", "d"]}
    recs, truth = {1: ["a", "b", "z"]}, {1: ["b", "z"]}
    expected = {
        "surprisal": (0 + 1 / 2 + 1) / 3,
    }
    for spec, value in expected.items():
        assert values(recs, truth, spec, train=train) == pytest.approx([value]), spec


def test_surprisal_of_a_single_user_is_undefined() -> None:
    assert values({1: ["a"]}, {1: ["a"]}, "surprisal", train={1: ["a"]}) == pytest.approx([NAN], nan_ok=True)


def surprisal(m: Any, u: User, top: list[int], k: int) -> float:
    if not top or len(u.train) == 1:
        return NAN
    per = k if m.per == "k" else len(top)
    return sum(u.bits(item, "users") / math.log2(len(u.train)) for item in top) / per


@tables
def test_every_value_is_that_of_the_oracle(**given: Any) -> None:
    check("surprisal", surprisal, **given)
