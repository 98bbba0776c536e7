"""Files: CSV, TSV, Parquet, Arrow, JSON Lines, TREC run and qrels; which of them a path means."""

from __future__ import annotations

import codecs
import contextlib
import functools
import io
import os
import re
import stat
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from atkay.errors import ColumnError, SourceError, listing
from atkay.inputs.columns import names_a_column
from atkay.inputs.paths import Stored, find_files, local_path, quoted
from atkay.inputs.table import Pieces, Source
from atkay.inputs.text_files import check_encoding, check_json_types, lines, refuse_encoding, refuse_json
from atkay.inputs.trec import TREC, check_lines, fields_of, guess_trec, is_bad, refuse_other_side

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

SUFFIXES = {
    ".csv": "CSV",
    ".tsv": "TSV",
    ".tab": "TSV",
    ".parquet": "Parquet",
    ".pq": "Parquet",
    ".arrow": "Arrow",
    ".feather": "Arrow",
    ".ipc": "Arrow",
    ".jsonl": "JSON Lines",
    ".ndjson": "JSON Lines",
    ".run": "TREC run",
    ".qrels": "TREC qrels",
    ".qrel": "TREC qrels",
}
MAGIC = {b"PAR1": "Parquet", b"ARROW1": "Arrow", b"{": "JSON Lines"}
SEPARATES = {"\t": "TSV", ",": "CSV", ";": "CSV", "|": "CSV"}
"""What files without a telling suffix are: by their first bytes, or by what separates names of columns that we know."""
READABLE_FORMATS = "CSV, TSV, Parquet, Arrow or Feather, JSON Lines, TREC run and TREC qrels"
SKIPPING: dict[str, Callable[..., pl.LazyFrame]] = {"Parquet": pl.scan_parquet, "Arrow": pl.scan_ipc}
"""Kinds of which a part can be read without the rest, and what scans several of them."""


def open_file(given: str | os.PathLike[str], table: str) -> Source:
    """A file, a folder of files, or files by a pattern, as a source of columns.

    The format of a file is given by its suffix, or else by its first line. Several files are one table, in the order of
    their names. A pipe can be read once, so its content is kept in a temporary file for as long as the source is used.
    """
    path = local_path(given, table)
    paths = find_files(path, table)
    kept = Stored(path, table) if paths == [path] and path.is_fifo() else None
    if kept is not None:
        paths = [kept.path]
    if len(paths) > 1:  # Spark writes an empty file where a partition has no rows
        paths = [each for each in paths if not _is_empty(each)] or paths[:1]
    shown = {each: each if kept is None else path for each in paths}
    kinds = {each: _known(each, name, table) for each, name in shown.items()}
    kind = kinds[paths[0]]
    refuse_other_side(path, kind, table)
    if len(set(kinds.values())) > 1:
        other = next(each for each in paths if kinds[each] != kind)
        raise SourceError(
            f"{quoted(paths[0])} is {kind}, and {quoted(other)} is {kinds[other]}",
            advice="All files of a table must be of one format.",
            table=table,
        )

    def reading() -> contextlib.AbstractContextManager[None]:
        return _reading(path, shown, kind, table)

    with reading():
        scans = [_scan(each, kind) for each in paths]
        schemas = {each: scan.collect_schema() for each, scan in zip(paths, scans, strict=True)}
    names = tuple(schemas[paths[0]].names())
    text = kind in ("CSV", "TSV", *TREC)
    for each, schema in schemas.items():
        _refuse_twice(shown[each], schema.names() if text else (), table)
    _check_alike(schemas, table)
    lazy = scans[0]
    streams = kind == "Arrow" and not all(map(_is_arrow_file, paths))
    if len(paths) > 1:
        alike = kind in SKIPPING and not streams and len({tuple(schema.items()) for schema in schemas.values()}) == 1
        # One scan of all files passes over rows that nobody asks for; put together from several it does not.
        lazy = SKIPPING[kind](paths, glob=False) if alike else _together(scans, names)
    check = functools.cache(lambda: check_lines(paths, kind, table))
    check_types = functools.cache(lambda chosen: check_json_types(shown, chosen, table))

    def check_text(chosen: Sequence[str]) -> None:
        texts = tuple(name for name in chosen if schemas[paths[0]][name] == pl.String)
        if kind == "JSON Lines" and texts:
            check_types(texts)

    def rows(chosen: Sequence[str]) -> pl.LazyFrame:
        frame = lazy.select(chosen)
        empty_lines = kind in ("CSV", "TSV")
        return frame.filter(~pl.all_horizontal(pl.all().is_null())) if empty_lines else frame

    def select(chosen: Sequence[str]) -> pl.DataFrame:
        with reading():
            check_text(chosen)
            if kind not in TREC:
                return rows(chosen).collect()
            frame = rows(names).collect()
            if frame.select(is_bad(kind).any()).item():
                check()
            return frame.select(chosen)

    def scan(chosen: Sequence[str]) -> pl.LazyFrame:
        if kind in TREC:
            check()
        check_text(chosen)
        return rows(chosen)

    label = f"'{path.name}'" if len(paths) == 1 else f"'{path.name}' ({len(paths)} files)"
    pieces = None if streams else Pieces(scan, kind in SKIPPING, reading)
    return Source(names, select, label=label, text=text, pieces=pieces, kept=kept)


