"""JSON Lines: an object per line."""

from __future__ import annotations

import codecs
import contextlib
import io
import json
import re
from typing import TYPE_CHECKING, Any

import polars as pl

from atkay.errors import SourceError
from atkay.inputs.checks import mixed_types
from atkay.inputs.formats.format import Format
from atkay.inputs.paths import quoted
from atkay.inputs.text_files import lines

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from atkay.inputs.formats.format import Files

JSON_TYPES: dict[type, str] = {str: "text", bool: "true or false", int: "numbers", float: "numbers"}
JSON_TYPES |= {list: "lists", dict: "objects", type(None): "null"}


def _scan(path: Path) -> pl.LazyFrame:
    with path.open("rb") as file:
        marked = file.read(3) == codecs.BOM_UTF8
    source: Any = io.BytesIO(path.read_bytes()[3:]) if marked else path
    return pl.scan_ndjson(source, infer_schema_length=None)


def _blame(shown: Files, table: str) -> None:
    """Name the line because of which the reader failed."""
    with contextlib.suppress(pl.exceptions.PolarsError, OSError):
        _refuse(shown, table)


def _check_types(shown: Files, names: Sequence[str], table: str) -> None:
    """Refuse columns of JSON Lines in which some values are text and some are not.

    The reader makes text of all of them, so that 1 and "1" would be one id. What looks like such a value may be within
    a nested object; only where there is one are the lines looked at closely.
    """
    if not names:
        return
    keys = "|".join(re.escape(json.dumps(name, ensure_ascii=False)) for name in names)
    other = pl.col("line").str.contains(rf"(?:{keys})\s*:\s*[-0-9tf\[{{]").any()
    if any(lines(path).select(other).collect(engine="streaming").item() for path in shown):
        _refuse(shown, table, names)


def _refuse(shown: Files, table: str, names: Sequence[str] | None = None) -> None:
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


JSON_LINES = Format("JSON Lines", (".jsonl", ".ndjson"), _scan, check=_check_types, blame=_blame)
