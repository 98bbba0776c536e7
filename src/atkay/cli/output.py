"""Tables for people and for machines."""

from __future__ import annotations

import contextlib
import json
import sys
from typing import TYPE_CHECKING, Any, Protocol

import click

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import polars as pl


class Shown(Protocol):
    """Whatever prints as a table."""

    def to_markdown(self) -> str: ...
    def to_latex(self) -> str: ...
    def to_polars(self) -> pl.DataFrame: ...


def _csv(found: Shown) -> str:
    import polars as pl

    frame = found.to_polars()
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


@contextlib.contextmanager
def working(what: str) -> Iterator[None]:
    """Say that something goes on, on a terminal."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(what):
        yield
