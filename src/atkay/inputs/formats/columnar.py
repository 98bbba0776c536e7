"""Columnar files: Parquet and Arrow."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from atkay.inputs.formats.format import Format

if TYPE_CHECKING:
    from pathlib import Path

ARROW_FILE = b"ARROW1"


def _is_stream(path: Path) -> bool:
    """Whether an Arrow file is a stream, which has no table of contents."""
    with path.open("rb") as file:
        return file.read(len(ARROW_FILE)) != ARROW_FILE


def _scan_arrow(path: Path) -> pl.LazyFrame:
    return pl.read_ipc_stream(path).lazy() if _is_stream(path) else pl.scan_ipc(path, glob=False)


PARQUET = Format(
    "Parquet",
    (".parquet", ".pq"),
    lambda path: pl.scan_parquet(path, glob=False),
    starts=(b"PAR1",),
    is_text=False,
    scan_together=lambda paths: pl.scan_parquet(paths, glob=False),
)
ARROW = Format(
    "Arrow",
    (".arrow", ".feather", ".ipc"),
    _scan_arrow,
    starts=(ARROW_FILE,),
    is_text=False,
    scan_together=lambda paths: pl.scan_ipc(paths, glob=False),
    is_whole=_is_stream,
)
