"""Splits: which file of a folder of train, dev and test is meant, and what a data set of BEIR has for a table."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from atkay.errors import SourceError, listing
from atkay.inputs.paths import find_files, quoted

if TYPE_CHECKING:
    from pathlib import Path

SPLIT = re.compile(r"(?:train|dev|valid|validation|val|test)(?:\..*)?", re.IGNORECASE)


def _trained_on(split: Path) -> int:
    """0 for what is held out to the end, 2 for what models are trained on."""
    name = split.name.lower()
    return 0 if name.startswith("test") else 2 if name.startswith("train") else 1


def table_in(path: Path, table: str) -> Path:
    """The path, or what holds the table in a folder; the splits of a data set are no parts of one table."""
    try:
        folder = path.is_dir()
    except (OSError, ValueError):
        folder = False  # a name that cannot be one, which is refused later
    if not folder:
        return path
    if (path / "qrels").is_dir():
        if table not in ("truth", "catalog"):
            raise SourceError(
                f"{quoted(path)} is a data set of BEIR, which holds documents, queries and judgments, not {table}",
                advice="Pass its folder as truth, and a run as recs.",
                table=table,
            )
        path = path / ("qrels" if table == "truth" else "corpus.jsonl")
    splits = [file for file in find_files(path, table) if path.is_dir() and SPLIT.fullmatch(file.name)]
    if len(splits) > 1:
        raise SourceError(
            f"folder '{path}' holds the splits {listing(file.name for file in splits)}",
            advice=f"Pass one of them, such as '{min(splits, key=_trained_on)}', or '{path / '*'}' for all together.",
            table=table,
        )
    return path
