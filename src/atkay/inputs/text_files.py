"""Text files: encodings, lines, JSON Lines; which line is wrong, and what to do."""

from __future__ import annotations

import codecs
import contextlib
import gzip
import json
import re
import zlib
from typing import TYPE_CHECKING

import polars as pl

from atkay.errors import SourceError
from atkay.inputs.checks import mixed_types
from atkay.inputs.paths import quoted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path


ENCODINGS = {
    codecs.BOM_UTF32_LE: "UTF-32",
    codecs.BOM_UTF32_BE: "UTF-32",
    codecs.BOM_UTF16_LE: "UTF-16",
    codecs.BOM_UTF16_BE: "UTF-16",
}
"""Encodings by the mark at the start of a file; UTF-32's begins with UTF-16's."""
BYTES_SAMPLED = 64
"""Bytes at the start of a file without a mark that tell whether it is UTF-16."""
JSON_TYPES: dict[type, str] = {str: "text", bool: "true or false", int: "numbers", float: "numbers"}
JSON_TYPES |= {list: "lists", dict: "objects", type(None): "null"}


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


def refuse_encoding(shown: Mapping[Path, Path], table: str) -> None:
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


def check_json_types(shown: Mapping[Path, Path], names: tuple[str, ...], table: str) -> None:
    """Refuse columns of JSON Lines in which some values are text and some are not.

    The reader makes text of all of them, so that 1 and "1" would be one id. What looks like such a value may be within
    a nested object; only where there is one are the lines looked at closely.
    """
    keys = "|".join(re.escape(json.dumps(name, ensure_ascii=False)) for name in names)
    other = pl.col("line").str.contains(rf"(?:{keys})\s*:\s*[-0-9tf\[{{]").any()
    if any(lines(path).select(other).collect(engine="streaming").item() for path in shown):
        refuse_json(shown, table, names)


def refuse_json(shown: Mapping[Path, Path], table: str, names: tuple[str, ...] | None = None) -> None:
    """Name the first line that is not a JSON object, or a column (of ``names``) with values of different types."""
    first: dict[str, tuple[str, object, int]] = {}
    for path, file in shown.items():
        for number, line in _text_lines(path):
            for name, value in _json_object(line, f"line {number:,} of {quoted(file)}", table).items():
                if value is None or (names is not None and name not in names):
                    continue
                kind = JSON_TYPES[type(value)]
                before, example, at = first.setdefault(name, (kind, value, number))
                if kind != before:
                    here = f"{json.dumps(value)[:40]} in line {number:,} of {quoted(file)}"
                    raise mixed_types(
                        table, name, f"{before} ({json.dumps(example)[:40]} in line {at:,}) and {kind} ({here})"
                    )


def _text_lines(path: Path) -> Iterator[tuple[int, str]]:
    before = 0
    for frame in lines(path).collect_batches():
        for number, line in enumerate(frame.to_series(), start=before + 1):
            if line and line.strip():
                yield number, line
        before += len(frame)


def _json_object(line: str, where: str, table: str) -> dict[str, object]:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise SourceError(f"{where} is not JSON: {error}.", table=table) from error
    if not isinstance(row, dict):
        raise SourceError(
            f"{where} holds {JSON_TYPES[type(row)]}",
            advice='In JSON Lines each line is an object, such as {"user": 1, "item": 2}.',
            table=table,
        )
    return row
