"""Tables for people and for machines."""

from __future__ import annotations

import contextlib
import json
import shutil
import sys
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from atkay.grid import Tabular


def _csv(found: Any) -> str:
    import polars as pl

    frame: pl.DataFrame = found.to_polars()
    lists = [name for name, kind in frame.schema.items() if isinstance(kind, pl.List)]
    return frame.with_columns(pl.col(lists).list.join(" ")).write_csv().rstrip("\n")


FORMS: dict[str, Callable[[Any], str]] = {
    "table": repr,
    "json": lambda found: json.dumps(found.to_polars().to_dicts(), indent=2, ensure_ascii=False, default=str),
    "csv": _csv,
    "markdown": lambda found: str(found.to_markdown()),
    "latex": lambda found: str(found.to_latex()),
}


def show(found: Any, form: str) -> None:
    """Print a record in a form."""
    click.echo(FORMS[form](found))


def show_listing(found: Tabular, form: str) -> None:
    """Print a table that may be wider than the terminal."""
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    click.echo(found.text(width) if form == "table" else FORMS[form](found))


@contextlib.contextmanager
def working(what: str) -> Iterator[None]:
    """Say that something goes on, on a terminal."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(what):
        yield
