"""Predictions: a number per line, for each row of the truth."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import polars as pl

from atkay.errors import SourceError
from atkay.inputs.columns import NUMBER
from atkay.inputs.formats.format import Format
from atkay.inputs.paths import quoted
from atkay.inputs.text_files import lines
from atkay.tables import KINDS

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from atkay.inputs.formats.format import Files


def _scan(path: Path) -> pl.LazyFrame:
    """The lines; an empty one among them keeps its place, and is refused."""
    filled = pl.col("line").str.contains(r"\S").fill_null(False).cast(pl.UInt8)
    return lines(path).filter(filled.cum_max(reverse=True) == 1).select(prediction=pl.col("line").str.strip_chars())


def _check(shown: Files, _: Sequence[str], table: str) -> None:
    for path, name in shown.items():
        wrong = _scan(path).with_row_index("number", offset=1).filter(BAD).head(1).collect()
        if len(wrong):
            number, line = wrong.row(0)
            raise SourceError(
                f"line {number} of {quoted(name)} is {(line or '')[:40]!r}, not a number",
                advice="A file of predictions holds a number for each row of the truth.",
                table=table,
            )


def _refuse(path: Path, table: str) -> None:
    if "score" not in KINDS[table].roles:
        raise SourceError(
            f"{quoted(path)} holds a number per line and no header",
            advice="Put a header line above it that names the column.",
            table=table,
        )


BAD = pl.col("prediction").cast(pl.Float64, strict=False).is_null()

PREDICTIONS = Format(
    "predictions",
    (),
    _scan,
    guess=lambda lines: all(re.fullmatch(NUMBER, line.strip()) for line in lines),
    typed=False,
    bad=BAD,
    check=_check,
    refuse=_refuse,
)
