"""Advice: messages speak the library that a table is from, and what they advise works."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd
import polars as pl
import pytest
from click.testing import CliRunner

import atkay
from atkay.cli.app import app
from atkay.errors import AtkayError, IdError, InputError, OrderError

if TYPE_CHECKING:
    from pathlib import Path

ROWS: dict[str, Any] = {"user": [1, 2], "item": ["a", "b"]}
TEXT = {"1": ["a"], "2": ["c"]}


def advised(recs: Any, truth: Any, error: type[AtkayError] = IdError) -> str:
    with pytest.raises(error) as refused:
        atkay.evaluate(recs, truth, "hit@1")
    return str(refused.value)


@pytest.mark.parametrize(
    ("recs", "code"),
    [
        (pd.DataFrame(ROWS), "recs['user'] = recs['user'].astype(str)"),
        (pl.DataFrame(ROWS), "recs = recs.with_columns(pl.col('user').cast(pl.String))"),
        ({1: ["a"], 2: ["b"]}, "recs = {str(user): items for user, items in recs.items()}"),
    ],
)
def test_ids_become_text(recs: Any, code: str) -> None:
    assert advised(recs, TEXT).endswith(f"Convert one side, for instance with {code}.")
    variables = {"recs": recs, "pl": pl}
    exec(code, variables)
    assert atkay.evaluate(variables["recs"], TEXT, "hit@1")["hit@1"] == 1 / 2  # 1 finds a, 2 does not find c


def test_other_tables_and_the_shell(tmp_path: Path) -> None:
    assert advised({"1": [1]}, {"1": ["1"]}).endswith("Convert one side, for instance with str(item) for each item.")
    assert advised(pl.DataFrame(ROWS).to_arrow(), TEXT).endswith("Convert one side.")
    for name, rows in (("recs", ROWS), ("truth", {**ROWS, "user": ["1", "2"]})):
        pl.DataFrame(rows).write_parquet(tmp_path / f"{name}.parquet")
    paths = [str(tmp_path / f"{name}.parquet") for name in ("recs", "truth")]
    assert advised(paths[0], paths[1]).endswith("Convert one side.")
    result = CliRunner().invoke(app, ["evaluate", *paths], prog_name="atkay")
    assert result.stderr.endswith("Convert one side.\n")


@pytest.mark.parametrize(
    ("frame", "split", "dates"),
    [
        (
            pl.DataFrame,
            "recs.with_columns(pl.col('prediction').str.split(' '))",
            "log.with_columns(pl.col('time').str.to_date('%m/%d/%Y'))",
        ),
        (pd.DataFrame, "recs['prediction'].str.split()", "pandas.to_datetime(log['time'], format='%m/%d/%Y')"),
    ],
)
def test_lists_in_text_and_dates(frame: Any, split: str, dates: str) -> None:
    told = advised(frame({"user": [1, 2], "prediction": ["5 9", "7"]}), {1: [5], 2: [7]}, InputError)
    assert told.endswith(f"{split}.")
    log = frame({"user": [1, 1], "item": [1, 2], "time": ["01/02/2026", "03/04/2026"]})
    with pytest.raises(OrderError) as refused:
        atkay.tasks.leave_last_k_out(log, 1)
    assert str(refused.value).endswith(f", for instance with {dates}.")
