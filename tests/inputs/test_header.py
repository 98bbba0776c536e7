"""header="none" says something of text files, and nothing of frames."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd
import polars as pl
import pytest

import atkay
from atkay import Columns
from atkay.errors import ColumnError

if TYPE_CHECKING:
    from pathlib import Path

ROWS = {"column_1": [1, 1], "column_2": [2, 3]}
NONE = Columns(header="none")


@pytest.mark.parametrize("kind", [pl.DataFrame, pd.DataFrame])
def test_frames_are_refused(kind: Any) -> None:
    names = r"names its columns: 'column_1', 'column_2'"
    message = (
        rf"^recs: header='none' is for text files, and a \w+ frame {names}\. Name the columns instead, such as col"
    )
    with pytest.raises(ColumnError, match=message):
        atkay.evaluate(kind(ROWS), {1: [2]}, "mrr", columns=NONE)
    with pytest.raises(ColumnError, match=rf"^truth: header='none' is for text files, and a \w+ frame {names}"):
        atkay.evaluate({1: [2]}, kind(ROWS), "mrr", columns={"truth": NONE})


def test_one_of_several_tables_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "recs.csv").write_text("a,x\na,y\n")
    truth = pl.DataFrame({"user": ["a"], "item": ["y"]})
    for columns in (NONE, {"recs": NONE}):
        assert atkay.evaluate(tmp_path / "recs.csv", truth, "mrr", columns=columns)["mrr"] == 1 / 2  # at rank 2
    with pytest.raises(ColumnError, match=r"^truth: header='none'"):
        atkay.evaluate(tmp_path / "recs.csv", truth, "mrr", columns={"recs": NONE, "truth": NONE})


def test_files_that_hold_the_names_of_their_columns(tmp_path: Path) -> None:
    pl.DataFrame({"user": ["a"], "item": ["y"]}).write_parquet(tmp_path / "truth.parquet")
    (tmp_path / "recs.csv").write_text("a,x\na,y\n")
    truth = tmp_path / "truth.parquet"
    for memory in (None, "1GB"):
        assert atkay.evaluate(tmp_path / "recs.csv", truth, "mrr", columns=NONE, memory=memory)["mrr"] == 1 / 2
        message = r"^truth: header='none' is for text files, and 'truth.parquet' names its columns: 'user', 'item'\."
        with pytest.raises(ColumnError, match=message):
            atkay.evaluate(tmp_path / "recs.csv", truth, "mrr", columns={"truth": NONE}, memory=memory)


def test_logs(tmp_path: Path) -> None:
    log = pl.DataFrame({"user": [1, 1], "item": [2, 3], "time": [4, 5]})
    log.write_parquet(tmp_path / "log.parquet")
    log.write_csv(tmp_path / "log.csv", include_header=False)
    for given in (log, tmp_path / "log.parquet"):
        with pytest.raises(ColumnError, match=r"^log: header='none' is for text files, and .* names its columns"):
            atkay.tasks.leave_last_out(given, columns=NONE)
    with pytest.raises(ColumnError) as refused:
        atkay.tasks.leave_last_out(tmp_path / "log.csv", columns=NONE)
    named = Columns(header="none", user="column_1", item="column_2", time="column_3")
    advice = "columns=Columns(header='none', user='column_1', item='column_2', time='column_3')"
    assert str(refused.value).endswith(f"The file is read without a header: name its columns, such as {advice}.")
    assert atkay.tasks.leave_last_out(tmp_path / "log.csv", columns=named).truth["column_2"].to_list() == [3]
