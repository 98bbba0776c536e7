"""Text files: encodings and lines; which line is wrong, and what to do."""

from __future__ import annotations

import codecs
import contextlib
import gzip
import re
import zlib
from typing import TYPE_CHECKING

import polars as pl

from atkay.errors import SourceError
from atkay.inputs.paths import quoted

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from atkay.inputs.formats.format import Files


ENCODINGS = {
    codecs.BOM_UTF32_LE: "UTF-32",
    codecs.BOM_UTF32_BE: "UTF-32",
    codecs.BOM_UTF16_LE: "UTF-16",
    codecs.BOM_UTF16_BE: "UTF-16",
}
"""Encodings by the mark at the start of a file; UTF-32's begins with UTF-16's."""
LINES_SAMPLED = 200
"""Lines at the start of a file that tell what it is; a head of comments may be long."""
BYTES_SAMPLED = 64
"""Bytes at the start of a file without a mark that tell whether it is UTF-16."""


def check_encoding(start: bytes, shown: Path, table: str) -> None:
    """Refuse a text file that is not UTF-8, where its start tells."""
    encoding = next((name for mark, name in ENCODINGS.items() if start.startswith(mark)), None)
    even, odd = start[:BYTES_SAMPLED:2], start[1:BYTES_SAMPLED:2]
    if encoding is None and len(odd) > 1:  # plain letters, with a zero byte behind or before each
        little, big = all(even) and not any(odd), all(odd) and not any(even)
        encoding = "UTF-16LE" if little else "UTF-16BE" if big else None
    if encoding is not None:
        raise SourceError(
            f"{quoted(shown)} is {encoding}, but text files must be UTF-8", advice=_convert(encoding), table=table
        )


def _convert(encoding: str) -> str:
    return f"Convert it, for instance with: iconv -f {encoding} -t UTF-8 OLD > NEW"


def refuse_encoding(shown: Files, table: str) -> None:
    """Name the first line that is not UTF-8."""
    for path, name in shown.items():
        for number, line in _byte_lines(path):
            try:
                line.decode()
            except UnicodeDecodeError:
                text = re.sub(r"[^ -~\xa0-\uffff]+", " ", line.decode("cp1252", "replace")).strip()[:80]
                raise SourceError(
                    f"line {number:,} of {quoted(name)} is not UTF-8",
                    advice=f"If the file is Latin-1 or cp1252, the line is {text!r}. {_convert('cp1252')}",
                    table=table,
                ) from None


def _byte_lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """The lines of a text file and their numbers; none where it is compressed in a way that Python cannot read."""
    if path.suffix == ".zst":
        return
    with (
        contextlib.suppress(OSError, EOFError, zlib.error),
        gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file,
    ):
        yield from enumerate(file, start=1)


def lines(path: Path, n_rows: int | None = None) -> pl.LazyFrame:
    """The lines of a text file, compressed or not."""
    return pl.scan_csv(
        path,
        has_header=False,
        separator="\x01",
        quote_char=None,
        new_columns=["line"],
        infer_schema=False,
        n_rows=n_rows,
        truncate_ragged_lines=True,
        glob=False,
    )


def first_lines(path: Path) -> list[str]:
    """The first lines that are not empty; none of a file that is no text, which is named when it is read."""
    try:
        return [line for line in lines(path, LINES_SAMPLED).collect().to_series() if line and line.strip()]
    except pl.exceptions.PolarsError:
        return []
