"""Files: CSV, TSV, Parquet, Arrow, JSON Lines, TREC run and qrels."""

from __future__ import annotations

import contextlib
import gzip
import re
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from atkay.errors import SourceError
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
KNOWN = "CSV, TSV, Parquet, Arrow or Feather, JSON Lines, TREC run and TREC qrels"


def open_file(path: Path, table: str) -> Source:
    """A file as a source of columns; its kind is told by its suffix, or else by its first line."""
    if not path.exists():
        raise SourceError(f"{table}: no file '{path}'. The working directory is '{Path.cwd()}'.")
    if path.is_dir():
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
        if kind in ("TREC run", "TREC qrels"):
            return _trec(path, kind, table)
        lazy = _scan(path, kind)
        names = tuple(lazy.collect_schema().names())

    def select(chosen: Sequence[str]) -> pl.DataFrame:
        with _reading(path, kind, table):
            return lazy.select(chosen).collect()

    return Source(names, select, label=f"'{path.name}'", text=kind in ("CSV", "TSV"))


def _kind(path: Path) -> str | None:
    suffixes = [suffix.lower() for suffix in path.suffixes if suffix.lower() not in (".gz", ".zst")]
    if suffixes and suffixes[-1] in SUFFIXES:
        return SUFFIXES[suffixes[-1]]
    fields = _first_line(path).split()
    # The second field of TREC files says nothing, and is nearly always "0" or "Q0". Without it four columns could be
    # anything: MovieLens' u.data is four columns, too.
    if len(fields) in (4, 6) and fields[1].upper() in ("0", "Q0"):
        return "TREC run" if len(fields) == 6 else "TREC qrels"
    return None


def _first_line(path: Path) -> str:
    try:
        with gzip.open(path) if path.suffix.lower() == ".gz" else path.open("rb") as file:
            return file.readline(1 << 16).decode("utf-8-sig", errors="replace")
    except (OSError, EOFError):
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
    return pl.scan_csv(path, separator=_separator(path, kind), infer_schema=False, glob=False)


def _separator(path: Path, kind: str) -> str:
    header = _first_line(path)
    if kind == "TSV":
        return "\t"
    return next((char for char in ",;\t|" if char in header), ",")


def _trec(path: Path, kind: str, table: str) -> Source:
    # The rank in a run is not read: every TREC tool orders by score.
    pattern, names = {
        "TREC run": (
            r"^\s*(?<qid>\S+)\s+\S+\s+(?<docno>\S+)\s+\S+\s+(?<score>\S+)\s+\S+\s*$",
            ("qid", "docno", "score"),
        ),
        "TREC qrels": (r"^\s*(?<qid>\S+)\s+\S+\s+(?<docno>\S+)\s+(?<rel>\S+)\s*$", ("qid", "docno", "rel")),
    }[kind]
    lines = pl.read_csv(
        path,
        has_header=False,
        separator="\x01",
        quote_char=None,
        new_columns=["line"],
        infer_schema=False,
        glob=False,
    ).with_row_index("number", offset=1)
    lines = lines.filter(pl.col("line").str.contains(r"\S"))
    value = names[-1]
    frame = (
        lines.with_columns(pl.col("line").str.extract_groups(pattern))
        .unnest("line")
        .with_columns(pl.col(value).cast(pl.Float64, strict=False))
    )
    bad = frame.filter(pl.col(value).is_null()).get_column("number")
    if len(bad):
        text = lines.filter(pl.col("number") == bad[0])["line"][0]
        fields = "query Q0 document rank score tag" if kind == "TREC run" else "query 0 document relevance"
        raise SourceError(
            f"{table}: line {bad[0]} of '{path}' is no line of a {kind} file: {re.sub(r'[^ -~]+', ' ', text)[:80]!r}. "
            f"A line holds {fields}, separated by spaces or tabs."
        )
    return Source(names, lambda chosen: frame.select(chosen), label=f"'{path.name}'")
