"""Files: which of them a path means, of which format they are, and what there is to choose from."""

from __future__ import annotations

import codecs
import contextlib
import functools
import itertools
import re
import stat
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from atkay.errors import ColumnError, SourceError, listing
from atkay.inputs.formats.columnar import ARROW, PARQUET
from atkay.inputs.formats.delimited import CSV, TSV
from atkay.inputs.formats.json_document import JSON, LZ4, is_json_lines
from atkay.inputs.formats.json_lines import JSON_LINES
from atkay.inputs.formats.predictions import PREDICTIONS
from atkay.inputs.formats.recommenders import LIGHTGCN, MOVIELENS, RECBOLE
from atkay.inputs.formats.svmlight import SVMLIGHT
from atkay.inputs.formats.trec import TREC_QRELS, TREC_RUN
from atkay.inputs.paths import UNPACKED, Stored, find_files, local_path, quoted
from atkay.inputs.splits import table_in
from atkay.inputs.table import Pieces, Source
from atkay.inputs.text_files import WESTERN, decode, encoding_of, first_lines, is_utf8
from atkay.text.phrases import columns_argument, either

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from atkay.inputs.formats.format import Files, Format, Header

FORMATS: tuple[Format, ...] = (
    PARQUET,
    ARROW,
    JSON,
    JSON_LINES,
    LIGHTGCN,
    TREC_RUN,
    TREC_QRELS,
    SVMLIGHT,
    RECBOLE,
    MOVIELENS,
    PREDICTIONS,
    CSV,
    TSV,
    LZ4,
)
"""All formats. Where no suffix tells, the first one that recognises a file's content takes it."""
COMPRESSED = (".gz", ".zst")
"""Suffixes in front of which the format's stands."""


FAILED = (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError)
"""What reading a file may fail with."""


def open_file(given: str | os.PathLike[str], table: str, header: str | None = None) -> Source:
    """A file, a folder of files, or files by a pattern, as a source of columns.

    The format of a file is given by its suffix, or else by its content; ``header`` says whether the "first" line of
    text without types names the columns, or "none" does. Several files are one table, in the order of their names. The
    content of a pipe, which can be read once, of some compressed files and of text that is not UTF-8 is kept in
    temporary files for as long as the source is used.
    """
    path = table_in(local_path(given, table), table)
    paths = find_files(path, table)
    piped = paths == [path] and path.is_fifo()
    kept = {each: Stored(each, table) for each in paths if piped or each.suffix.lower() in UNPACKED}
    shown = {kept[each].path if each in kept else each: each for each in paths}
    if len(paths) > 1:  # Spark writes an empty file where a partition has no rows
        filled = {each: name for each, name in shown.items() if not _is_empty(each)}
        shown = filled or dict([next(iter(shown.items()))])
    encodings = {each: _encoding(each, name, table) for each, name in shown.items()}
    return _source(path, _decoded(_Files(shown, table, header, [*kept.values()]), encodings))


@dataclass(frozen=True)
class _Files:
    """The files of a table: where they are read and how messages name them, what keeps them, and what was done."""

    shown: Files
    table: str
    header: str | None
    kept: list[Stored]
    readings: list[str] = field(default_factory=list)


def _decoded(files: _Files, encodings: Mapping[Path, str | None]) -> _Files:
    """The same files, those in another encoding written again as UTF-8."""
    shown, kept = {}, [*files.kept]
    for path, name in files.shown.items():
        here = path
        if (encoding := encodings[path]) is not None:
            write = functools.partial(decode, path, encoding, shown=name, table=files.table)
            kept.append(Stored(path, files.table, write))
            here = kept[-1].path
            if encoding == WESTERN:
                files.readings.append(f"{quoted(name)} read as {WESTERN}")
        shown[here] = name
    return replace(files, shown=shown, kept=kept)


