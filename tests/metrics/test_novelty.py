"""Novelty: RecTools' own values, worked cases, and an oracle in plain loops."""

from __future__ import annotations

from typing import Any

import pytest

from atkay.errors import SideError
from loops_history import NAN, User, check, mean, tables, values


def test_novelty_in_the_documentation_of_rectools() -> None:
    # MeanInvUserFreq of RecTools 0.19.0. Of three users all had 1, one had 2, none had 3, counted as one: log2(3).
    recs, train = {1: [3], 2: [2, 3], 3: [1, 2]}, {1: [1, 2], 2: [1], 3: [1]}
    assert values(recs, recs, "novelty@1", train=train) == pytest.approx([1.5849625, 1.5849625, 0])
    assert values(recs, recs, "novelty@3", train=train) == pytest.approx([1.5849625, 1.5849625, 0.79248125])


def test_worked_cases() -> None:
    # Four users, a has 4 of 8 interactions and b has 2; z is unseen. In bits: 0, 1 and log2(4) of users, 1, 2 and
    # log2(8) of interactions.
    train = {1: ["a", "b"], 2: ["a", "b"], 3: ["a", "c"], 4: ["a", "d"]}
    recs, truth = {1: ["a", "b", "z"]}, {1: ["b", "z"]}
    expected = {
        "novelty": (0 + 1 + 2) / 3,
        "novelty(unseen=skip)": (0 + 1) / 2,
        "novelty(unseen=zero)": (0 + 1 + 0) / 3,
        "novelty(of=interactions)": (1 + 2 + 3) / 3,
        "novelty(of=interactions,unseen=skip)": (1 + 2) / 2,
    }
    for spec, value in expected.items():
        assert values(recs, truth, spec, train=train) == pytest.approx([value]), spec
    only_new = values({1: ["z"]}, {1: ["z"]}, "novelty(unseen=skip)", train=train)
    assert only_new == pytest.approx([NAN], nan_ok=True)


def test_what_is_missing_is_named() -> None:
    with pytest.raises(SideError, match="needs train="):
        values({1: ["a"]}, {1: ["a"]}, "novelty")


def novelty(m: Any, u: User, top: list[int], _: int) -> float:
    counted = [item for item in top if u.n[item] or m.unseen != "skip"]
    return mean([u.bits(item, m.of) if u.n[item] or m.unseen == "one" else 0.0 for item in counted])


@tables
def test_every_value_is_that_of_the_oracle(**given: Any) -> None:
    check("novelty", novelty, **given)
