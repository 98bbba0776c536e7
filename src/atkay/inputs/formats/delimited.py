"""Delimited text: CSV, TSV and their kin; what separates the columns, and whether the first line names them."""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import polars as pl

from atkay.inputs.columns import DATA, names_a_column, names_a_role
from atkay.inputs.formats.format import Format
from atkay.inputs.text_files import first_lines, lines

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

QUEPID = "query,docid,rating"
"""Quepid's header. It also writes queries and documents that nobody has rated."""
BLANKS = " "
"""Stands for blanks and tabs, one or several between two columns."""
SEPARATORS = ("\t", ";", "|", ",")
TIME = "[0-9]{9,13}"
"""Seconds or milliseconds since 1970."""
SEPARATOR_LINE = re.compile(r"sep=(.)\s*")
"""How Excel writes the separator in front of a table."""


@dataclass(frozen=True)
class Layout:
    """How a delimited file is written, as far as its first lines tell."""

    separator: str
    rows: tuple[tuple[str, ...], ...]
    """The fields of the first lines."""
    skipped: int = 0
    """Lines in front of the table, other than blank ones."""
    blank: int = 0
    """Blank lines in front of it, of which Polars passes over those in front of a header."""
    consistent: bool = True
    """Whether all of the first lines have the same number of fields, two or more."""

    @property
    def header(self) -> str:
        """Whether the first line has the names of the columns, "first", or is data, "none"; "unknown" if unclear."""
        if not self.rows:
            return "unknown"
        first, *below = self.rows
        if any(map(names_a_role, first)):
            return "first"
        # Without names pandas and others write 0,1,2,... as header.
        if not all(first) or list(first) == [str(at) for at in range(len(first))]:
            return "unknown"
        columns = [(name, [row[at] for row in below if at < len(row) and row[at]]) for at, name in enumerate(first)]
        if any(not _is_number(name) and values and all(map(_is_number, values)) for name, values in columns):
            return "first"
        numeric = any(map(_is_number, first))
        return "none" if numeric and all(_is_like(name, values) for name, values in columns) else "unknown"

    @property
    def _is_book(self) -> bool:
        """Whether it is a book of Quepid's, which has a column of ratings for each rater."""
        names, *below = self.rows or ((),)
        raters = names[2:]
        ratings = [row[2:] for row in below]
        return (
            ",".join(names[:2]) == "query,docid"
            and len(raters) > 0
            and not any(map(names_a_role, raters))
            and all(len(row) == len(raters) and all(not one or _is_number(one) for one in row) for row in ratings)
            and any(any(row) for row in ratings)
        )

    def scan(self, path: Path, header: str) -> pl.LazyFrame:
        """The rows of the file; without a header the columns are column_1, column_2, ..."""
        headless = header == "none"
        if self.separator == BLANKS:
            return _scan_blanks(path, self.rows[0], headless=headless)
        # Everything is read as text: a type that is guessed from the first rows would turn "007" into 7.
        frame = pl.scan_csv(
            path,
            separator=self.separator,
            has_header=not headless,
            skip_rows=self.skipped + (self.blank if headless else 0),
            with_column_names=_numbered if headless else None,
            infer_schema=False,
            glob=False,
        )
        if not headless and self.rows and ",".join(self.rows[0]) == QUEPID:
            frame = frame.drop_nulls("rating")
        if not headless and self._is_book:
            frame = frame.unpivot(index=["query", "docid"], variable_name="rater", value_name="rating")
            frame = frame.drop_nulls("rating")
        if self.rows and all(field.startswith(" ") for row in self.rows for field in row[1:]) and self.consistent:
            return frame.select(pl.all().str.strip_chars_start(" ").name.map(str.strip))
        return frame


def _numbered(names: Sequence[str]) -> list[str]:
    return [f"column_{at}" for at, _ in enumerate(names, start=1)]


def _is_number(text: str) -> bool:
    return DATA.fullmatch(text.strip()) is not None


