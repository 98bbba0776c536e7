"""What is refused, and what the message says."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import atkay
from atkay import Columns
from atkay.errors import (
    AtkayError,
    ColumnError,
    DuplicateError,
    IdError,
    InputError,
    OrderError,
    RelevanceError,
    SourceError,
)

RECS = pl.DataFrame({"user": [1, 1, 2], "item": [10, 11, 10], "score": [0.9, 0.1, 0.5]})
TRUTH = pl.DataFrame({"user": [1, 2], "item": [10, 11], "relevance": [1, 2]})


def refused(error: type[AtkayError], message: str, recs: Any = RECS, truth: Any = TRUTH, **fields: Any) -> None:
    with pytest.raises(error) as caught:
        atkay.evaluate(recs, truth, "mrr", **fields)
    assert message in str(caught.value), str(caught.value)
    assert isinstance(caught.value, ValueError)


def test_missing_columns() -> None:
    message = (
        "recs: no column for the user; columns are 'usr', 'item', 'score'. Pass columns={'recs': Columns(user='usr')}."
    )
    refused(ColumnError, message, RECS.rename({"user": "usr"}))
    message = (
        "truth: no column for the item; columns are 'user', 'thing', 'relevance'. Name it with "
        "columns={'truth': Columns(item=...)}."
    )
    refused(ColumnError, message, truth=TRUTH.rename({"item": "thing"}))
    followed = atkay.evaluate(RECS, TRUTH.rename({"item": "thing"}), "mrr", columns={"truth": Columns(item="thing")})
    assert followed["mrr"] == atkay.evaluate(RECS, TRUTH, "mrr")["mrr"]
    both = {"recs": RECS.rename({"user": "usr"}), "truth": TRUTH.rename({"user": "usr"})}
    refused(ColumnError, "columns are 'usr', 'item', 'score'. Pass columns=Columns(user='usr').", **both)
    neither = {name: table.rename({"usr": "who"}) for name, table in both.items()}
    refused(ColumnError, "columns are 'who', 'item', 'score'. Name it with columns=Columns(user=...).", **neither)
    message = "columns are 'item', 'kind'. Name it with columns={'train': Columns(user=...)}."
    refused(ColumnError, message, train=pl.DataFrame({"item": [10], "kind": ["a"]}))
    message = "recs: no column 'user_id'; columns are 'user', 'item', 'score'. Did you mean 'user'?"
    refused(ColumnError, message, columns=Columns(user="user_id"))
    with pytest.raises(ColumnError) as caught:
        atkay.evaluate(RECS, TRUTH, columns=Columns(score="prediction"))
    assert str(caught.value) == "recs: no column 'prediction'; columns are 'user', 'item', 'score'"
    refused(ColumnError, "recs: no column 'step'", columns=Columns(user=("user", "step")))


def test_several_columns_could_be_meant() -> None:
    twice = RECS.with_columns(session_id="user")
    refused(ColumnError, "recs: 'user', 'session_id' could each be the user. Pass columns=Columns(user='user').", twice)
    assert atkay.evaluate(twice, TRUTH, "mrr", columns={"recs": Columns(user="session_id")})["mrr"] == 0.5


def test_unknown_tables_in_columns() -> None:
    refused(
        InputError, "a dict of them for some of 'recs', 'truth',", columns={"recommendations": Columns(user="user")}
    )


def test_one_dimension() -> None:
    refused(SourceError, "recs: pass a users x k array, got 1 dimension.", np.array([10, 11]))
    refused(SourceError, "truth: got a Series; pass the frame.", truth=pd.Series([10, 11]))


def test_empty_tables() -> None:
    refused(SourceError, "recs: a Polars frame has no rows", RECS.clear())
    refused(SourceError, "truth: a Polars frame has no rows", truth=TRUTH.clear())
    refused(SourceError, "recs: a dict has no rows", {})
    refused(SourceError, "truth: a dict has no rows", truth={1: [], 2: []})
    refused(ColumnError, "recs: no column for the user; there are no columns", pl.DataFrame())


@pytest.mark.parametrize("column", ["user", "item"])
def test_nulls_in_ids(column: str) -> None:
    holes = RECS.with_columns(pl.when(pl.col("score") > 0.4).then(column).alias(column))
    refused(IdError, f"recs: '{column}' is missing in row 1 (counting from 0)", holes)
    frame = pd.DataFrame(TRUTH.to_dict(as_series=False))
    frame.loc[1, column] = math.nan
    refused(IdError, f"truth: '{column}' is missing in row 1", truth=frame)
    text = RECS.with_columns(user=pl.Series(["a", None, None]))
    refused(IdError, "recs: 'user' is missing in row 1 (counting from 0), one of 2 such rows", text)


@pytest.mark.parametrize(
    ("bad", "shown"),
    [(math.nan, "is missing (NaN)"), (math.inf, "holds inf"), (-math.inf, "holds -inf"), (None, "is missing")],
)
def test_scores_that_are_no_numbers(bad: float | None, shown: str) -> None:
    broken = RECS.with_columns(score=pl.Series([0.9, bad, 0.5]))
    message = f"recs: 'score' {shown} in row 1 (counting from 0). Scores must be finite numbers"
    refused(OrderError, message, broken)


def test_scores_that_are_text() -> None:
    refused(OrderError, "recs: 'score' holds 'high' in row 1", RECS.with_columns(score=pl.Series(["1", "high", "0"])))
    message = "recs: 'score' is text, such as '1.47x': convert it to numbers."
    refused(OrderError, message, RECS.with_columns(score=pl.Series(["1", "1.47x", "0.2x"])))
    dates = RECS.with_columns(score=pl.Series(["2026-01-01"] * 3).str.to_date())
    refused(OrderError, "recs: 'score' is of type Date. Scores must be numbers", dates)


def test_ids_of_different_types() -> None:
    text = TRUTH.with_columns(pl.col("item").cast(pl.String))
    message = (
        "recs and truth have ids of different types: item ids are integers in recs, such as 10, and text in truth, "
        "such as '10'. Convert one side, for instance with "
        "recs = recs.with_columns(pl.col('item').cast(pl.String))."
    )
    refused(IdError, message, truth=text)
    refused(
        IdError,
        "user ids are integers in recs, such as 1, and text in truth, such as '1'. Convert one side, for instance",
        truth=TRUTH.with_columns(pl.col("user").cast(pl.String)),
    )
    refused(IdError, "exclude and truth have ids of different types", exclude={"1": [10]})
    refused(IdError, "candidates and truth have ids of different types", candidates=["10"])
    refused(IdError, "slices and truth have ids of different types", slices={"1": "new", "2": "old"})


def test_mixed_ids() -> None:
    refused(
        IdError,
        "recs: 'item' must hold only numbers or only text; found int, str. Convert the values to one type.",
        {1: [10, "11"]},
    )
    refused(
        IdError,
        "truth: 'user' must hold only numbers or only text; found int, str.",
        truth={1: [10], "2": [11]},
    )
    mixed = pd.DataFrame({"user": [1, 2], "item": np.array([10, "11"], dtype=object)})
    refused(IdError, "truth: 'item' must hold only numbers or only text; found int, str", truth=mixed)


def test_ids_that_are_no_ids() -> None:
    refused(
        IdError, "recs: 'item' holds 10.5, which cannot be an id", RECS.with_columns(item=pl.Series([10.5, 11.0, 10.0]))
    )
    refused(
        IdError,
        "recs: 'user' is of type Boolean, which cannot be an id",
        RECS.with_columns(user=pl.Series([True, False, True])),
    )
    refused(
        IdError, "is of type List(Int64), which cannot be an id", RECS.with_columns(user=pl.Series([[1], [2], [3]]))
    )


def test_nothing_in_common() -> None:
    message = "recs and truth have no user in common: recs has 1, truth has 101, for example."
    refused(IdError, message, truth=TRUTH.with_columns(pl.col("user") + 100))
    refused(IdError, "recs has 'b', truth has 'B', for example", {"b": ["a"]}, {"B": ["a"]})


def test_duplicates() -> None:
    again = pl.concat([RECS, RECS[:1]])
    message = (
        "recs: item 10 appears twice in the list of user 1; 1 of 4 rows repeat an item. Drop them, or pass "
        "duplicates='first'"
    )
    refused(DuplicateError, message, again)
    refused(
        DuplicateError,
        "truth: item 11 appears twice in the truth of user 2; 1 of 3 rows",
        truth=pl.concat([TRUTH, TRUTH[1:]]),
    )
    refused(
        DuplicateError, "recs: item 'a' appears twice in the list of user 'u'", {"u": ["a", "b", "a"]}, {"u": ["a"]}
    )
    sessions = RECS.select("item", session="user", step=pl.lit(3))
    columns = Columns(user=("session", "step"))
    twice = pl.concat([sessions, sessions])
    refused(DuplicateError, "item 10 appears twice in the list of session 1, step 3", twice, sessions, columns=columns)


def test_rank_and_score_in_conflict() -> None:
    both = RECS.with_columns(rank=pl.Series([2, 1, 1]))
    message = (
        "recs: 'rank' and 'score' contradict each other: for user 1, rank 1 has score 0.1 and rank 2 has score 0.9. "
        "Name the one to use: columns=Columns(rank='rank') or columns=Columns(score='score')."
    )
    refused(OrderError, message, both)
    assert atkay.evaluate(both, TRUTH, "mrr", columns=Columns(rank="rank")).per_query["mrr"][0] == 0.5
    assert atkay.evaluate(both, TRUTH, "mrr", columns=Columns(score="score")).per_query["mrr"][0] == 1


@pytest.mark.parametrize(
    ("ranks", "message"),
    [
        ([0, 2, 0], "recs: 'rank' of user 1 is 0, 2; the ranks of a list of 2 must be 0 to 1, each once. Renumber"),
        ([0, 1, 1], "'rank' of user 2 is 1; the ranks of a list of 1 must be 0 to 0"),
        ([1, 3, 1], "'rank' of user 1 is 1, 3; the ranks of a list of 2 must be 1 to 2, each once. Renumber each list"),
        ([1, 1, 1], "'rank' of user 1 is 1, 1;"),
        ([1, 2, 2], "'rank' of user 2 is 2; the ranks of a list of 1 must be 1 to 1"),
        ([1, 2, -1], "'rank' of user 2 is -1;"),
    ],
)
def test_ranks_that_are_not_1_to_n(ranks: list[int], message: str) -> None:
    refused(OrderError, message, RECS.select("user", "item", rank=pl.Series(ranks)))


def test_ranks_that_are_not_whole() -> None:
    refused(
        OrderError,
        "recs: 'rank' holds 1.5; ranks must be 1, 2, 3",
        RECS.select("user", "item", rank=pl.Series([1.0, 1.5, 1.0])),
    )


@pytest.mark.parametrize(
    ("grades", "message"),
    [
        ([1.0, math.nan], "truth: 'relevance' is missing (NaN) in row 1"),
        ([None, 1], "truth: 'relevance' is missing in row 0"),
        (["1", "good"], "truth: 'relevance' holds 'good' in row 1"),
    ],
)
def test_grades(grades: list[Any], message: str) -> None:
    refused(RelevanceError, message, truth=TRUTH.with_columns(relevance=pl.Series(grades, strict=False)))


def test_grades_that_are_too_large_for_their_gain() -> None:
    truth = {1: {10: 5000}}
    with pytest.raises(RelevanceError, match=r"a grade of 5000 is too large for gain=exp2.*Choose gain=linear"):
        atkay.evaluate(RECS, truth, "ndcg@10")
    assert atkay.evaluate(RECS, truth, "ndcg(gain=linear)@10")["ndcg(gain=linear)@10"] == 1


def test_objects_that_are_no_tables() -> None:
    refused(SourceError, "recs: cannot read an int as a table. Pass a Polars, pandas or Arrow table", 5)
    refused(SourceError, "truth: cannot read None as a table", truth=None)
    refused(SourceError, "recs: the value of user 1 is a str; a list of items is needed", {1: "abc"})
    refused(SourceError, "truth: the value of user 'u' is an int", {"u": [1]}, {"u": 1})
    refused(SourceError, "recs: the value of user 1 is a set; a set has no order", {1: {10, 11}})
    refused(SourceError, "recs: some users have a dict and some a list", {1: [10], 2: {11: 0.5}})
    refused(SourceError, "got 1e+16, which a float cannot", np.array([[1e16, np.nan]]), [[1]])
    refused(SourceError, "recs has 2 rows and truth 3; users are row numbers", np.array([[1], [2]]), [[1], [2], [3]])


def test_keys_of_different_lengths() -> None:
    recs = {("s", 1): ["a"]}
    refused(IdError, "recs identifies queries by ('user_1', 'user_2'), truth by ('user',)", recs, {"s": ["a"]})
    refused(
        IdError, "exclude names a user by 'user', the lists by 'user_1', 'user_2'", recs, recs, exclude={"s": ["a"]}
    )


# Files


def test_missing_files(tmp_path: Path) -> None:
    refused(
        SourceError, f"recs: no file '{tmp_path / 'nowhere.csv'}'. The working directory is", tmp_path / "nowhere.csv"
    )
    refused(SourceError, f"recs: no files in folder '{tmp_path}'", tmp_path)
    refused(SourceError, f"recs: no file matches '{tmp_path}/*.csv'", str(tmp_path / "*.csv"))
    (tmp_path / "empty.csv").touch()
    refused(SourceError, "empty.csv' is empty", tmp_path / "empty.csv")


@pytest.mark.parametrize(
    ("name", "kind"),
    [("a.parquet", "Parquet"), ("a.arrow", "Arrow"), ("a.feather", "Arrow")],
)
def test_broken_files(name: str, kind: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(b"PAR1 this is not what the suffix says {]")
    refused(SourceError, f"recs: cannot read '{tmp_path / name}' as {kind}", tmp_path / name)


def test_cut_off_parquet(tmp_path: Path) -> None:
    RECS.write_parquet(tmp_path / "a.parquet")
    whole = (tmp_path / "a.parquet").read_bytes()
    (tmp_path / "a.parquet").write_bytes(whole[: len(whole) // 2])
    refused(SourceError, "cannot read", tmp_path / "a.parquet")


def test_foreign_files(tmp_path: Path) -> None:
    (tmp_path / "u.data").write_text("196\t242\t3\t881250949\n186\t302\t3\t891717742\n")
    refused(ColumnError, "'column_3' could be the score (highest first) or the rank", tmp_path / "u.data")
    (tmp_path / "a.xlsx").write_bytes(b"PK\x03\x04")
    refused(SourceError, "Supported formats: Parquet, Arrow,", tmp_path / "a.xlsx")
    (tmp_path / "u.csv").write_text("196,242,3\n186,302,3\n")
    refused(ColumnError, "'column_3' could be the score (highest first) or the rank", tmp_path / "u.csv")


def test_ragged_csv(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("user,item\n1,10\n1,11,12,13\n")
    refused(SourceError, "as CSV", tmp_path / "a.csv")


def test_broken_trec_files(tmp_path: Path) -> None:
    (tmp_path / "a.run").write_text("q1 Q0 d1 1 0.5 t\nq1 Q0 d2 2\n")
    refused(SourceError, "line 2 of", tmp_path / "a.run", {"q1": ["d1"]})
    (tmp_path / "b.run").write_text("q1 Q0 d1 1 high t\n")
    refused(SourceError, "as a TREC run line: 'q1 Q0 d1 1 high t'", tmp_path / "b.run", {"q1": ["d1"]})
    (tmp_path / "c.qrels").write_text("q1 0 d1 1\nq1 0 d2\n")
    refused(SourceError, "A line holds query 0 document relevance", {"q1": ["d1"]}, tmp_path / "c.qrels")


def test_text_in_a_number_column(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("user,item,score\n1,10,0.5\n1,11,much\n")
    refused(OrderError, "recs: 'score' holds 'much' in row 1", tmp_path / "a.csv")


def test_slices() -> None:
    refused(InputError, "slices: no segment column; columns are 'user'", slices=pl.DataFrame({"user": [1, 2]}))
    twice = pl.DataFrame({"user": [1, 1], "segment": ["new", "old"]})
    refused(DuplicateError, "slices: user 1 has two rows", slices=twice)
    refused(
        IdError,
        "slices has no user in common with recs and truth: 7 in slices, 1 in recs or truth, for example.",
        slices={7: "new"},
    )


def test_the_tree_of_errors_is_drawn_as_it_is() -> None:
    drawn = atkay.errors.__doc__ or ""
    for name, error in vars(atkay.errors).items():
        if isinstance(error, type) and issubclass(error, AtkayError):
            assert name in drawn
