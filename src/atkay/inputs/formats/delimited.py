"""Delimited text: CSV and TSV, columns separated by a character."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from atkay.inputs.columns import names_a_column
from atkay.inputs.formats.format import Format
from atkay.inputs.text_files import first_lines

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

SEPARATORS = "\t,;|"
QUEPID = "query,docid,rating"
"""Quepid's header. It also writes queries and documents that nobody has rated."""


def _guess(lines: Sequence[str]) -> bool:
    """Whether the first line has names of columns that we know."""
    return any(any(map(names_a_column, lines[0].strip().split(char)[:-1])) for char in SEPARATORS)


def _scan(path: Path, separators: str) -> pl.LazyFrame:
    # Everything is read as text: a type that is guessed from the first rows would turn "007" into 7.
    header = next(iter(first_lines(path)), "")
    separator = next((char for char in separators if char in header), separators[0])
    scan = pl.scan_csv(path, separator=separator, infer_schema=False, glob=False)
    return scan.drop_nulls("rating") if header.strip() == QUEPID else scan


CSV = Format("CSV", (".csv",), lambda path: _scan(path, ",;\t|"), guess=_guess, typed=False, blank_lines=True)
TSV = Format("TSV", (".tsv", ".tab"), lambda path: _scan(path, "\t"), typed=False, blank_lines=True)
