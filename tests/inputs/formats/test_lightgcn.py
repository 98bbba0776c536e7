"""LightGCN's text: a user and its items in each line."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import atkay
from atkay.errors import SourceError


@pytest.mark.parametrize("memory", [None, "1GB"])
def test_a_line_per_user(memory: str | None, tmp_path: Path) -> None:
    # The first line could be one of a TREC run: its second field is 0.
    path = tmp_path / "test.txt"
    path.write_text("0 0 4 7 9 2\n1 3 0 5 6 8\n2 1 0 5 4\n3\n", newline="")
    recs = pl.DataFrame({"user": [0, 0, 1, 2, 3], "item": [1, 9, 3, 2, 0], "rank": [1, 2, 1, 1, 1]})
    # User 0 finds 9 at rank 2, user 1 finds 3 at rank 1, user 2 finds nothing, and user 3 has no truth.
    result = atkay.evaluate(recs, path, "mrr", memory=memory)
    assert result["mrr"] == (1 / 2 + 1 + 0) / 3
    assert result.population.relevant == 5 + 5 + 4
    assert atkay.evaluate(recs, {0: [9]}, "mrr", exclude=path, memory=memory).population.excluded == 2


@pytest.mark.parametrize("text", ["0 1 2\n0 3\n", "0 1 1\n1 3\n", "0 1 x\n1 3\n"])
def test_lines_that_are_no_lists(text: str, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(text)
    with pytest.raises(SourceError, match="cannot tell the format of"):
        atkay.evaluate({0: [1]}, tmp_path / "a.txt", "mrr")
