"""Tables for people and for machines."""

from __future__ import annotations

import contextlib
import json
import sys
from typing import TYPE_CHECKING, Any

import click

from atkay.text.files import is_terminal
from atkay.text.printable import one_line, printable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import polars as pl


def _rows(record: Any) -> pl.DataFrame:
    """All rows of a record; those of segments say which."""
    import polars as pl

    segments = getattr(record, "slices", None)
    frame: pl.DataFrame = record.to_polars()
    return frame if segments is None or not len(segments) else pl.concat([frame, segments], how="diagonal")


def _csv(record: Any) -> str:
    import polars as pl

    frame = _rows(record)
    lists = [name for name, kind in frame.schema.items() if isinstance(kind, pl.List)]
    frame = frame.with_columns(pl.col(lists).cast(pl.List(pl.String)).list.join(" "))
    # It is printed: a name stays on its line, and does nothing to a terminal. JSON has it as it is.
    frame = frame.with_columns(pl.selectors.string().map_elements(one_line, pl.String)).rename(one_line)
    return frame.write_csv().rstrip("\n")


def _json(record: Any) -> str:
    text = json.dumps(_rows(record).to_dicts(), indent=2, ensure_ascii=False, default=str)
    return printable(text, keep="\n", escape=lambda char: json.dumps(char)[1:-1])


FORMS: dict[str, Callable[[Any], str]] = {
    "table": repr,
    "json": _json,
    "csv": _csv,
    "markdown": lambda record: str(record.to_markdown()),
    "latex": lambda record: str(record.to_latex()),
}


def show(record: Any, form: str) -> None:
    """Print a record in a form."""
    click.echo(FORMS[form](record))


@contextlib.contextmanager
def working(what: str) -> Iterator[None]:
    """Say that something goes on, on a terminal."""
    if not is_terminal(sys.stderr):
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(what):
        yield
