"""Format: what a file format is to the readers; FORMATS has an entry for each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import polars as pl

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from atkay.inputs.table import Source

    Files = Mapping[Path, Path]
    """The files of a table, and how messages name each."""

Header = Literal["likely", "unlikely"]
"""Whether files of a suffix begin with the names of their columns."""


def _nothing(*_: object) -> None:
    """There is nothing to check."""


def _no_columns(_: Path) -> pl.LazyFrame:
    """What is read in another way has none to scan."""
    return pl.LazyFrame()


def _never(*_: object) -> bool:
    """Nothing of the kind."""
    return False


@dataclass(frozen=True, eq=False)
class Format:
    """A file format: how it is recognised, read and checked.

    A file has the format that its suffix names, else the first one that recognises its first bytes or its first lines.
    """

    name: str
    suffixes: tuple[str, ...]
    scan: Callable[[Path], pl.LazyFrame] = _no_columns
    """The columns of a file."""
    read: Callable[[Files, str], Source] | None = None
    """Reads all files of a table, in place of ``scan``, where these are no rows of columns."""
    starts: tuple[bytes, ...] = ()
    """The first bytes of a file, after a byte order mark."""
    guess: Callable[[Sequence[str]], bool] = _never
    """Whether the first lines of a file (none is empty) are of this format."""
    claim: Callable[[Sequence[str], Path, str, Header], bool] = _never
    """The same where the file's name and its table help to tell. Asked of TSV files, too: there a header is likely, and
    it must be certain.
    """
    question: Callable[[Sequence[str], Path, str], None] = _nothing
    """Refuses lines that no format recognises, but that could be this one, by a question about them."""
    is_text: bool = True
    """Whether people can read it: its encoding is checked, and lines can be named."""
    typed: bool = True
    """Whether values have types; without, all are text ("007" stays "007"), and numbers are made of it where it is."""
    scan_together: Callable[..., pl.LazyFrame] | None = None
    """Scans several files at once, and passes over rows that nobody asks for."""
    is_whole: Callable[[Path], bool] = _never
    """Whether a file can be read as a whole only."""
    blank_lines: bool = False
    """Whether an empty line is read as a row of nulls, which is dropped."""
    bad: pl.Expr | None = None
    """Rows that are none; ``check`` then says which line is wrong."""
    check: Callable[[Files, Sequence[str], str], None] = _nothing
    """Refuses, with its line, what the reader takes without complaint: files, columns of text that are used, table."""
    blame: Callable[[Files, str], None] = _nothing
    """Names the first wrong line of files that could not be read, if it finds one."""
    header: Callable[[Path], str] | None = None
    """Whether the first line has the names of the columns, "first", or is data, "none"; "unknown" if that is unclear.
    None: names are part of the format."""
    scan_headless: Callable[[Path], pl.LazyFrame] | None = None
    """Scans a file without a header: columns are column_1, column_2, ..."""
    together: Callable[[Files, str], None] = _nothing
    """Refuses several files that are no parts of one table."""
    refuse: Callable[[Path, str], None] = _nothing
    """Refuses the format for a table."""
