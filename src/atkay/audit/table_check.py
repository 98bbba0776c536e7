"""TableCheck: a checked table of published numbers, with a flag for each that cannot be."""

from __future__ import annotations

import dataclasses
import html
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from atkay.errors import number_of
from atkay.inputs.published import number_in
from atkay.text.files import write_whole
from atkay.text.grid import Cell, Grid, Tabular

if TYPE_CHECKING:
    import polars as pl

MARK = "✗"
PAGE = """<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{title}</title>
<style>
:root {{ color-scheme: light dark; --bad: #f6c7c0; --good: #d7ecd9 }}
@media (prefers-color-scheme: dark) {{ :root {{ --bad: #7c2d24; --good: #1f4a2a }} }}
body {{ font: 16px/1.5 system-ui, sans-serif; max-width: 70rem; margin: 2rem auto; padding: 0 1rem }}
div {{ overflow-x: auto }} table {{ border-collapse: collapse }} th, td {{ padding: .3rem .7rem; text-align: left }}
tr {{ border-bottom: 1px solid #8884 }}
td.bad {{ background: var(--bad); font-weight: 600 }} td.good {{ background: var(--good) }}
</style>
<h1>{title}</h1>
<p>{summary}</p>
<div><table>{head}{body}</table></div>
<ol>{flags}</ol>
<p>{notes}</p>
</html>
"""


@dataclass(frozen=True)
class Flag:
    """A number, or several of one row, that no data could give: the row, the columns, and the proof."""

    row: str
    columns: tuple[str, ...]
    printed: tuple[str, ...]
    proof: str

    def __str__(self) -> str:
        cells = ", ".join(f"{column} = {text}" for column, text in zip(self.columns, self.printed, strict=True))
        return f"{self.row}: {cells}: {self.proof}"


@dataclass(frozen=True, repr=False)
class TableCheck(Tabular):
    """A checked table: its numbers, and a flag for each that cannot be; true if there is none.

    ``checked`` counts the numbers whose column is a known metric. ``conventions`` has, where the lists were given, the
    specs and libraries that reproduce each number.
    """

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    flags: tuple[Flag, ...]
    checked: int
    specs: Mapping[str, str]
    notes: tuple[str, ...] = ()
    conventions: Mapping[tuple[str, str], tuple[str, ...]] = dataclasses.field(default_factory=dict)

    def __bool__(self) -> bool:
        return not self.flags

    @cached_property
    def _places(self) -> dict[tuple[str, str], list[int]]:
        places: dict[tuple[str, str], list[int]] = {}
        for number, flag in enumerate(self.flags, 1):
            for column in flag.columns:
                places.setdefault((flag.row, column), []).append(number)
        return places

    @property
    def verdict(self) -> str:
        """How many numbers were checked and flagged."""
        flagged = len(self._places)
        what = f"{number_of(self.checked, 'number')} checked"
        return f"{what}, {flagged} flagged" if flagged else f"{what}, none that could not be"

    def _grid(self) -> Grid:
        rows = [
            [Cell(text, marks=self._marks(row[0], name)) for name, text in zip(self.header, row, strict=True)]
            for row in self.rows
        ]
        return Grid(self.header, rows)

    def _marks(self, row: str, column: str) -> str:
        numbers = self._places.get((row, column), [])
        return MARK + ",".join(map(str, numbers)) if numbers else ""

    def _notes(self) -> Sequence[str]:
        reproduced = [
            f"{row}, {column}: {'; '.join(of) or 'no convention'}" for (row, column), of in self.conventions.items()
        ]
        return [
            self.verdict,
            *(f"{MARK}{number} {flag}" for number, flag in enumerate(self.flags, 1)),
            *reproduced,
            *self.notes,
        ]

    def to_polars(self) -> pl.DataFrame:
        """A row per number: row, column, spec, printed, whether it is flagged, the proofs, and the conventions."""
        import polars as pl

        columns: dict[str, list[Any]] = {
            name: [] for name in ("row", "column", "spec", "printed", "flagged", "proofs", "conventions")
        }
        for row in self.rows:
            for name, text in zip(self.header[1:], row[1:], strict=True):
                proofs = [self.flags[number - 1].proof for number in self._places.get((row[0], name), [])]
                values = (
                    row[0],
                    name,
                    self.specs.get(name),
                    text,
                    bool(proofs),
                    proofs,
                    list(self.conventions.get((row[0], name), ())),
                )
                for column, value in zip(columns.values(), values, strict=True):
                    column.append(value)
        lists = dict.fromkeys(("proofs", "conventions"), pl.List(pl.String))
        return pl.DataFrame(columns, schema_overrides={"spec": pl.String, **lists})

    def to_dict(self) -> dict[str, Any]:
        """Everything as a JSON-compatible dict."""
        return {
            "checked": self.checked,
            "flags": [dataclasses.asdict(flag) for flag in self.flags],
            "cells": self.to_polars().to_dicts(),
            "notes": list(self.notes),
        }

    def to_json(self) -> str:
        """Everything, as JSON."""
        return json.dumps(self.to_dict(), ensure_ascii=False)

    def to_html(self) -> str:
        """A page with the table, flagged numbers in colour, and the proofs."""
        head = "".join(f"<th>{html.escape(name)}</th>" for name in self.header)
        body = "".join(
            f"<tr>{''.join(self._cell(row[0], name, text) for name, text in zip(self.header, row, strict=True))}</tr>"
            for row in self.rows
        )
        return PAGE.format(
            title="Numbers that cannot be" if self.flags else "No number that cannot be",
            summary=html.escape(self.verdict),
            head=f"<tr>{head}</tr>",
            body=body,
            flags="".join(f"<li>{html.escape(str(flag))}</li>" for flag in self.flags),
            notes="<br>".join(map(html.escape, self.notes)),
        )

    def _cell(self, row: str, column: str, text: str) -> str:
        marks = self._marks(row, column)
        kind = "bad" if marks else "good" if column in self.specs and number_in(text) else ""
        return f'<td class="{kind}">{html.escape(text)}{f"<sup>{marks}</sup>" if marks else ""}</td>'

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the page, or JSON where the name ends in ``.json``; atomic."""
        json_wanted = os.fspath(path).endswith(".json")
        write_whole(path, (self.to_json() if json_wanted else self.to_html()).encode())
