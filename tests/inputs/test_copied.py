"""Truth that is passed as the lists, too."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

import atkay
from atkay.errors import InputError

MESSAGE = "^recs and truth hold the same rows: is one of them passed twice, or are the two swapped"
ENGINES = pytest.mark.parametrize("engine", [{}, {"memory": "1KB"}], ids=["memory", "files"])


def rows(users: int, items: int = 2) -> pl.DataFrame:
    return pl.DataFrame(
        [(user, f"i{user + at}") for user in range(users) for at in range(items)], ["user", "item"], orient="row"
    )


@pytest.mark.parametrize(
    ("users", "engine"), [(10, {}), (10, {"memory": "1KB"}), (3000, {}), (3000, {"memory": "20KB"})]
)
def test_the_same_rows_are_refused(users: int, engine: dict[str, Any]) -> None:
    same = rows(users)
    with pytest.raises(InputError, match=MESSAGE):
        atkay.evaluate(same, same, "map", **engine)
    with pytest.raises(InputError, match=r"add ranks to recs and name them with columns=Columns\(rank=\.\.\.\)"):
        atkay.evaluate(same.clone(), same.with_columns(relevance=2), "map", **engine)


def test_dicts() -> None:
    same = {user: ["a", "b"] for user in range(10)}
    with pytest.raises(InputError, match=MESSAGE):
        atkay.evaluate(same, same, "map")


@ENGINES
@pytest.mark.parametrize(
    ("recs", "truth"),
    [
        (rows(9), rows(9)),  # few users
        (rows(20, 1), rows(20, 1)),  # a list of one item may well be right
        (rows(20)[::-1], rows(20)),  # another order
        (rows(20).with_columns(rank=pl.int_range(pl.len()) % 2 + 1), rows(20)),
        (rows(20), rows(20).with_columns(relevance=pl.int_range(pl.len()) % 2 + 1)),  # grades
    ],
)
def test_perfect_lists(recs: pl.DataFrame, truth: pl.DataFrame, engine: dict[str, Any]) -> None:
    assert atkay.evaluate(recs, truth, "map", **engine)["map"] == 1


def test_one_row_differs() -> None:
    other = rows(20).with_columns(item=pl.when(pl.int_range(pl.len()) == 39).then(pl.lit("x")).otherwise("item"))
    # One of 20 users finds the first of two items: an average precision of 1 / 2.
    assert atkay.evaluate(other, rows(20), "map")["map"] == pytest.approx((19 + 1 / 2) / 20)
