"""Rows of a few integers: the items of a user, or a user and an item. Where both are possible, atkay asks."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

import atkay
from atkay.errors import SourceError

PAIRS = [(1, 3), (2, 1), (2, 3)]
LISTS = {1: [4, 3], 2: [1, 3]}
FRAME = pl.DataFrame({"user": [0, 0, 1, 1], "item": [4, 3, 1, 3], "rank": [1, 2, 1, 2]})


@pytest.mark.parametrize("form", [np.array, lambda rows: [*map(list, rows)], list])
def test_pairs_as_truth(form: Any) -> None:
    with pytest.raises(SourceError) as refused:
        atkay.evaluate(LISTS, form(PAIRS), "precision@2")
    assert "rows of user and item, or 2 items for each user" in str(refused.value)
    # As the message says: user 1 has item 3, user 2 has 1 and 3.
    rows = pl.DataFrame(form(PAIRS), schema=["user", "item"], orient="row")
    assert atkay.evaluate(LISTS, rows, "precision@2")["precision@2"] == (1 / 2 + 2 / 2) / 2
    # Or: user 0 has 1 and 3, user 1 has 2 and 1, user 2 has 2 and 3; user 0 has no list.
    items = dict(enumerate(form(PAIRS)))
    assert atkay.evaluate(LISTS, items, "precision@2")["precision@2"] == (0 / 2 + 0 / 2 + 1 / 2) / 3


@pytest.mark.parametrize(
    ("rows", "roles"),
    [
        ([(1, 3, 5), (2, 4, 1)], "user, item and relevance"),
        ([(1, 3, 5, 881250949), (2, 4, 1, 881250950)], "user, item, relevance and time"),
    ],
)
def test_ratings_as_truth(rows: list[tuple[int, ...]], roles: str) -> None:
    with pytest.raises(SourceError, match=f"rows of {roles}, or {len(rows[0])} items for each user"):
        atkay.evaluate(LISTS, np.array(rows), "hit@2")


def test_pairs_to_exclude() -> None:
    with pytest.raises(SourceError, match="exclude: an array of 2 columns could be rows of user and item"):
        atkay.evaluate(LISTS, {1: [3], 2: [1]}, "hit@2", exclude=np.array(PAIRS))


def test_rows_of_lists() -> None:
    rows = np.array([(1, 4, 1), (1, 3, 2), (2, 1, 1), (2, 3, 2)])
    with pytest.raises(SourceError, match="recs: an array of 3 columns could be rows of user, item and score, or 3"):
        atkay.evaluate(rows, {1: [3], 2: [1]}, "hit@2")


def test_a_row_for_every_user_is_items() -> None:
    items = np.array([(1, 3), (2, 1)])
    # User 0 finds 3 alone, at rank 2; user 1 finds 1 alone, at rank 1.
    for recs in ({0: [4, 3], 1: [1, 3]}, [[4, 3], [1, 3]], np.array([[4, 3], [1, 3]]), FRAME):
        assert atkay.evaluate(recs, items, "mrr")["mrr"] == (1 / 2 + 1) / 2
    assert atkay.evaluate([[4, 3], [1, 3]], items, "mrr", users=["x", "y"])["mrr"] == (1 / 2 + 1) / 2


def test_rows_that_count_the_users_are_unclear_even_so() -> None:
    with pytest.raises(SourceError, match="rows of user and item, or 2 items for each user"):
        atkay.evaluate([[4, 3], [1, 3]], np.array([(0, 3), (1, 1)]), "mrr")


def test_padded_rows_are_items() -> None:
    assert atkay.evaluate({0: [4, 3], 2: [1, 3]}, np.array([(3, 1), (2, -1), (3, 1)]), "hit@2")["hit@2"] == 2 / 3
