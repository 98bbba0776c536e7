"""New to the user: RePlay's own values, and an oracle in plain loops."""

from __future__ import annotations

from typing import Any

from loops_history import User, check, mean, tables, values

REPLAY_RECS = {1: [3, 7, 10, 11, 2], 2: [5, 8, 11, 1, 3], 3: [4, 9, 2]}
REPLAY_TRAIN = {1: [5, 6, 8, 9, 2], 2: [5, 8, 11, 1, 3], 3: [4, 9, 2]}


def test_novelty_of_replay_is_the_share_that_is_new_to_the_user() -> None:
    # Recorded from RePlay 0.22.0 at 4: nothing of 3 7 10 11 is in 5 6 8 9 2, all of the others' lists is.
    assert values(REPLAY_RECS, REPLAY_RECS, "new_to_user@4", train=REPLAY_TRAIN) == [1, 0, 0]


def new_to_user(_: Any, u: User, top: list[int], __: int) -> float:
    return mean([item not in u.had for item in top])


@tables
def test_every_value_is_that_of_the_oracle(**given: Any) -> None:
    check("new_to_user", new_to_user, **given)
