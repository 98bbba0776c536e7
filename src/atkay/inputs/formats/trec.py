"""TREC run and qrels files."""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING

import polars as pl

from atkay.errors import SourceError
from atkay.errors import shown as shown_value
from atkay.inputs.columns import DATA
from atkay.inputs.formats.format import Format
from atkay.inputs.paths import quoted
from atkay.inputs.text_files import first_lines, lines
from atkay.tables import KINDS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from atkay.inputs.formats.format import Files, Header

SWAPPED = "Are recs and truth swapped? Pass the run as recs and the qrels as truth."
# Fields are separated by blanks and tabs, and by nothing else that Unicode calls space.
FIELD, GAP = "[^ \\t]+", "[ \\t]+"
# A document id with a space in it shifts the fields behind it: its second half would be the rank. So the rank is a
# number or a dash, and what comes before further text is a tag: it has a letter that no number has. At every character
# only one branch can go on, with which the regex engine is twice as fast; blanks at the end of a line are gone before.
_LETTERS = "A-DF-Za-df-z_"
_PLACE, _TAG = "(?:[+]?[0-9.]+|-[0-9.]*)", rf"[^ \t{_LETTERS}]*(?:[{_LETTERS}][^ \t]*(?:[ \t].*)?)?"
_SCORED = rf"{GAP}(?<docno>{FIELD}){GAP}{_PLACE}{GAP}(?<score>{FIELD})"
_RUN = rf"(?<qid>{FIELD}){GAP}{FIELD}{_SCORED}{GAP}{_TAG}"
_RUN_WITHOUT_TAG = rf"(?<qid>{FIELD}){GAP}[Qq]?0{_SCORED}"
_QRELS = rf"(?<qid>{FIELD}){GAP}(?<iteration>{FIELD}){GAP}(?<docno>{FIELD}){GAP}(?<rel>{FIELD})"
TREC = {"TREC run": (_RUN, ("qid", "docno", "score")), "TREC qrels": (_QRELS, ("qid", "iteration", "docno", "rel"))}


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


def _is_run(start: Sequence[str], _: Path, table: str, header: Header) -> bool:
    """Whether the lines are those of a run; it may have no tag."""
    rows = _rows(start)
    if min(map(len, rows), default=0) < 5:
        return False
    ranked = _numbers(rows, 3, 4)
    if _second_is_zero(rows, header):
        return ranked or (len(rows[0]) > 5 and header == "unlikely")
    return table == "recs" and ranked and min(map(len, rows)) > 5 and _counts_up(rows)


def _is_qrels(start: Sequence[str], path: Path, table: str, header: Header) -> bool:
    """Whether the lines are those of qrels.

    The second field says nothing, as in trec_eval, and is nearly always "0" or "Q0". Where it is something else the
    others have to tell, for four columns could be anything: MovieLens' u.data is four columns, too.
    """
    rows = _rows(start)
    judged = {len(row) for row in rows} == {4} and _numbers(rows, 3)
    if rows and len(rows[0]) == 4 and _second_is_zero(rows, header):
        return judged or header == "unlikely"
    return judged and ("qrel" in path.name.lower() or (table == "truth" and _has_iterations(rows)))


def _rows(start: Sequence[str]) -> list[list[str]]:
    """The fields of lines, without comments."""
    stripped = (line.strip(" \t\r") for line in start)
    return [re.split(GAP, line) for line in stripped if line and not line.startswith("#")]


def _second_is_zero(rows: Sequence[Sequence[str]], header: Header) -> bool:
    """Whether the second field is what it nearly always is: in the first line, or in all where that may be a header."""
    return all(len(row) > 1 and row[1].upper() in ("0", "Q0") for row in (rows if header == "likely" else rows[:1]))


def _numbers(rows: Sequence[Sequence[str]], *fields: int) -> bool:
    """Whether some fields are numbers, or dates, in all rows."""
    return all(len(row) > field and DATA.fullmatch(row[field]) for row in rows for field in fields)


def _has_iterations(rows: Sequence[Sequence[str]]) -> bool:
    """Whether the second of four fields numbers rounds of judging or subtopics, and the third names documents."""
    documents = not any(DATA.fullmatch(row[2]) for row in rows)
    return documents and _numbers(rows, 1) and len({row[1] for row in rows}) < len({row[2] for row in rows})


