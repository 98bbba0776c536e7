"""JSON: one document; run dictionaries at the speed of their text, anything else as Python reads it."""

from __future__ import annotations

import codecs
import gzip
import json
import re
import zlib
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import polars as pl

from atkay.errors import SourceError, listing
from atkay.inputs.checks import COLUMNS_SAMPLED, ROWS_SAMPLED
from atkay.inputs.documents import names_columns, read_document
from atkay.inputs.formats.format import Format
from atkay.inputs.mappings import read_lists, read_mapping
from atkay.inputs.paths import quoted
from atkay.inputs.table import Source, as_text, roles_of, source_of
from atkay.inputs.text_files import lines
from atkay.tables import KINDS

if TYPE_CHECKING:
    from pathlib import Path

    from atkay.inputs.formats.format import Files

BLANK = r"[ \t\r\n]*"
_KEY = r'"(?:[^"\\\x00-\x1f]|\\[\\/bfnrt]|\\u(?:[0-9abcefABCEF][0-9a-fA-F]|[dD][0-7])[0-9a-fA-F]{2})*"'
_NUMBER = r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?"  # as JSON has it: neither 01 nor .5
_ENTRY = rf"{_KEY}{BLANK}:{BLANK}{_NUMBER}{BLANK}"
_LISTS = rf"{_KEY}{BLANK}:{BLANK}\{{{BLANK}(?:{_ENTRY}(?:,{BLANK}{_ENTRY})*)?\}}{BLANK}"
RUN = rf"^{BLANK}\{{{BLANK}{_LISTS}(?:,{BLANK}{_LISTS})*\}}{BLANK}$"
"""All of a document ``{query: {document: number}}`` without escaped quotes, and without halves of characters."""
PREDICTIONS = re.compile(
    rb'\s*\{\s*"mteb_model_meta"\s*:\s*\{[^{}]*\}\s*,\s*"[^"\\]*"\s*:\s*\{\s*"[^"\\]*"\s*:\s*(?=\{)'
)
"""What stands before the lists in MTEB's predictions of one subset and one split."""
LONGEST_LINE = 1 << 16
"""Bytes within which a file of JSON Lines has its first line end."""
LONGEST_TEXT = 1 << 32
"""Bytes that Polars can hold as one text."""


def is_json_lines(path: Path) -> bool:
    """Whether the first line is an object of its own, and another one follows."""
    try:
        with _opened(path) as file:
            first = json.loads(file.readline(LONGEST_LINE).removeprefix(codecs.BOM_UTF8))
            return isinstance(first, dict) and any(line.lstrip().startswith(b"{") for line in file)
    except (ValueError, RecursionError, OSError, EOFError):
        return False


def _opened(path: Path) -> Any:
    return gzip.open(path) if path.suffix.lower() == ".gz" else path.open("rb")


def _content(path: Path) -> bytes:
    if path.suffix.lower() == ".zst":  # which Polars reads, and not every Python
        return "\n".join(lines(path).collect().to_series().fill_null("")).encode()
    with _opened(path) as file:
        content: bytes = file.read()
    return content.removeprefix(codecs.BOM_UTF8)


def _read(shown: Files, table: str) -> Source:
    """The table that a document holds."""
    [(path, name), *others] = shown.items()
    if others:
        raise SourceError(
            f"{quoted(name)} and {quoted(others[0][1])} are JSON, one document each",
            advice="Pass one of them.",
            table=table,
        )
    try:
        content = _content(path)
        source = _read_run(content, table, name) or _read_any(_parsed(content.decode(), name, table), name, table)
    except UnicodeDecodeError as error:
        raise SourceError(f"{quoted(name)} is not UTF-8: {error}.", table=table) from error
    except (EOFError, zlib.error) as error:
        raise SourceError(f"cannot read {quoted(name)}: {error}", advice="Is it complete?", table=table) from error
    return replace(as_text(source), label=f"'{name.name}'")


def _read_run(content: bytes, table: str, name: Path) -> Source | None:
    """``{query: {document: number}}``; None where it is anything else, or where Python has to look at it.

    The whole text is checked first, so that it can be cut at its quotes: a key stands in every second place.
    """
    value = KINDS[table].value
    start = PREDICTIONS.match(content)
    if start is not None and value == "score":
        inner, _, rest = content[start.end() :].rstrip().rpartition(b"}")
        inner, _, rest_of_subset = inner.rstrip().rpartition(b"}")
        content = content if rest or rest_of_subset else inner
    if not value or len(content) >= LONGEST_TEXT:
        return None
    try:
        text = pl.Series([content], dtype=pl.Binary).cast(pl.String)
    except pl.exceptions.PolarsError:
        return None  # not UTF-8
    if not text.str.contains(RUN).item():
        return None
    cut = text.str.split('"').explode()
    key, number = cut.gather_every(2, 1), cut.gather_every(2)[1:].str.strip_chars(": \t\r\n,{}")
    entry = number != ""
    query = (~entry).cum_sum().filter(entry) - 1
    key, number = _unescaped(key), number.filter(entry)
    queries = key.filter(~entry)
    item = key.filter(entry)
    if queries.n_unique() < len(queries) or names_columns(queries) or names_columns(item.head(COLUMNS_SAMPLED)):
        return None
    columns = {"user": queries.gather(query), "item": item, value: number}
    return source_of(columns, roles_of(table, columns), name.name)


