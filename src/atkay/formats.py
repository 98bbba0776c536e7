"""Files: CSV, TSV, Parquet, Arrow, JSON Lines, TREC run and qrels."""

from __future__ import annotations

import contextlib
import re
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from atkay.columns import names_a_column
from atkay.errors import ColumnError, SourceError, listing
from atkay.sources import Source

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

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
TREC = {"TREC run": (_RUN, ("qid", "docno", "score")), "TREC qrels": (_QRELS, ("qid", "docno", "rel"))}


def open_file(path: Path, table: str) -> Source:
    """A file as a source of columns; its kind is told by its suffix, or else by its first line."""
    try:
        there, folder = path.exists(), path.is_dir()
    except OSError as error:
        raise SourceError(f"{table}: cannot look for the file '{str(path)[:80]}...': {error.strerror}.") from error
    if not there:
        raise SourceError(f"{table}: no file '{path}'. The working directory is '{Path.cwd()}'.")
    if folder:
        raise SourceError(f"{table}: '{path}' is a folder; name a file in it.")
    if path.stat().st_size == 0:
        raise SourceError(f"{table}: '{path}' is empty.")
    kind = _kind(path)
    if kind is None:
        raise SourceError(
            f"{table}: cannot tell what kind of file '{path}' is. Files that can be read: {KNOWN}; "
            "give it the suffix of one of them."
        )
    with _reading(path, kind, table):
        if kind in TREC:
            return _trec(path, kind, table)
        lazy = _scan(path, kind)
        names = tuple(lazy.collect_schema().names())
    text = kind in ("CSV", "TSV")
    twice = [name for name in names if re.sub(r"_duplicated_\d+$", "", name) in names and "_duplicated_" in name]
    if text and twice:
        first = sorted({re.sub(r"_duplicated_\d+$", "", name) for name in twice})
        raise ColumnError(
            f"{table}: the header of '{path}' has {listing(first)} twice. Give every column its own name."
        )

    def select(chosen: Sequence[str]) -> pl.DataFrame:
        with _reading(path, kind, table):
            frame = lazy.select(chosen).collect()
        return frame.filter(~pl.all_horizontal(pl.all().is_null())) if text else frame  # empty lines

    return Source(names, select, label=f"'{path.name}'", text=text)


def _kind(path: Path) -> str | None:
    suffixes = [suffix.lower() for suffix in path.suffixes if suffix.lower() not in (".gz", ".zst")]
    if suffixes and suffixes[-1] in SUFFIXES:
        return SUFFIXES[suffixes[-1]]
    with path.open("rb") as file:
        start = file.read(6)
    for magic, kind in MAGIC.items():
        if start.startswith(magic):
            return kind
    line = _first_line(path).strip()
    fields = re.split(GAP, line)
    # The second field of TREC files says nothing, and is nearly always "0" or "Q0". Without it four columns could be
    # anything: MovieLens' u.data is four columns, too.
    if len(fields) in (4, 6) and fields[1].upper() in ("0", "Q0"):
        return "TREC run" if len(fields) == 6 else "TREC qrels"
    return next((kind for char, kind in SEPARATES.items() if any(map(names_a_column, line.split(char)[:-1]))), None)


def _lines(path: Path, n_rows: int | None = None) -> pl.Series:
    """The lines of a text file, compressed or not."""
    return pl.read_csv(
        path,
        has_header=False,
        separator="\x01",
        quote_char=None,
        new_columns=["line"],
        infer_schema=False,
        n_rows=n_rows,
        truncate_ragged_lines=True,
        glob=False,
    ).get_column("line")


def _first_line(path: Path) -> str:
    try:
        return next((line for line in _lines(path, 20) if line and line.strip()), "")
    except (pl.exceptions.PolarsError, OSError):
        return ""  # a broken file is met again, and named, when it is read


@contextlib.contextmanager
def _reading(path: Path, kind: str, table: str) -> Iterator[None]:
    try:
        yield
    except (pl.exceptions.PolarsError, OSError) as error:
        cause = str(error).strip().split("\n")[0]
        raise SourceError(
            f"{table}: cannot read '{path}' as {kind}: {cause} "
            f"Is it whole, and is it {kind}? Its suffix should say what it is."
        ) from error


def _scan(path: Path, kind: str) -> pl.LazyFrame:
    if kind == "Parquet":
        return pl.scan_parquet(path, glob=False)
    if kind == "JSON Lines":
        return pl.scan_ndjson(path, infer_schema_length=None)
    if kind == "Arrow":
        with path.open("rb") as file:
            whole = file.read(6) == b"ARROW1"
        return pl.scan_ipc(path, glob=False) if whole else pl.read_ipc_stream(path).lazy()
    # Everything is read as text: a type that is guessed from the first rows would turn "007" into 7.
    header = _first_line(path)
    separator = "\t" if kind == "TSV" else next((char for char in ",;\t|" if char in header), ",")
    return pl.scan_csv(path, separator=separator, infer_schema=False, glob=False)


def _trec(path: Path, kind: str, table: str) -> Source:
    # The rank in a run is not read: every TREC tool orders by score.
    pattern, names = TREC[kind]
    lines = pl.DataFrame({"line": _lines(path)}).with_row_index("number", offset=1)
    lines = lines.filter(pl.col("line").str.contains(r"\S"))
    frame = lines.with_columns(pl.col("line").str.strip_chars(" \t\r").str.extract_groups(f"^{pattern}$")).unnest(
        "line"
    )
    bad = frame.filter(pl.col(names[-1]).cast(pl.Float64, strict=False).is_null()).get_column("number")
    if len(bad):
        text = lines.filter(pl.col("number") == bad[0])["line"][0]
        fields = "query Q0 document rank score tag" if kind == "TREC run" else "query 0 document relevance"
        raise SourceError(
            f"{table}: line {bad[0]} of '{path}' is no line of a {kind} file: {re.sub(r'[^ -~]+', ' ', text)[:80]!r}. "
            f"A line holds {fields}, separated by spaces or tabs."
        )
    return Source(names, frame.select, label=f"'{path.name}'", text=True)