def _counts_up(rows: Sequence[Sequence[str]]) -> bool:
    """Whether the fourth field is the next rank wherever the first one stays the same."""
    if not all(row[3].isdecimal() for row in rows):
        return False
    steps = {int(below[3]) - int(above[3]) for above, below in itertools.pairwise(rows) if above[0] == below[0]}
    return steps == {1}


def _no_question(*_: object) -> None:
    """There is nothing to ask."""


def _ask_which(start: Sequence[str], path: Path, table: str) -> None:
    """Ask about columns that have two readings, or hold judgments that are not qrels."""
    rows = _rows(start)
    widths = {len(row) for row in rows}
    if widths == {4} and _numbers(rows, 0, 1, 2, 3):
        raise SourceError(
            f"the 4 columns of {quoted(path)} have two readings: query, iteration, document, relevance (TREC qrels); "
            "or user, item, rating, time (as in MovieLens)",
            advice="For the first, give it the suffix .qrels; for the second, put a header line above it: "
            "user, item, rating, timestamp, with the separator of the file.",
            table=table,
        )
    if widths == {5} and _numbers(rows, 2, 3, 4):
        raise SourceError(
            f"{quoted(path)} has 5 columns, as prels have: query, document, judgment, sampling method, probability. "
            "These are a sample of judgments, weighted by their probabilities",
            advice="To count each judgment alike, keep the first three columns under the header user,item,relevance.",
            table=table,
        )


def _fields(path: Path, kind: str) -> pl.LazyFrame:
    """The fields of each line of a TREC file, and its number; null where it has others.

    Empty lines, and comments, which begin with "#", are passed over.
    """
    # The rank column of a run is left alone: trec_eval, and everybody who writes these files, goes by score. So it may
    # begin at 0, or be the same in all lines.
    pattern, names = TREC[kind]
    if kind == "TREC run" and len(next(iter(_rows(first_lines(path))), ())) == 5:
        pattern = _RUN_WITHOUT_TAG
    fields = pl.col("line").str.strip_chars(" \t\r").str.extract_groups(f"^{pattern}$")
    filled = lines(path).with_row_index("number", offset=1).filter(pl.col("line").str.contains(r"^\s*[^\s#]"))
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


def _ask_of_runs(shown: Files, table: str) -> None:
    """Ask about a query that has lists in two files, which are hardly parts of one run."""
    names = [*shown.values()]
    parts = [_fields(path, "TREC run").select("qid", file=pl.lit(at)).unique() for at, path in enumerate(shown)]
    files = pl.concat(parts).drop_nulls().group_by("qid").agg(first=pl.col("file").min(), last=pl.col("file").max())
    twice = files.filter(pl.col("first") < pl.col("last")).sort("last", "first", "qid").head(1)
    for query, first, last in twice.collect(engine="streaming").iter_rows():
        raise SourceError(
            f"query {shown_value(query)} is in {quoted(names[first])} and in {quoted(names[last])}: are they the runs "
            "of two systems, or parts of one?",
            advice="Pass the run of one system; to compare several, pass {name: path} to atkay.compare. Join the parts "
            "of one run into a file.",
            table=table,
        )


def _format(
    kind: str,
    suffixes: tuple[str, ...],
    claim: Callable[[Sequence[str], Path, str, Header], bool],
    question: Callable[[Sequence[str], Path, str], None],
    refuse: Callable[[Path, str], None],
    together: Callable[[Files, str], None] = _no_question,
) -> Format:
    return Format(
        kind,
        suffixes,
        lambda path: _fields(path, kind).drop("number"),
        claim=claim,
        question=question,
        typed=False,
        bad=_is_bad(kind),
        check=lambda shown, _, table: _check_lines(shown, table, kind),
        refuse=refuse,
        together=together,
    )


TREC_RUN = _format("TREC run", (".run",), _is_run, _no_question, _refuse_lists, _ask_of_runs)
TREC_QRELS = _format("TREC qrels", (".qrels", ".qrel"), _is_qrels, _ask_which, _refuse_judgments)
