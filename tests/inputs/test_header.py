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
    message = r"^recs: header='none' is for text files, got a DataFrame\. Name the columns instead, such as columns=Col"
    with pytest.raises(ColumnError, match=message):
        atkay.evaluate(kind(ROWS), {1: [2]}, "mrr", columns=NONE)
    with pytest.raises(ColumnError, match=r"^truth: header='none' is for text files, got a DataFrame"):
        atkay.evaluate({1: [2]}, kind(ROWS), "mrr", columns={"truth": NONE})


def test_one_of_several_tables_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "recs.csv").write_text("a,x\na,y\n")
    truth = pl.DataFrame({"user": ["a"], "item": ["y"]})
    for columns in (NONE, {"recs": NONE}):
        assert atkay.evaluate(tmp_path / "recs.csv", truth, "mrr", columns=columns)["mrr"] == 1 / 2  # at rank 2
    with pytest.raises(ColumnError, match=r"^truth: header='none'"):
        atkay.evaluate(tmp_path / "recs.csv", truth, "mrr", columns={"recs": NONE, "truth": NONE})
