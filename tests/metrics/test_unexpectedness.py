"""Unexpectedness: published values, worked cases, and an oracle in plain loops."""

from __future__ import annotations

from typing import Any

import pytest

import atkay
from atkay.errors import SideError
from loops_history import NAN, User, check, tables, values

REPLAY_RECS = {1: [3, 7, 10, 11, 2], 2: [5, 8, 11, 1, 3], 3: [4, 9, 2]}
REPLAY_BASE = {1: [2, 3, 7], 2: [5, 8, 3], 3: [4, 9]}


def test_unexpectedness_in_the_documentation_of_replay() -> None:
    # @2: 3 7 against 2 3, 5 8 against 5 8, 4 9 against 4 9. @4: 3 7 10 11 against 2 3 7, 5 8 11 1 against 5 8 3,
    # 4 9 2 and an empty place against 4 9.
    specs = ["unexpectedness(expected=top,per=k)@2", "unexpectedness(expected=top,per=k)@4"]
    result = atkay.evaluate(REPLAY_RECS, REPLAY_RECS, specs, reference=REPLAY_BASE)
    assert result.query_values.T.tolist() == [[0.5, 0, 0], [0.5, 0.5, 0.5]]
    assert [result[spec] for spec in specs] == pytest.approx([0.166667, 0.5], abs=1e-6)


def test_an_item_is_expected_from_the_later_of_its_two_places_on() -> None:
    # c stands third in the list and first in the reference, a the other way round: both lists share b at 2, all at 3.
    spec = "unexpectedness(expected=top)@1,2,3"  # together, so that the widest cutoff lets all places in
    result = atkay.evaluate({1: list("abc")}, {1: ["a"]}, spec, reference={1: list("cba")})
    assert result.query_values.tolist() == [[1, 0.5, 0]]


def test_needs_no_truth_and_a_list() -> None:
    given: dict[str, Any] = {"reference": {1: ["a"], 2: ["b"]}, "exclude": {3: ["a"]}}
    recs = {1: ["a", "c"], 2: ["a", "b"], 3: ["a"], 4: ["a", "b", "c"]}
    # User 2 has no truth, the list of user 3 is emptied, for user 4 nothing is expected.
    found = values(recs, {1: ["a"], 3: ["a"], 4: ["a"]}, "unexpectedness", **given)
    assert found == pytest.approx([0.5, 0.5, NAN, 1], nan_ok=True)
    assert atkay.parse("unexpectedness").better == "neither"


def test_what_is_missing_is_named() -> None:
    with pytest.raises(SideError, match="needs reference="):
        values({1: ["a"]}, {1: ["a"]}, "unexpectedness")


def unexpectedness(m: Any, u: User, top: list[int], k: int) -> float:
    if not u.listed:
        return NAN
    base = u.base[:k] if m.expected == "top" and m.k is not None else u.base
    common = len(set(top) & set(base))
    return 1 - common / (k if m.per == "k" else len(top))


@tables
def test_every_value_is_that_of_the_oracle(**given: Any) -> None:
    check("unexpectedness", unexpectedness, **given)
