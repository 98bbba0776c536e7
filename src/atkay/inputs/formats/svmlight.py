"""SVMlight: a labelled row of features per document, with its query in the row or in a file beside."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from atkay.errors import SourceError
from atkay.inputs.columns import NUMBER
from atkay.inputs.formats.format import Format
from atkay.inputs.paths import quoted
from atkay.inputs.text_files import first_lines, lines
from atkay.tables import KINDS

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from atkay.inputs.formats.format import Files

_ROW = re.compile(rf"\s*{NUMBER}(?P<qid>[ \t]+qid:[^ \t]+)?(?P<feature>[ \t]+[0-9]+:[^ \t]+)*[ \t]*(?:#.*)?")
FIELD, GAP = r"[^ \t\r#]+", r"[ \t]"
_DOCUMENT = rf"{GAP}*doc_?id{GAP}*[=:]{GAP}*([^ \t\r]+)"
"""LETOR's comments: ``#docid = GX029-35-5894638 inc = 1 prob = 0.02``."""
SIZES = (".query", ".group")
"""Suffixes of the file that has the number of rows of each query: LightGBM's and XGBoost's."""


def _row(line: str) -> re.Match[str] | None:
    match = _ROW.fullmatch(line.strip())
    return match if match and (match["qid"] or match["feature"]) else None


def _filled(path: Path) -> pl.LazyFrame:
    """The rows without empty lines and comments, and the number of their lines."""
    return lines(path).with_row_index("number", offset=1).filter(pl.col("line").str.contains(r"^[ \t]*[^# \t\r]"))


def _scan(path: Path) -> pl.LazyFrame:
    """Query, document and label of each row; a document without an id is the number of its row, from 0."""
    filled, line = _filled(path), pl.col("line")
    first = next(filter(None, map(_row, first_lines(path))), None)
    comment = line.str.splitn("#", 2).struct.field("field_1")
    if first and re.search("#" + _DOCUMENT, first.string):
        document = comment.str.extract(f"^{_DOCUMENT}")
    elif first and not first["feature"] and "#" in first.string:  # Quepid: the document and the text of the query
        document = comment.str.extract(rf"^{GAP}*({FIELD})")
    else:
        filled, document = filled.with_row_index("row"), pl.col("row").cast(pl.String)
    if first and not first["qid"]:
        label = line.str.extract(rf"^{GAP}*({FIELD})")
        return filled.select(qid=pl.lit(_queries(path, filled)), docid=document, label=label)
    fields = line.str.extract_groups(rf"^{GAP}*(?<label>{FIELD}){GAP}+qid:(?<qid>{FIELD})").struct
    return filled.select(fields.field("qid"), docid=document, label=fields.field("label"))


def _queries(path: Path, filled: pl.LazyFrame) -> pl.Series:
    """The query of each row, by the sizes in the file beside; queries are numbers, from 0."""
    sizes_file = next((file for suffix in SIZES if (file := path.with_name(path.name + suffix)).is_file()), None)
    if sizes_file is None:
        raise SourceError(
            f"{quoted(path)} has no qid: in its rows, and no '{path.name}{SIZES[0]}' or '{path.name}{SIZES[1]}' beside "
            "it tells how many rows each query has."
        )
    sizes = lines(sizes_file).collect().to_series().drop_nulls().str.strip_chars().cast(pl.UInt32, strict=False)
    n_rows = filled.select(pl.len()).collect().item()
    if sizes.null_count() or sizes.sum() != n_rows:
        raise SourceError(
            f"{quoted(sizes_file)} has the sizes of {len(sizes):,} queries, {sizes.sum():,} rows together, but "
            f"{quoted(path)} has {n_rows:,} rows."
        )
    return pl.Series(np.repeat(np.arange(len(sizes)), sizes.to_numpy())).cast(pl.String)


def _check(shown: Files, _: Sequence[str], table: str) -> None:
    """Name the first line that is no row."""
    for path, name in shown.items():
        bad = pl.any_horizontal(BAD)
        numbered = pl.concat([_filled(path), _scan(path)], how="horizontal")
        wrong = numbered.filter(bad).select("number", "line").head(1).collect()
        if len(wrong):
            number, line = wrong.row(0)
            raise SourceError(
                f"cannot read line {number} of {quoted(name)} as SVMlight: {re.sub(r'[^ -~]+', ' ', line)[:80]!r}",
                advice="A line holds label qid:query feature:value ...; the id of a document stands in every comment, "
                "or in none.",
                table=table,
            )


def _refuse(path: Path, table: str) -> None:
    if "score" in KINDS[table].roles:
        raise SourceError(
            f"{quoted(path)} is SVMlight, which holds labels, not ranked lists",
            advice="Pass it as truth, and as recs the predictions, a number for each of its rows.",
            table=table,
        )


BAD = (pl.col("label").cast(pl.Float64, strict=False).is_null(), pl.col("qid").is_null(), pl.col("docid").is_null())

SVMLIGHT = Format(
    "SVMlight",
    (".svm", ".svmlight", ".libsvm", ".letor"),
    _scan,
    guess=lambda lines: next(filter(None, map(_row, lines)), None) is not None,
    typed=False,
    bad=pl.any_horizontal(BAD),
    check=_check,
    refuse=_refuse,
)
