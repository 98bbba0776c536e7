"""Text files: encodings and lines; which line is wrong, and what to do."""

from __future__ import annotations

import codecs
import contextlib
import gzip
import io
import re
import zlib
from typing import TYPE_CHECKING, BinaryIO

import polars as pl

from atkay.errors import SourceError
from atkay.inputs.paths import quoted

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


ENCODINGS = {
    codecs.BOM_UTF32_LE: "UTF-32",
    codecs.BOM_UTF32_BE: "UTF-32",
    codecs.BOM_UTF16_LE: "UTF-16",
    codecs.BOM_UTF16_BE: "UTF-16",
}
"""Encodings by the mark at the start of a file; UTF-32's begins with UTF-16's."""
GZIP, ZSTANDARD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
"""How compressed files begin that Polars reads; Python reads the first kind alone."""
LINES_SAMPLED = 200
"""Lines at the start of a file that tell what it is; a head of comments may be long."""
WESTERN = "Latin-1"
"""What cp1252 is called, which has all of its letters, and the quotes and dashes of Windows."""
WIDE = re.compile(rb"[\x80-\xff]+")
UNDEFINED = (b"\x81", b"\x8d", b"\x8f", b"\x90", b"\x9d")
"""Bytes that mean nothing in cp1252."""
BYTES_SAMPLED = 64
"""Bytes at the start of a file without a mark that tell whether it is UTF-16."""


def encoding_of(path: Path, start: bytes) -> str | None:
    """The encoding of a text file as far as its start tells; None if that may be UTF-8."""
    if start.startswith((GZIP, ZSTANDARD)):
        start = next(_blocks(path), b"")
        if start.startswith(codecs.BOM_UTF8):  # which not every reader passes over in a compressed file
            return "UTF-8-SIG"
    encoding = next((name for mark, name in ENCODINGS.items() if start.startswith(mark)), None)
    even, odd = start[:BYTES_SAMPLED:2], start[1:BYTES_SAMPLED:2]
    if encoding is None and len(odd) > 1:  # plain letters, with a zero byte behind or before each
        little, big = all(even) and not any(odd), all(odd) and not any(even)
        encoding = "UTF-16LE" if little else "UTF-16BE" if big else None
    if encoding is None and not _is_utf8(start, final=False):
        return WESTERN
    return encoding


def is_utf8(path: Path) -> bool:
    """Whether all of a text file is UTF-8, or compressed in a way that Python cannot read."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        for block in _blocks(path):
            decoder.decode(block)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


def _is_utf8(text: bytes, *, final: bool) -> bool:
    try:
        codecs.getincrementaldecoder("utf-8")().decode(text, final)
    except UnicodeDecodeError:
        return False
    return True


def decode(path: Path, encoding: str, target: Path, *, shown: Path, table: str) -> None:
    """Write a text file again, as UTF-8; refused where the encoding cannot be the one of the file."""
    if encoding == WESTERN:
        _check_western(path, shown, table)
    try:
        with target.open("w", encoding="utf-8", newline="") as file:
            decoder = codecs.getincrementaldecoder("cp1252" if encoding == WESTERN else encoding)()
            for block in _blocks(path):
                file.write(decoder.decode(block))
            file.write(decoder.decode(b"", final=True))
    except UnicodeDecodeError as error:
        raise SourceError(f"{quoted(shown)} is not {encoding}: {error.reason}.", table=table) from error


def _check_western(path: Path, shown: Path, table: str) -> None:
    """Refuse bytes beyond ASCII that are partly UTF-8, or of another alphabet than Latin-1 has: letters of Latin-1
    stand between plain ones, those of others side by side.
    """
    wide = adjacent = 0
    first = None
    for number, line in enumerate(_byte_lines(path), start=1):
        if line.isascii():
            continue
        if _is_utf8(line, final=True):
            raise _not_utf8(path, shown, table)
        first = first or number
        wide += sum(map(len, WIDE.findall(line)))
        adjacent += sum(len(run) for run in WIDE.findall(line) if len(run) > 1)
        if any(byte in line for byte in UNDEFINED):
            raise _not_utf8(path, shown, table)
    if adjacent > wide / 2:
        raise _not_utf8(path, shown, table)


def _not_utf8(path: Path, shown: Path, table: str) -> SourceError:
    """Name the first line that is not UTF-8."""
    number, line = next(
        (number, line) for number, line in enumerate(_byte_lines(path), start=1) if not _is_utf8(line, final=True)
    )
    text = re.sub(r"[^ -~\xa0-\uffff]+", " ", line.decode("cp1252", "replace")).strip()[:80]
    return SourceError(
        f"line {number:,} of {quoted(shown)} is neither UTF-8 nor Latin-1: {text!r}",
        advice="Save the file as UTF-8, for instance with: iconv -f ENCODING -t UTF-8 OLD > NEW",
        table=table,
    )


def _blocks(path: Path) -> Iterator[bytes]:
    """The bytes of a text file; none where it is compressed in a way that Python cannot read."""
    with contextlib.suppress(OSError, EOFError, zlib.error), _opened(path) as file:
        while block := file.read(1 << 20):
            yield block


def _byte_lines(path: Path) -> Iterator[bytes]:
    with contextlib.suppress(OSError, EOFError, zlib.error), _opened(path) as file:
        yield from file


def _opened(path: Path) -> BinaryIO | gzip.GzipFile:
    with path.open("rb") as file:
        start = file.read(len(ZSTANDARD))
    if start == ZSTANDARD:
        return io.BytesIO()
    return gzip.open(path) if start.startswith(GZIP) else path.open("rb")


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
    """The first lines, a blank one as ""; none of a file that is no text, which is named when it is read."""
    try:
        return [line if line and line.strip() else "" for line in lines(path, LINES_SAMPLED).collect().to_series()]
    except pl.exceptions.PolarsError:
        return []
