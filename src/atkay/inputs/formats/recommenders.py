"""Files of recommender data sets: RecBole's atomic files, MovieLens' with '::' between fields, LightGCN's."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import polars as pl

from atkay.errors import SourceError
from atkay.inputs.columns import NUMBER, names_a_column
from atkay.inputs.formats.format import Format
from atkay.inputs.text_files import first_lines, lines

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from atkay.inputs.formats.format import Header

TYPED = re.compile(r"(.+):(token|float|token_seq|float_seq)")
"""How RecBole writes the name of a column: user_id:token."""
BETWEEN = "::"
RATINGS, ITEMS, USERS = (
    ("user", "item", "rating", "timestamp"),
    ("item", "title", "genres"),
    ("user", "gender", "age", "occupation", "zip"),
)
"""The columns of MovieLens' ratings.dat, movies.dat and users.dat, which have no names."""
DROPPED = "title"
"""Tells one film from the others, so it is no category; it is written in Latin-1, too."""


def _typed(lines: Sequence[str]) -> bool:
    return all(map(TYPED.fullmatch, lines[0].strip().split("\t")))


def _scan_typed(path: Path) -> pl.LazyFrame:
    """Columns of text; sequences, which have blanks between their entries, as lists."""
    rows = pl.scan_csv(path, separator="\t", infer_schema=False, quote_char=None, glob=False)
    columns = []
    for name in rows.collect_schema().names():
        plain, kind = match.groups() if (match := TYPED.fullmatch(name)) else (name, "token")
        column = pl.col(name)
        if kind.endswith("_seq"):
            column = column.str.extract_all(r"\S+")
        columns.append((column.cast(pl.List(pl.Float64)) if kind == "float_seq" else column).alias(plain))
    return rows.select(columns)


def _has_colons(lines: Sequence[str]) -> bool:
    return len({line.count(BETWEEN) for line in lines}) == 1 and lines[0].count(BETWEEN) > 1


def _scan_colons(path: Path) -> pl.LazyFrame:
    first = next(iter(first_lines(path)), "").strip().split(BETWEEN)
    header = any(map(names_a_column, first))
    names = first if header else _names(first, path)
    rows = lines(path).slice(int(header))
    pattern = BETWEEN.join(["(.*?)"] * len(names))
    fields = pl.col("line").str.strip_chars_end("\r").str.extract_groups(f"^{pattern}$")
    columns = [fields.struct.field(str(at)).alias(name) for at, name in enumerate(names, start=1) if name != DROPPED]
    return rows.filter(pl.col("line").str.contains(r"\S")).select(columns)


def _names(first: Sequence[str], path: Path) -> Sequence[str]:
    """The columns of a file without a header, by its first line."""
    numbers = [bool(re.fullmatch(NUMBER, field)) for field in first]
    if len(first) == 3 and not numbers[2]:
        return ITEMS
    if len(first) in (3, 4) and all(numbers[2:]):
        return RATINGS[: len(first)]
    if len(first) == 5 and first[1] in ("M", "F"):
        return USERS
    raise SourceError(
        f"cannot tell what the fields of '{path.name}' are: {BETWEEN.join(first)[:80]!r}",
        advice=f"Put a header line above it, such as {BETWEEN.join(RATINGS)}.",
    )


def _is_per_user(lines: Sequence[str], _: Path, __: str, header: Header) -> bool:
    """Whether each line has a user and its items, as many as there are: all numbers, and none of them twice."""
    rows = [line.split() for line in lines]
    if header == "likely" or not all(field.isdecimal() for row in rows for field in row):
        return False
    users, widths = {row[0] for row in rows}, set(map(len, rows))
    once = len(users) == len(rows) and all(len({*row[1:]}) == len(row) - 1 for row in rows)
    return once and len(widths) > 1


def _scan_per_user(path: Path) -> pl.LazyFrame:
    fields = pl.col("line").str.extract_all(r"\S+")
    rows = lines(path).filter(pl.col("line").str.contains(r"\S"))
    rows = rows.select(user=fields.list.first(), item=fields.list.slice(1))
    return rows.filter(pl.col("item").list.len() > 0).explode("item")


LIGHTGCN = Format("LightGCN", (), _scan_per_user, claim=_is_per_user, typed=False)
RECBOLE = Format("RecBole", (".inter", ".item", ".user"), _scan_typed, guess=_typed, typed=False)
MOVIELENS = Format("MovieLens", (), _scan_colons, guess=_has_colons, typed=False)
