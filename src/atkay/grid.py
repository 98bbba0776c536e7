"""A small table of text, for terminals, notebooks, Markdown and LaTeX."""

from __future__ import annotations

import html
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

_LATEX = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        **{char: "\\" + char for char in "&%$#_{}"},
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
    }
)


@dataclass(frozen=True)
class Grid:
    """Rows of cells under a header; the columns named in ``right`` are aligned to the right."""

    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    right: Sequence[str] = ()

    def _aligned(self, cell: str, column: int, width: int) -> str:
        return cell.rjust(width) if self.header[column] in self.right else cell.ljust(width)

    def _line(self, cells: Sequence[str], widths: Sequence[int], between: str) -> str:
        return between.join(
            self._aligned(cell, at, width) for at, (cell, width) in enumerate(zip(cells, widths, strict=True))
        )

    def _widths(self, cells: Sequence[Sequence[str]]) -> list[int]:
        return [max(map(len, column)) for column in zip(*cells, strict=True)]

    def text(self) -> str:
        """Aligned columns for a terminal."""
        widths = self._widths([self.header, *self.rows])
        rule = "─" * (sum(widths) + 2 * (len(widths) - 1))
        lines = [self._line(self.header, widths, "  "), rule]
        return "\n".join(line.rstrip() for line in [*lines, *(self._line(row, widths, "  ") for row in self.rows)])

    def markdown(self) -> str:
        """A pipe table."""
        cells = [[cell.replace("|", "\\|") for cell in row] for row in [self.header, *self.rows]]
        widths = self._widths(cells)
        rule = [
            "-" * (width - 1) + ":" if name in self.right else "-" * width
            for name, width in zip(self.header, widths, strict=True)
        ]
        return "\n".join(f"| {self._line(row, widths, ' | ')} |" for row in [cells[0], rule, *cells[1:]])

    def latex(self) -> str:
        """A booktabs table."""
        spec = "".join("r" if name in self.right else "l" for name in self.header)
        head, *body = (" & ".join(cell.translate(_LATEX) for cell in row) + r" \\" for row in [self.header, *self.rows])
        return "\n".join(
            [
                rf"\begin{{tabular}}{{{spec}}}",
                r"\toprule",
                head,
                r"\midrule",
                *body,
                r"\bottomrule",
                r"\end{tabular}",
            ]
        )

    def html(self) -> str:
        """A plain HTML table; whatever the cells hold is shown as text."""

        def row(cells: Sequence[str], tag: str) -> str:
            sides = ("right" if name in self.right else "left" for name in self.header)
            styled = (
                f'<{tag} style="text-align: {side}">{html.escape(cell)}</{tag}>'
                for side, cell in zip(sides, cells, strict=True)
            )
            return f"<tr>{''.join(styled)}</tr>"

        body = "\n".join(row(cells, "td") for cells in self.rows)
        return f"<table>\n<thead>\n{row(self.header, 'th')}\n</thead>\n<tbody>\n{body}\n</tbody>\n</table>"


class Tabular:
    """Whatever shows itself as a table: in a terminal, a notebook, Markdown and LaTeX."""

    def _grid(self) -> Grid:
        """The table."""
        raise NotImplementedError

    def _notes(self) -> Sequence[str]:
        """What is said below the table."""
        return ()

    def __repr__(self) -> str:
        return "\n\n".join([self._grid().text(), *(["\n".join(self._notes())] if self._notes() else [])])

    def _repr_html_(self) -> str:
        notes = "<br>".join(html.escape(note) for note in self._notes())
        return self._grid().html() + (f"<p>{notes}</p>" if notes else "")

    def to_markdown(self) -> str:
        """The table in Markdown."""
        return "\n\n".join([self._grid().markdown(), *self._notes()])

    def to_latex(self) -> str:
        """The table in LaTeX, for the booktabs package."""
        return self._grid().latex()

    def to_polars(self) -> pl.DataFrame:
        """The table's cells, as text."""
        import polars as pl

        grid = self._grid()
        return pl.DataFrame(
            [list(row) for row in grid.rows], schema=dict.fromkeys(grid.header, pl.String), orient="row"
        )


class Listing(Tabular):
    """Rows of text under a header."""

    def __init__(self, header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        self._table = Grid(header, rows)

    def _grid(self) -> Grid:
        return self._table
