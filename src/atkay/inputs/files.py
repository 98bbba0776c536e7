"""Files: CSV, TSV, Parquet, Arrow, JSON Lines, TREC run and qrels."""

from __future__ import annotations

import codecs
import contextlib
import functools
import io
import re
import stat
from typing import TYPE_CHECKING, Any

import polars as pl

from atkay.errors import ColumnError, SourceError, listing
from atkay.inputs.columns import names_a_column
from atkay.inputs.kinds import RANKED, Pieces, Source
from atkay.inputs.paths import Stored, find_files, local_path
from atkay.inputs.text_files import check_encoding, check_json_types, lines, refuse_encoding, refuse_json

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

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
KNOWN = "CSV, TSV, Parquet, Arrow or Feather, JSON Lines, TREC run and TREC qrels"

# Fields are separated by blanks and tabs, and by nothing else that Unicode calls space.
FIELD, GAP = "[^ \\t]+", "[ \\t]+"
_RUN = rf"(?<qid>{FIELD}){GAP}{FIELD}{GAP}(?<docno>{FIELD}){GAP}{FIELD}{GAP}(?<score>{FIELD}){GAP}{FIELD}"
_QRELS = rf"(?<qid>{FIELD}){GAP}{FIELD}{GAP}(?<docno>{FIELD}){GAP}(?<rel>{FIELD})"
SKIPPING: dict[str, Callable[..., pl.LazyFrame]] = {"Parquet": pl.scan_parquet, "Arrow": pl.scan_ipc}
"""Kinds of which a part can be read without the rest, and what scans several of them."""
TREC = {"TREC run": (_RUN, ("qid", "docno", "score")), "TREC qrels": (_QRELS, ("qid", "docno", "rel"))}


def open_file(given: str | os.PathLike[str], table: str) -> Source:
    """A file, a folder of files, or files by a pattern, as a source of columns.

    The kind of a file is told by its suffix, or else by its first line. Several files are one table, in the order of
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
    _refuse_other_side(path, kind, table)
    if len(set(kinds.values())) > 1:
        other = next(each for each in paths if kinds[each] != kind)
        raise SourceError(
            f"{table}: '{paths[0]}' is {kind}, and '{other}' is {kinds[other]}. Files of one table are of one kind."
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
    check = functools.cache(lambda: _check_lines(paths, kind, table))
    check_types = functools.cache(lambda chosen: check_json_types(shown, chosen, table))

    def check_text(chosen: Sequence[str]) -> None:
        texts = tuple(name for name in chosen if schemas[paths[0]][name] == pl.String)
        if kind == "JSON Lines" and texts:
            check_types(texts)

    def rows(chosen: Sequence[str]) -> pl.LazyFrame:
        found = lazy.select(chosen)
        empty_lines = kind in ("CSV", "TSV")
        return found.filter(~pl.all_horizontal(pl.all().is_null())) if empty_lines else found

    def select(chosen: Sequence[str]) -> pl.DataFrame:
        with reading():
            check_text(chosen)
            if kind not in TREC:
                return rows(chosen).collect()
            frame = rows(names).collect()
            if frame.select(_is_bad(kind).any()).item():
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


def _refuse_other_side(path: Path, kind: str, table: str) -> None:
    """Judgments are no lists, and lists are no judgments."""
    if kind == "TREC qrels" and table in (*RANKED, "reference"):
        advice = "Are recs and truth swapped? Pass the run as recs, and the qrels as truth."
        raise SourceError(
            f"{table}: '{path}' is a TREC qrels file, which holds judgments and no ranked lists. "
            + (advice if table == "recs" else "Pass a run.")
        )
    if kind == "TREC run" and table == "truth":
        raise SourceError(
            f"truth: '{path}' is a TREC run, which holds ranked lists and no judgments. Are recs and truth swapped? "
            "Pass the run as recs, and the qrels as truth."
        )


def _known(path: Path, shown: Path, table: str) -> str:
    """What kind of file it is."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise SourceError(f"{table}: '{shown}' is not a file, a folder or a pipe.")
        with path.open("rb") as file:
            start = file.read(1024)
    except OSError as error:
        raise SourceError(f"{table}: cannot read '{shown}': {error.strerror}.") from error
    if not start:
        raise SourceError(f"{table}: '{shown}' is empty.")
    content = start.removeprefix(codecs.BOM_UTF8)
    kind = _kind_by_suffix(path) or next((kind for magic, kind in MAGIC.items() if content.startswith(magic)), None)
    if kind not in SKIPPING:
        check_encoding(start, shown, table)
    kind = kind or _kind_by_line(path)
    if kind is None:
        raise SourceError(
            f"{table}: cannot tell what kind of file '{shown}' is. Files that can be read: {KNOWN}; "
            "give it the suffix of one of them."
        )
    return kind


