"""TREC run and qrels files."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import polars as pl

from atkay.errors import SourceError
from atkay.inputs.formats.format import Format
from atkay.inputs.paths import quoted
from atkay.inputs.text_files import lines
from atkay.tables import KINDS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from atkay.inputs.formats.format import Files

SWAPPED = "Are recs and truth swapped? Pass the run as recs and the qrels as truth."
# Fields are separated by blanks and tabs, and by nothing else that Unicode calls space.
FIELD, GAP = "[^ \\t]+", "[ \\t]+"
_RUN = rf"(?<qid>{FIELD}){GAP}{FIELD}{GAP}(?<docno>{FIELD}){GAP}{FIELD}{GAP}(?<score>{FIELD}){GAP}{FIELD}"
_QRELS = rf"(?<qid>{FIELD}){GAP}{FIELD}{GAP}(?<docno>{FIELD}){GAP}(?<rel>{FIELD})"
TREC = {"TREC run": (_RUN, ("qid", "docno", "score")), "TREC qrels": (_QRELS, ("qid", "docno", "rel"))}


def _refuse_lists(path: Path, table: str) -> None:
    """A run is no truth."""
    if table == "truth":
        raise SourceError(
            f"{quoted(path)} is a TREC run, which holds ranked lists, not judgments", advice=SWAPPED, table=table
        )


def _refuse_judgments(path: Path, table: str) -> None:
    """Judgments are no lists."""
    if "score" in KINDS[table].roles:
        raise SourceError(
            f"{quoted(path)} is a TREC qrels file, which holds judgments, not ranked lists",
            advice=SWAPPED if table == "recs" else "Pass a run.",
            table=table,
        )


def _guess(lines: Sequence[str], n_fields: int) -> bool:
    """Whether a line is of a TREC file with ``n_fields`` fields."""
    # The second field says nothing, and is nearly always "0" or "Q0". Without it four columns could be anything:
    # MovieLens' u.data is four columns, too.
    fields = re.split(GAP, lines[0].strip())
    return len(fields) == n_fields and fields[1].upper() in ("0", "Q0")


def _fields(path: Path, kind: str) -> pl.LazyFrame:
    """The fields of each line of a TREC file, and its number; null where it has others."""
    # The rank column of a run is left alone: trec_eval, and everybody who writes these files, goes by score.
    pattern, names = TREC[kind]
    fields = pl.col("line").str.strip_chars(" \t\r").str.extract_groups(f"^{pattern}$")
    filled = lines(path).with_row_index("number", offset=1).filter(pl.col("line").str.contains(r"\S"))
    return filled.select("number", *(fields.struct.field(name) for name in names))


def _is_bad(kind: str) -> pl.Expr:
    """Whether a line has other fields: its last one, which is a number, is none."""
    return pl.col(TREC[kind][1][-1]).cast(pl.Float64, strict=False).is_null()


def _check_lines(shown: Files, table: str, kind: str) -> None:
    """Refuse lines of a TREC file that have other fields."""
    for path, name in shown.items():
        numbers = _fields(path, kind).filter(_is_bad(kind)).select("number").head(1)
        bad = numbers.collect(engine="streaming").to_series()
        if len(bad):
            text = lines(path).slice(bad[0] - 1, 1).collect().item()
            fields = "query Q0 document rank score tag" if kind == "TREC run" else "query 0 document relevance"
            raise SourceError(
                f"cannot read line {bad[0]} of {quoted(name)} as a {kind} line: {re.sub(r'[^ -~]+', ' ', text)[:80]!r}",
                advice=f"A line holds {fields}, separated by spaces or tabs.",
                table=table,
            )


def _format(kind: str, suffixes: tuple[str, ...], n_fields: int, refuse: Callable[[Path, str], None]) -> Format:
    return Format(
        kind,
        suffixes,
        lambda path: _fields(path, kind).drop("number"),
        guess=lambda lines: _guess(lines, n_fields),
        typed=False,
        bad=_is_bad(kind),
        check=lambda shown, _, table: _check_lines(shown, table, kind),
        refuse=refuse,
    )


TREC_RUN = _format("TREC run", (".run",), 6, _refuse_lists)
TREC_QRELS = _format("TREC qrels", (".qrels", ".qrel"), 4, _refuse_judgments)