def _source(path: Path, files: _Files) -> Source:
    """The columns of files of one format."""
    shown, table, header = files.shown, files.table, files.header
    paths = [*shown]
    formats = {each: _format_of(each, name, table, header) for each, name in shown.items()}
    form = formats[paths[0]]
    form.refuse(path, table)
    if len(set(formats.values())) > 1:
        other = next(each for each in paths if formats[each] is not form)
        raise SourceError(
            f"{quoted(shown[paths[0]])} is {form.name}, and {quoted(shown[other])} is {formats[other].name}",
            advice="All files of a table must be of one format.",
            table=table,
        )

    def reading() -> contextlib.AbstractContextManager[None]:
        return _reading(path, shown, form, table)

    @functools.cache
    def in_utf8() -> Source | None:
        """The same table of files that are UTF-8; None where these are, as far as one can tell."""
        encodings = {each: None if not form.is_text or is_utf8(each) else WESTERN for each in paths}
        return _source(path, _decoded(files, encodings)) if any(encodings.values()) else None

    if len(paths) > 1:
        with reading():
            form.together(shown, table)
    if form.read is not None:
        if (decoded := in_utf8()) is not None:
            return decoded
        with reading():
            return replace(form.read(shown, table), kept=files.kept or None, readings=files.readings)
    with reading():
        headless = form.header is not None and (header or _header(shown, form.header, table)) == "none"
        scan_one = form.scan_headless if headless and form.scan_headless else form.scan
        scans = [scan_one(each) for each in paths]
        schemas = {each: scan.collect_schema() for each, scan in zip(paths, scans, strict=True)}
    names = tuple(schemas[paths[0]].names())
    for each, schema in schemas.items():
        _refuse_twice(shown[each], () if form.typed else schema.names(), table)
    _check_alike({shown[each]: schema for each, schema in schemas.items()}, table)
    lazy = scans[0]
    whole = any(map(form.is_whole, paths))
    if len(paths) > 1:
        alike = not whole and len({tuple(schema.items()) for schema in schemas.values()}) == 1
        # One scan of all files passes over rows that nobody asks for; put together from several it does not.
        together = form.scan_together if alike else None
        lazy = _together(scans, names) if together is None else together(paths)

    @functools.cache
    def check(chosen: tuple[str, ...]) -> None:
        form.check(shown, [name for name in chosen if schemas[paths[0]][name] == pl.String], table)

    def rows(chosen: Sequence[str]) -> pl.LazyFrame:
        check(tuple(chosen))
        frame = lazy.select(chosen)
        return frame.filter(~pl.all_horizontal(pl.all().is_null())) if form.blank_lines else frame

    def collected(chosen: Sequence[str]) -> pl.DataFrame:
        if form.bad is None:
            return rows(chosen).collect()
        frame = lazy.select(names).collect()
        if frame.select(form.bad.any()).item():
            check(tuple(chosen))
        return frame.select(chosen)

    def select(chosen: Sequence[str]) -> pl.DataFrame:
        with reading():
            try:
                return collected(chosen)
            except FAILED:
                if (other := in_utf8()) is None:
                    raise
        return other.select(chosen)

    def scan(chosen: Sequence[str]) -> pl.LazyFrame:
        other = in_utf8()
        return rows(chosen) if other is None or other.pieces is None else other.pieces.scan(chosen)

    label = f"'{path.name}'" if len(paths) == 1 else f"'{path.name}' ({len(paths)} files)"
    return Source(
        names,
        select,
        label=label,
        text=not form.typed,
        headless=headless,
        dtype=schemas[paths[0]].__getitem__,
        pieces=None if whole else Pieces(scan, form.scan_together is not None, reading),
        kept=files.kept or None,
        readings=files.readings,
    )


def _is_empty(path: Path) -> bool:
    """Whether it is a file of text without a byte; other formats have at least their schema."""
    form = _by_suffix(path)
    return path.is_file() and path.stat().st_size == 0 and (form is None or form.is_text)