def _is_like(value: str, others: Sequence[str]) -> bool:
    """Whether a value is one of its column and not the column's name: a number among numbers, or text that comes again
    or has digits in the same places.
    """
    if _is_number(value):
        return all(map(_is_number, others))
    shape = _shape(value)
    return value in others or ("9" in shape and bool(others) and all(_shape(other) == shape for other in others))


def _shape(text: str) -> str:
    """Runs of digits as 9, other letters as a: item-12 is a-9."""
    return re.sub(r"[^\W\d_]+", "a", re.sub(r"\d+", "9", text))


def layout_of(path: Path) -> Layout:
    """How a file is written: the separator that gives all of its first lines the same number of fields."""
    every = first_lines(path)
    text = [line for line in every if line]
    return replace(_layout(text), blank=every.index(text[0]) if text else 0)


def _layout(text: Sequence[str]) -> Layout:
    if text and (excel := SEPARATOR_LINE.fullmatch(text[0])):
        return Layout(excel[1], _split(text[1:], excel[1]), skipped=1)
    split = {separator: _split(text, separator) for separator in SEPARATORS}
    even = {separator: rows for separator, rows in split.items() if len({*map(len, rows)}) == 1 and len(rows[0]) > 1}
    if even:
        # Decimal commas are fewer than the semicolons around them, and a tab is part of no value.
        named = [separator for separator, rows in even.items() if any(map(names_a_role, rows[0]))]
        best = max(named or even, key=lambda separator: (separator == "\t", len(even[separator][0])))
        return Layout(best, even[best])
    blanks = tuple(tuple(line.split()) for line in text)
    if len({*map(len, blanks)}) == 1 and len(blanks[0]) > 1:
        by_blanks = Layout(BLANKS, blanks)
        if by_blanks.header != "unknown":
            return by_blanks
    header = text[0] if text else ""
    separator = next((char for char in ",;\t|" if char in header), ",")
    return Layout(separator, split[separator], consistent=False)


def _split(text: Sequence[str], separator: str) -> tuple[tuple[str, ...], ...]:
    """The fields of each line; a quoted one may hold separators and line ends."""
    try:
        return tuple(tuple(row) for row in csv.reader((f"{line}\n" for line in text), delimiter=separator) if row)
    except csv.Error:
        return tuple(tuple(line.split(separator)) for line in text)


def _scan_blanks(path: Path, first_row: Sequence[str], *, headless: bool) -> pl.LazyFrame:
    names = _numbered(first_row) if headless else first_row
    filled = lines(path).filter(pl.col("line").str.contains(r"\S")).slice(0 if headless else 1)
    line = pl.col("line").str.strip_chars(" \t\r")
    fields = line.str.extract_groups("^" + r"[ \t]+".join(f"(?<f{at}>[^ \t]+)" for at in range(len(names))) + "$")
    # A line with other fields keeps its text, so that it is met again as a row without an item.
    first = pl.coalesce(fields.struct.field("f0"), line)
    others = (fields.struct.field(f"f{at}") for at in range(1, len(names)))
    return filled.select(field.alias(name) for field, name in zip((first, *others), names, strict=True))


def _guess(text: Sequence[str]) -> bool:
    """Whether lines are separated into columns that have usual names or, certainly, none."""
    layout = _layout(text)
    if not layout.consistent or any(map(names_a_column, layout.rows[0])):
        return layout.consistent
    # Four columns or more between tabs or blanks may be qrels of another kind, unless they end with a time.
    perhaps_trec = layout.separator in ("\t", BLANKS) and len(layout.rows[0]) > 3
    return layout.header == "none" and (not perhaps_trec or all(re.fullmatch(TIME, row[3]) for row in layout.rows))


def _format(name: str, *suffixes: str) -> Format:
    return Format(
        name,
        suffixes,
        lambda path: layout_of(path).scan(path, "first"),
        guess=_guess,
        typed=False,
        blank_lines=True,
        header=lambda path: layout_of(path).header,
        scan_headless=lambda path: layout_of(path).scan(path, "none"),
    )


CSV, TSV = _format("CSV", ".csv"), _format("TSV", ".tsv", ".tab")
