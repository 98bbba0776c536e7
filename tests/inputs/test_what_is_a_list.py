"""What is a list of items, what its numbers mean, and which column holds it: silent misreadings are refused."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import atkay
from atkay import Columns
from atkay.errors import ColumnError, InputError, SourceError, UnusedWarning

# In each of them b has the larger number, so it stands at rank 1 and is the only relevant item.
NUMBERED: dict[str, Any] = {
    "dicts in pandas": pd.DataFrame({"user": [1, 2], "items": [{"a": 1.0, "b": 2.0}, None]}),
    "dicts in pandas, a missing one": pd.DataFrame({"user": [1, 2], "items": [{"a": 1.0, "b": 2.0}, np.nan]}),
    "pairs in a dict": {1: [("a", 1.0), ("b", 2.0)], 2: []},
    "pairs in lists": [[], [("a", 1.0), ("b", 2.0)]],
}


@pytest.mark.parametrize("form", NUMBERED)
def test_numbers_within_lists_order_them(form: str) -> None:
    assert atkay.evaluate(NUMBERED[form], {1: ["b"]}, "mrr")["mrr"] == 1


@pytest.mark.parametrize("form", NUMBERED)
def test_numbers_within_lists_are_grades_of_truth(form: str) -> None:
    # b alone has a grade of at least 2, and stands at rank 2.
    assert atkay.evaluate({1: ["a", "b"]}, NUMBERED[form], "mrr", min_relevance=2)["mrr"] == 1 / 2


@pytest.mark.parametrize(
    ("relevant", "shown"),
    [("actual", "predicted"), ("ground_truth", "recommendations"), ("relevant_items", "predictions")],
)
def test_one_frame_with_both_sides(relevant: str, shown: str) -> None:
    # User 1 finds 1 at rank 2, user 2 finds nothing.
    frame = pl.DataFrame({"user": [1, 2], relevant: [[1], [2]], shown: [[3, 1], [4, 5]]})
    assert atkay.evaluate(frame, frame, "mrr")["mrr"] == (1 / 2 + 0) / 2
    unknown = frame.rename({relevant: "bought"})
    with pytest.raises(ColumnError, match=rf"truth: 'bought', '{shown}' could each be the lists of items"):
        atkay.evaluate(frame, unknown, "mrr")
    named = {"truth": Columns(item="bought")}
    assert atkay.evaluate(unknown, unknown, "mrr", columns=named)["mrr"] == (1 / 2 + 0) / 2


def test_truth_in_the_form_of_a_submission() -> None:
    frame = pl.DataFrame({"user": [1, 2], "prediction": [[1], [2]]})
    assert atkay.evaluate({1: [3, 1], 2: [4, 5]}, frame, "mrr")["mrr"] == (1 / 2 + 0) / 2


TITLES = pl.DataFrame(
    {
        "user": ["u1", "u1", "u2", "u2"],
        "movies": ["Star Wars", "Toy Story", "Star Wars", "The Matrix"],
        "score": [0.9, 0.8, 0.7, 0.6],
    }
)


@pytest.mark.parametrize("kind", [pl.DataFrame, pl.LazyFrame, pl.DataFrame.to_pandas])
@pytest.mark.parametrize("name", ["movies", "products", "recommended", "articles"])
def test_titles_are_not_split(kind: Any, name: str) -> None:
    truth = {"u1": ["Toy Story"], "u2": ["Star Wars"]}
    # Neither with scores, nor where users repeat; nor with scores where no user does.
    for frame in (TITLES, TITLES.drop("score"), TITLES.unique("user")):
        recs = frame.rename({"movies": name})
        given = recs.lazy() if kind is pl.LazyFrame else kind(recs)
        with pytest.raises(InputError, match=rf"recs: (no column for the item; .*|'{name}' holds .*)item"):
            atkay.evaluate(given, truth, "mrr")
    # u1 finds Toy Story at rank 2, u2 Star Wars at rank 1.
    named = {"recs": Columns(item="movies")}
    assert atkay.evaluate(TITLES, truth, "mrr", columns=named)["mrr"] == (1 / 2 + 1) / 2


@pytest.mark.parametrize(
    "written", [["Red Shirt", "Green Shirt"], ["red shirt", "x1 y2"], ["[1]", "[2]"], ["1, 2", "3"]]
)
def test_text_that_may_be_one_id_is_not_split(written: list[str]) -> None:
    recs = pl.DataFrame({"user": [1, 2], "items": written})
    message = "'items' holds .*, which could be one id, or a list of items written as text. Name the column 'item' if"
    with pytest.raises(InputError, match=message):
        atkay.evaluate(recs, {1: ["a"], 2: ["b"]}, "mrr")


@pytest.mark.parametrize(
    ("kind", "written"),
    [
        (kind, written)
        for kind in (pd.DataFrame, pl.DataFrame)
        for written in (["['x', 'b']", "['c']"], ["[x b]", "[ c]"], ["x, b", "c, d"], ["x|b", "c|d"], ["x;b", "c;d"])
    ],
)
def test_the_advice_makes_lists(kind: Any, written: list[str]) -> None:
    variables: dict[str, Any] = {"recs": kind({"user": [1, 2], "items": written}), "pl": pl, "ast": ast}
    truth = {1: ["b"], 2: ["c"]}
    with pytest.raises(InputError) as refused:
        atkay.evaluate(variables["recs"], truth, "mrr")
    code = str(refused.value).split("for instance with ")[1].removesuffix(".")
    made = eval(code, variables)
    recs = made if kind is pl.DataFrame else variables["recs"].assign(items=made)
    # User 1 finds b at rank 2, user 2 c at rank 1.
    assert atkay.evaluate(recs, truth, "mrr")["mrr"] == (1 / 2 + 1) / 2


@pytest.mark.parametrize("kind", [pl.DataFrame, pl.LazyFrame, pd.DataFrame])
@pytest.mark.parametrize("name", ["ratings", "ranks", "distances", "probabilities"])
def test_lists_of_numbers_that_are_not_known(kind: Any, name: str) -> None:
    columns = {"user": [1, 2], "items": [["a", "b"], ["c"]], name: [[0.1, 0.9], [0.5]]}
    with pytest.warns(UnusedWarning, match=f"recs: no column was recognised as score, .*; '{name}' is not used"):
        atkay.evaluate(kind(columns), {1: ["b"]}, "mrr")
    with pytest.warns(UnusedWarning, match=f"truth: no column was recognised as relevance, .*; '{name}' is not used"):
        atkay.evaluate({1: ["b"]}, kind(columns), "mrr")
    named = {"recs": Columns(score=name)}
    assert atkay.evaluate(kind(columns), {1: ["b"]}, "mrr", columns=named)["mrr"] == 1
    vectors = kind({**columns, name: [[0.1, 0.9, 0.3], [0.5, 0.2, 0.1]]})  # of users: nothing is said
    assert atkay.evaluate(vectors, {1: ["b"]}, "mrr")["mrr"] == 1 / 2


@pytest.mark.parametrize("flags", [[True, False], ["true", "FALSE"]])
def test_flags_that_are_not_known(flags: list[Any]) -> None:
    truth = pl.DataFrame({"user": [1, 1], "item": ["a", "b"], "clicked": flags})
    with pytest.warns(UnusedWarning, match="truth: no column was recognised as relevance, .*; 'clicked' is not used"):
        atkay.evaluate({1: ["b", "a"]}, truth, "mrr")
    recs = truth.rename({"clicked": "is_new"})  # lists are not ordered by flags: nothing is said
    assert atkay.evaluate(recs, {1: ["b"]}, "mrr")["mrr"] == 1 / 2


def test_empty_text_pads_rows() -> None:
    recs = np.array([["a", "b"], ["c", ""]])
    assert atkay.evaluate(recs, [["b"], ["c"]], "precision(per=listed)")["precision(per=listed)"] == (1 / 2 + 1) / 2


def test_estimates_of_surprise() -> None:
    columns = {"uid": [1, 1], "iid": ["a", "b"], "est": [1.5, 4.5]}
    assert atkay.evaluate(pd.DataFrame(columns), {1: ["b"]}, "mrr")["mrr"] == 1
    lists = pl.DataFrame({"uid": [1], "items": [["a", "b"]], "est": [[1.5, 4.5]]})
    assert atkay.evaluate(lists, {1: ["b"]}, "mrr")["mrr"] == 1


SCORED_MATRIX = np.array([[0.1, 0.9, 0.2, 0.3], [0.4, 0.1, 0.2, 0.3]])
PIVOT = pd.DataFrame(SCORED_MATRIX, index=["u", "v"], columns=list("abcd"))


@pytest.mark.parametrize(
    "frame", [PIVOT, pl.DataFrame(SCORED_MATRIX), pd.DataFrame(SCORED_MATRIX), PIVOT.rename_axis("user")]
)
def test_frames_of_users_times_items(frame: Any) -> None:
    with pytest.raises(ColumnError, match=r"If each row is a user and each column an item, pass recs\.to_numpy\(\)"):
        atkay.evaluate(frame, {"u": ["a"]}, "mrr")
    # Row 0 has its relevant item 3 at rank 2, row 1 has 0 at rank 1.
    truth = np.array([[0, 0, 0, 1], [1, 0, 0, 0]], dtype=bool)
    assert atkay.evaluate(PIVOT.to_numpy(), truth, "mrr")["mrr"] == (1 / 2 + 1) / 2


def test_users_in_an_index_without_a_name() -> None:
    frame = pd.DataFrame({"items": [["a", "b"], ["b"]]}, index=["u", "v"])
    message = r"truth: no column for the user; .*If the users are the index, pass truth\.reset_index\(names='user'\)\."
    with pytest.raises(ColumnError, match=message):
        atkay.evaluate({"u": ["b"]}, frame, "mrr")
    # u finds a at rank 1; v, who has a list of b alone, is not asked.
    assert atkay.evaluate(frame.reset_index(names="user"), {"u": ["a"]}, "mrr")["mrr"] == 1
    with pytest.raises(ColumnError, match=r"Columns\(user=\.\.\.\)\.$"):
        atkay.evaluate(frame.reset_index(drop=True), {"u": ["b"]}, "mrr")


def test_ids_of_two_words_are_not_split() -> None:
    """As titles, with a digit in each word, so that they could be lists of ids."""
    frame = TITLES.with_columns(movies=pl.Series(["A1 B2", "C1 B2", "A1 B2", "D1 B2"]))
    for recs in (frame, frame.drop("score"), frame.unique("user")):
        with pytest.raises(ColumnError, match=r"recs: no column for the item; .*Pass columns=Columns\(item='movies'\)"):
            atkay.evaluate(recs, {"u1": ["B2"]}, "mrr")
    # Without scores and with a row per user, lists are read: u1 finds B2 at rank 2.
    assert atkay.evaluate(frame.unique("user").drop("score"), {"u1": ["B2"]}, "mrr")["mrr"] == 1 / 2


def test_sets_and_missing_lists_in_pandas() -> None:
    truth = pd.DataFrame({"user": [1, 2], "items": [{"b", "c"}, {"a"}]})
    missing = pd.DataFrame({"user": [1, 2], "items": [["a", "b"], np.nan]})
    # User 1 finds b at rank 2, user 2 has no list.
    assert atkay.evaluate(missing, truth, "mrr")["mrr"] == (1 / 2 + 0) / 2


def test_lists_of_pandas_that_begin_late() -> None:
    recs = pd.DataFrame({"user": range(1101), "items": [None] * 1100 + [["a", "b"]]})
    assert atkay.evaluate(recs, {1100: ["b"]}, "mrr")["mrr"] == 1 / 2


FRAME = pd.DataFrame({"item": ["a"], "score": [0.5]})


@pytest.mark.parametrize(
    ("recs", "message"),
    [
        (
            pd.DataFrame({"user": [1, 2, 3], "items": [["a"], None, "b"]}),
            r"recs: 'items' holds a str; a list of items is needed in row 2 \(counting from 0\)\. Give every row a "
            "list; None stands for no items",
        ),
        (
            pd.DataFrame({"user": [1, 2], "items": [["a"], {"b"}]}),
            r"recs: 'items' holds a set; a set has no order in row 1",
        ),
        (
            pd.DataFrame({"user": [1, 2], "items": [["a"], {"b": 1.0}]}),
            "recs: some users have a dict and some a list",
        ),
        *(
            ({1: frame}, "recs: the value of user 1 is a DataFrame; .*Add a column 'user' to each of the frames")
            for frame in (FRAME, pl.DataFrame(FRAME))
        ),
        ({1: [("a", 1.0), "bc"]}, "holds tuples of another length than 2"),
    ],
)
def test_what_is_no_list_is_refused(recs: Any, message: str) -> None:
    with pytest.raises(SourceError, match=message):
        atkay.evaluate(recs, {1: ["a"]}, "mrr")