def _start(path: Path, shown: Path, table: str) -> bytes:
    """The first bytes of a file."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise SourceError(f"{quoted(shown)} is not a file, a folder or a pipe.", table=table)
        with path.open("rb") as file:
            start = file.read(1024)
    except OSError as error:
        raise SourceError(f"cannot read {quoted(shown)}: {error.strerror}.", table=table) from error
    if not start:
        raise SourceError(f"{quoted(shown)} is empty.", table=table)
    return start


def _encoding(path: Path, shown: Path, table: str) -> str | None:
    """The encoding of a file of text, if its start tells another one than UTF-8."""
    start = _start(path, shown, table)
    form = _by_suffix(path) or _by_start(start)
    return encoding_of(path, start) if form is None or form.is_text else None


def _by_start(start: bytes) -> Format | None:
    content = start.removeprefix(codecs.BOM_UTF8)
    return next((one for one in FORMATS if one.starts and content.startswith(one.starts)), None)


def _format_of(path: Path, shown: Path, table: str, header: str | None) -> Format:
    """The format of a file, by its suffix or its content."""
    form = _by_suffix(path) or _by_start(_start(path, shown, table))
    if form in (None, TSV) and (lines := _first_lines(path, shown, table)):
        names: Header = "likely" if form is TSV else "unlikely"
        claiming = (one for one in FORMATS if one.claim(lines, shown, table, names))
        form = next(claiming, None) or form or next((one for one in FORMATS if one.guess(lines)), None)
        form = form or (CSV if header else None)
        for one in FORMATS if form is None else ():
            one.question(lines, shown, table)
    if form is None:
        readable = ", ".join(one.name for one in FORMATS if one is not LZ4)
        raise SourceError(
            f"cannot tell the format of {quoted(shown)}",
            advice=f"Supported formats: {readable}; give it the suffix of one of them.",
            table=table,
        )
    return JSON_LINES if form is JSON and is_json_lines(path) else form


def _header(shown: Files, header: Callable[[Path], str], table: str) -> str:
    """Whether the files of a table begin with the names of their columns."""
    headers = {path: header(path) for path in shown}
    for named, bare in itertools.product(headers, headers):
        if headers[named] == "first" and headers[bare] == "none":
            raise SourceError(
                f"{quoted(shown[named])} has a header line, and {quoted(shown[bare])} has none",
                advice="All files of a table must have a header line, or none of them.",
                table=table,
            )
    return "none" if "none" in headers.values() else "first"


def _first_lines(path: Path, shown: Path, table: str) -> list[str]:
    try:
        return list(filter(None, first_lines(path)))
    except OSError as error:
        raise SourceError(f"cannot read {quoted(shown)}: {error}", advice="Is it complete?", table=table) from error


def _refuse_twice(path: Path, names: Sequence[str], table: str) -> None:
    """A header that has a name twice, of which the reader makes two names."""
    twice = [name for name in names if re.sub(r"_duplicated_\d+$", "", name) in names and "_duplicated_" in name]
    if twice:
        first = sorted({re.sub(r"_duplicated_\d+$", "", name) for name in twice})
        raise ColumnError(
            f"the header of {quoted(path)} has {listing(first)} twice",
            advice="Give every column its own name; if the first line is data, pass "
            f"{either(columns_argument(header='none'), '--no-header')}.",
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


def means_file(text: str) -> bool:
    """Whether text is a path rather than a name: it has a folder or the suffix of a format, or is there."""
    path = Path(text)
    with contextlib.suppress(OSError, ValueError):  # no file can have this name
        return len(path.parts) > 1 or _by_suffix(path) is not None or path.is_file()
    return False


def _by_suffix(path: Path) -> Format | None:
    """The format that the last suffix names, not counting that of a compression."""
    suffixes = [suffix for suffix in map(str.lower, path.suffixes) if suffix not in COMPRESSED]
    return next((one for one in FORMATS if suffixes and suffixes[-1] in one.suffixes), None)


@contextlib.contextmanager
def _reading(path: Path, shown: Files, form: Format, table: str) -> Iterator[None]:
    try:
        yield
    except FAILED as error:
        form.blame(shown, table)
        cause = str(error).strip().split("\n")[0]
        raise SourceError(
            f"cannot read {quoted(path)} as {form.name}: {cause}",
            advice="Is it complete, and does its suffix match its format?",
            table=table,
        ) from error