def _refuse_twice(path: Path, names: Sequence[str], table: str) -> None:
    """A header that has a name twice, of which the reader makes two names."""
    twice = [name for name in names if re.sub(r"_duplicated_\d+$", "", name) in names and "_duplicated_" in name]
    if twice:
        first = sorted({re.sub(r"_duplicated_\d+$", "", name) for name in twice})
        raise ColumnError(
            f"{table}: the header of '{path}' has {listing(first)} twice. Give every column its own name; if the first "
            "line is data, put a header line above it, such as user,item,score."
        )


def _check_alike(schemas: Mapping[Path, pl.Schema], table: str) -> None:
    """Files of one table have the same columns, of types that go together."""
    [(one, schema), *others] = schemas.items()
    for other, there in others:
        if set(schema) != set(there):
            raise ColumnError(
                f"{table}: '{one}' has the columns {listing(schema)}, and '{other}' has {listing(there)}. Files of one "
                "table have the same columns."
            )
        for name, dtype in schema.items():
            wide = {dtype, there[name]} & {pl.UInt64, pl.Int128, pl.UInt128}  # floats would be made of both
            numbers = dtype.is_numeric() and there[name].is_numeric() and not wide
            if dtype != there[name] and not numbers and pl.Null not in (dtype, there[name]):
                raise SourceError(
                    f"{table}: '{name}' is {dtype} in '{one}' and {there[name]} in '{other}'. Files of one table have "
                    "columns of the same types."
                )


def _together(scans: Sequence[pl.LazyFrame], names: Sequence[str]) -> pl.LazyFrame:
    return pl.concat([scan.select(names) for scan in scans], how="vertical_relaxed")


def _kind_by_suffix(path: Path) -> str | None:
    suffixes = [suffix.lower() for suffix in path.suffixes if suffix.lower() not in (".gz", ".zst")]
    return SUFFIXES.get(suffixes[-1]) if suffixes else None


def _kind_by_line(path: Path) -> str | None:
    line = _first_line(path).strip()
    fields = re.split(GAP, line)
    # The second field of TREC files says nothing, and is nearly always "0" or "Q0". Without it four columns could be
    # anything: MovieLens' u.data is four columns, too.
    if len(fields) in (4, 6) and fields[1].upper() in ("0", "Q0"):
        return "TREC run" if len(fields) == 6 else "TREC qrels"
    return next((kind for char, kind in SEPARATES.items() if any(map(names_a_column, line.split(char)[:-1]))), None)


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
            f"{table}: cannot read '{path}' as {kind}: {cause} "
            f"Is it whole, and is it {kind}? Its suffix should say what it is."
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
        return _fields(path, kind).drop("number")
    # Everything is read as text: a type that is guessed from the first rows would turn "007" into 7.
    header = _first_line(path)
    separator = "\t" if kind == "TSV" else next((char for char in ",;\t|" if char in header), ",")
    return pl.scan_csv(path, separator=separator, infer_schema=False, glob=False)


def _fields(path: Path, kind: str) -> pl.LazyFrame:
    """The fields of each line of a TREC file, and its number; null where it has others."""
    # The rank column of a run is left alone: trec_eval, and everybody who writes these files, goes by score.
    pattern, names = TREC[kind]
    fields = pl.col("line").str.strip_chars(" \t\r").str.extract_groups(f"^{pattern}$")
    found = lines(path).with_row_index("number", offset=1).filter(pl.col("line").str.contains(r"\S"))
    return found.select("number", *(fields.struct.field(name) for name in names))


def _is_bad(kind: str) -> pl.Expr:
    """Whether a line has other fields: its last one, which is a number, is none."""
    return pl.col(TREC[kind][1][-1]).cast(pl.Float64, strict=False).is_null()


def _check_lines(paths: Sequence[Path], kind: str, table: str) -> None:
    """Refuse lines of a TREC file that have other fields."""
    for path in paths:
        found = _fields(path, kind).filter(_is_bad(kind)).select("number").head(1)
        bad = found.collect(engine="streaming").to_series()
        if len(bad):
            text = lines(path).slice(bad[0] - 1, 1).collect().item()
            fields = "query Q0 document rank score tag" if kind == "TREC run" else "query 0 document relevance"
            raise SourceError(
                f"{table}: line {bad[0]} of '{path}' is no line of a {kind} file: "
                f"{re.sub(r'[^ -~]+', ' ', text)[:80]!r}. "
                f"A line holds {fields}, separated by spaces or tabs."
            )