def _is_empty(path: Path) -> bool:
    """Whether it is a file of text without a byte; other kinds have at least their schema."""
    return path.is_file() and path.stat().st_size == 0 and _kind_by_suffix(path) not in SKIPPING


def _known(path: Path, shown: Path, table: str) -> str:
    """What kind of file it is."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise SourceError(f"{quoted(shown)} is not a file, a folder or a pipe.", table=table)
        with path.open("rb") as file:
            start = file.read(1024)
    except OSError as error:
        raise SourceError(f"cannot read {quoted(shown)}: {error.strerror}.", table=table) from error
    if not start:
        raise SourceError(f"{quoted(shown)} is empty.", table=table)
    content = start.removeprefix(codecs.BOM_UTF8)
    kind = _kind_by_suffix(path) or next((kind for magic, kind in MAGIC.items() if content.startswith(magic)), None)
    if kind not in SKIPPING:
        check_encoding(start, shown, table)
    kind = kind or _kind_by_line(path)
    if kind is None:
        raise SourceError(
            f"cannot tell the format of {quoted(shown)}",
            advice=f"Supported formats: {READABLE_FORMATS}; give it the suffix of one of them.",
            table=table,
        )
    return kind


def _refuse_twice(path: Path, names: Sequence[str], table: str) -> None:
    """A header that has a name twice, of which the reader makes two names."""
    twice = [name for name in names if re.sub(r"_duplicated_\d+$", "", name) in names and "_duplicated_" in name]
    if twice:
        first = sorted({re.sub(r"_duplicated_\d+$", "", name) for name in twice})
        raise ColumnError(
            f"the header of {quoted(path)} has {listing(first)} twice",
            advice="Give every column its own name; if the first line is data, put a header line above it, such as "
            "user,item,score.",
            table=table,
        )


def _check_alike(schemas: Mapping[Path, pl.Schema], table: str) -> None:
    """Files of one table have the same columns, of types that go together."""
    [(one, schema), *others] = schemas.items()
    for other, there in others:
        if set(schema) != set(there):
            raise ColumnError(
                f"{quoted(one)} has the columns {listing(schema)}, and {quoted(other)} has {listing(there)}",
                advice="All files of a table must have the same columns.",
                table=table,
            )
        for name, dtype in schema.items():
            wide = {dtype, there[name]} & {pl.UInt64, pl.Int128, pl.UInt128}  # floats would be made of both
            numbers = dtype.is_numeric() and there[name].is_numeric() and not wide
            if dtype != there[name] and not numbers and pl.Null not in (dtype, there[name]):
                raise SourceError(
                    f"is {dtype} in {quoted(one)} and {there[name]} in {quoted(other)}",
                    advice="All files of a table must have the same column types.",
                    table=table,
                    column=name,
                )


def _together(scans: Sequence[pl.LazyFrame], names: Sequence[str]) -> pl.LazyFrame:
    return pl.concat([scan.select(names) for scan in scans], how="vertical_relaxed")


def _kind_by_suffix(path: Path) -> str | None:
    suffixes = [suffix.lower() for suffix in path.suffixes if suffix.lower() not in (".gz", ".zst")]
    return SUFFIXES.get(suffixes[-1]) if suffixes else None


def _kind_by_line(path: Path) -> str | None:
    line = _first_line(path).strip()
    by_separator = (kind for char, kind in SEPARATES.items() if any(map(names_a_column, line.split(char)[:-1])))
    return guess_trec(line) or next(by_separator, None)


def _first_line(path: Path) -> str:
    try:
        return next((line for line in lines(path, 20).collect().to_series() if line and line.strip()), "")
    except (pl.exceptions.PolarsError, OSError):
        return ""  # a broken file is met again, and named, when it is read


@contextlib.contextmanager
def _reading(path: Path, shown: Mapping[Path, Path], kind: str, table: str) -> Iterator[None]:
    try:
        yield
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        if kind not in SKIPPING:
            refuse_encoding(shown, table)
        if kind == "JSON Lines":
            with contextlib.suppress(pl.exceptions.PolarsError, OSError):
                refuse_json(shown, table)
        cause = str(error).strip().split("\n")[0]
        raise SourceError(
            f"cannot read {quoted(path)} as {kind}: {cause}",
            advice="Is it complete, and does its suffix match its format?",
            table=table,
        ) from error


def _is_arrow_file(path: Path) -> bool:
    """Whether an Arrow file is one, and no stream, which has no table of contents."""
    with path.open("rb") as file:
        return file.read(6) == b"ARROW1"


def _scan(path: Path, kind: str) -> pl.LazyFrame:
    if kind == "JSON Lines":
        with path.open("rb") as file:
            marked = file.read(3) == codecs.BOM_UTF8
        source: Any = io.BytesIO(path.read_bytes()[3:]) if marked else path
        return pl.scan_ndjson(source, infer_schema_length=None)
    if kind == "Arrow" and not _is_arrow_file(path):
        return pl.read_ipc_stream(path).lazy()
    if kind in SKIPPING:
        return SKIPPING[kind](path, glob=False)
    if kind in TREC:
        return fields_of(path, kind).drop("number")
    # Everything is read as text: a type that is guessed from the first rows would turn "007" into 7.
    header = _first_line(path)
    separator = "\t" if kind == "TSV" else next((char for char in ",;\t|" if char in header), ",")
    return pl.scan_csv(path, separator=separator, infer_schema=False, glob=False)