def _unescaped(keys: pl.Series) -> pl.Series:
    escaped = keys.str.contains("\\", literal=True)
    if not escaped.any():
        return keys
    plain = json.loads('["' + '","'.join(keys.filter(escaped)) + '"]')
    return keys.scatter(escaped.arg_true(), pl.Series(plain, dtype=pl.String))


def _parsed(content: str, name: Path, table: str) -> Any:
    """The document as Python reads it. A key that an object has twice would hide a value."""

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        keys = dict(pairs)
        if len(keys) < len(pairs):
            names = [key for key, _ in pairs]
            twice = next(key for key in names if names.count(key) > 1)
            raise SourceError(
                f"{quoted(name)} has {listing([twice])} twice in one object",
                advice="Readers of JSON would take the last one alone: give every name once.",
                table=table,
            )
        return keys

    try:
        return json.loads(content, object_pairs_hook=once)
    except (json.JSONDecodeError, RecursionError) as error:
        raise SourceError(f"{quoted(name)} is not JSON: {error}", advice="Is it complete?", table=table) from error


def _read_any(given: Any, name: Path, table: str) -> Source:
    what = quoted(name)
    given = _rows(given) if isinstance(given, dict) and names_columns(given) else _of_pandas(given)
    _refuse_values(given, what, table)
    if (source := read_document(given, table, what)) is not None:
        return source
    if isinstance(given, dict):
        return read_mapping(given, table)
    if isinstance(given, list):
        return read_lists(given, table)
    raise SourceError(
        f"{what} holds {json.dumps(given)[:40]}, not a table",
        advice='Write {"query": {"document": number}}, or {"query": ["document", ...]}.',
        table=table,
    )


def _rows(columns: dict[str, Any]) -> Any:
    """The rows of a frame that pandas wrote by column, or of a single row."""
    values = list(columns.values())
    if not any(isinstance(one, dict | list) for one in values):
        return [columns]
    if all(isinstance(one, dict) and one.keys() == values[0].keys() for one in values):  # by the index of the rows
        values = [list(one.values()) for one in values]
    if all(isinstance(one, list) and len(one) == len(values[0]) for one in values):
        return [dict(zip(columns, row, strict=True)) for row in zip(*values, strict=True)]
    return columns


def _of_pandas(given: Any) -> Any:
    """The rows of a frame that pandas wrote as orient="split", "table" or "index"; anything else as it is."""
    if not isinstance(given, dict) or not given:
        return given
    columns, data, first = given.get("columns"), given.get("data"), next(iter(given.values()))
    if {*given} == {"columns", "index", "data"} and isinstance(columns, list) and isinstance(data, list):
        whole = all(isinstance(row, list) and len(row) == len(columns) for row in data)
        return [dict(zip(columns, row, strict=True)) for row in data] if whole else given
    if {*given} == {"schema", "data"} and isinstance(data, list):
        return data
    if isinstance(first, dict) and names_columns(first):
        return [*given.values()]
    return given


def _refuse_values(given: Any, what: str, table: str) -> None:
    """Rows of text and numbers, or with fractions, are those of a frame, and no lists of items."""
    if not isinstance(given, list) or not given or any(type(row) is not list for row in given):
        return
    kinds = {type(value) for row in given[:ROWS_SAMPLED] for value in row}
    if len({*map(len, given)}) == 1 and (float in kinds or {str, int} <= kinds):
        raise SourceError(
            f"{what} holds rows without the names of their columns, such as {json.dumps(given[0])[:60]}",
            advice="In pandas, write frame.to_json(path, orient='records').",
            table=table,
        )


def _refuse_lz4(path: Path, table: str) -> None:
    raise SourceError(
        f"{quoted(path)} is compressed with LZ4, which is not read",
        advice=f"If ranx wrote it, pass ranx.Run.from_file('{path}').",
        table=table,
    )


JSON = Format("JSON", (".json",), starts=(b"{", b"["), read=_read)
LZ4 = Format("LZ4", (".lz4",), is_text=False, refuse=_refuse_lz4)
