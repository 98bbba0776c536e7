"""A small table of text, for terminals, notebooks, Markdown and LaTeX."""

from __future__ import annotations

import html
import itertools
import re
import shutil
import sys
import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING

from atkay.text.files import is_terminal
from atkay.text.help import Visible
from atkay.text.printable import one_line

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import polars as pl

_LATEX = str.maketrans(
    {
        **{char: "\\" + char for char in "&%$#_{}"},
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "`": r"\textasciigrave{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
        '"': r"{\char34}",  # babel gives it meanings of its own
        "†": r"\textdagger{}",
        "↑": r"$\uparrow$",
        "↓": r"$\downarrow$",
    }
)
_LIGATURE = re.compile(r"([-',])(?=\1)")

NARROWEST_COLUMN = 24
"""The least width of a column that is broken into lines."""

_MARKDOWN = re.compile(
    r"""
    [\\|`]                                   # at any place
    | <(?=[a-z/!?]) | &(?=\#?\w+;)             # where a tag or an entity may begin: not in <0.0001
    | \*(?=\S.*\*) | (?<![^\W_])_(?=\S.*_)    # where emphasis may begin: not within a word by _
    | ~(?=\S.*~) | \$(?=\S.*\$)               # where something is struck out, or a formula begins
    | \[(?=[^\]]*\][(\[:])                    # where a link, or the address of one, may begin
    | ^(?:[>#](?=[\s>#])|>|[-+=](?=[\s=-]|$))  # where a line begins a heading, a list, a rule or a quotation
    | (?<=^\d)[.)](?=\s|$)                    # or a numbered list
    """,
    re.VERBOSE | re.IGNORECASE,
)


ARROWS = {"higher": "↑", "lower": "↓"}
"""Where the better values of a metric are; none for a metric without direction."""


def headed(name: str, better: str) -> str:
    """The name of a metric in a header, with an arrow towards its better values.

    >>> headed("ndcg@10", "higher"), headed("mean_rank", "lower"), headed("arp@10", "neither")
    ('ndcg@10 ↑', 'mean_rank ↓', 'arp@10')
    """
    return f"{name} {ARROWS[better]}" if better in ARROWS else name


def as_markdown(text: str) -> str:
    """The text such that Markdown shows it as it is; what means nothing there stays readable."""
    return _MARKDOWN.sub(r"\\\g<0>", text)


def as_latex(text: str) -> str:
    """The text such that LaTeX shows it as it is: no command, no ligature."""
    return _LIGATURE.sub(r"\1{}", text.translate(_LATEX))


def _latex_row(cells: Sequence[str]) -> str:
    """A row; what it begins with is no option of the line break or the rule before it."""
    return _not_bracketed(" & ".join(cells) + r" \\")


def _not_bracketed(text: str) -> str:
    """The text such that its start is no option of the command before it."""
    return "{}" + text if text[:1] in ("[", "*") else text


@dataclass(frozen=True)
class Cell:
    """A text that can be set in bold, with marks raised behind it."""

    text: str
    bold: bool = False
    marks: str = ""

    def shown(self, escape: Callable[[str], str], bold: str, raised: str) -> str:
        """The text in a form, such as ``**{}**`` and ``<sup>{}</sup>``."""
        text = escape(one_line(self.text))
        return (bold.format(text) if self.bold else text) + (raised.format(escape(self.marks)) if self.marks else "")


@dataclass(frozen=True)
class Grid:
    """Rows of cells under a header; the columns named in ``right`` are aligned to the right.

    A terminal that is too narrow leaves out columns named in ``spare``, in their order.
    """

    header: Sequence[str]
    rows: Sequence[Sequence[str | Cell]]
    right: Sequence[str] = ()
    spare: Sequence[str] = ()

    def _shown(self, escape: Callable[[str], str], bold: str = "{}", raised: str = "{}") -> list[list[str]]:
        """All rows as text, the header first."""
        return [
            [cell.shown(escape, bold, raised) if isinstance(cell, Cell) else escape(one_line(cell)) for cell in row]
            for row in [self.header, *self.rows]
        ]

    def plain(self) -> list[list[str]]:
        """All rows as they would be read out, the header first."""
        return self._shown(str)

    def _aligned(self, cell: str, column: int, width: int) -> str:
        return cell.rjust(width) if self.header[column] in self.right else cell.ljust(width)

    def _line(self, cells: Sequence[str], widths: Sequence[int], between: str) -> str:
        return between.join(
            self._aligned(cell, at, width) for at, (cell, width) in enumerate(zip(cells, widths, strict=True))
        )

    def _widths(self, cells: Sequence[Sequence[str]]) -> list[int]:
        return [max(map(len, column)) for column in zip(*cells, strict=True)]

    def text(self) -> str:
        """Aligned columns; on a terminal that is narrower, spare ones are left out and cells are broken into lines."""
        width = shutil.get_terminal_size().columns if is_terminal(sys.stdout) else sys.maxsize
        grid, left_out = self, list[str]()
        for name in self.spare:
            if _total(grid._widths(grid._shown(str, raised=" {}"))) <= width:
                break
            grid = grid._without(name)
            left_out.append(name)
        more = [f"(this terminal is too narrow for: {', '.join(left_out)})"] if left_out else []
        return "\n".join([grid._broken_at(width), *more])

    def _without(self, name: str) -> Grid:
        """The table without a column."""
        at = list(self.header).index(name)
        head, *rows = [[*row[:at], *row[at + 1 :]] for row in (self.header, *self.rows)]
        return Grid([str(one) for one in head], rows, self.right)

    def _broken_at(self, width: int) -> str:
        """The table, its cells broken into lines where it is wider than this."""
        cells = self._shown(str, raised=" {}")
        widths = self._widths(cells)
        while _total(widths) > width and max(widths) > NARROWEST_COLUMN:
            widths[widths.index(max(widths))] -= 1
        cells = [line for row in cells for line in _broken(row, widths)]
        rule = "─" * _total(widths)
        head, *lines = (self._line(row, widths, "  ").rstrip() for row in cells)
        return "\n".join([head, rule, *lines])

    def markdown(self) -> str:
        """A pipe table."""
        cells = self._shown(as_markdown, "**{}**", "<sup>{}</sup>")
        widths = self._widths(cells)
        rule = [
            "-" * (width - 1) + ":" if name in self.right else "-" * width
            for name, width in zip(self.header, widths, strict=True)
        ]
        return "\n".join(f"| {self._line(row, widths, ' | ')} |" for row in [cells[0], rule, *cells[1:]])

    def latex(self, *, caption: str | None = None, label: str | None = None, notes: Sequence[str] = ()) -> str:
        """A booktabs table; notes stand below it (threeparttable), and a caption or a label makes it a float."""
        spec = "".join("r" if name in self.right else "l" for name in self.header)
        cells = self._shown(as_latex, r"\textbf{{{}}}", r"\textsuperscript{{{}}}")
        head, *body = map(_latex_row, cells)
        lines = [
            rf"\begin{{tabular}}{{{spec}}}",
            r"\toprule",
            head,
            r"\midrule",
            *body,
            r"\bottomrule",
            r"\end{tabular}",
        ]
        above = [
            *([rf"\caption{{{as_latex(one_line(caption))}}}"] if caption is not None else []),
            *([rf"\label{{{label}}}"] if label is not None else []),
        ]
        if notes:
            items = [rf"\item {_not_bracketed(as_latex(one_line(note)))}" for note in notes]
            below = [r"\begin{tablenotes}[flushleft]", r"\footnotesize", *items, r"\end{tablenotes}"]
            lines = [r"\begin{threeparttable}", *above, *lines, *below, r"\end{threeparttable}"]
        else:
            lines = [*above, *lines]
        return "\n".join([r"\begin{table}", r"\centering", *lines, r"\end{table}"] if above else lines)

    def html(self, *, caption: str | None = None, label: str | None = None) -> str:
        """A plain HTML table; whatever the cells hold is shown as text."""

        def row(cells: Sequence[str], tag: str) -> str:
            sides = ("right" if name in self.right else "left" for name in self.header)
            styled = (
                f'<{tag} style="text-align: {side}">{cell}</{tag}>' for side, cell in zip(sides, cells, strict=True)
            )
            return f"<tr>{''.join(styled)}</tr>"

        head, *cells = self._shown(html.escape, "<b>{}</b>", "<sup>{}</sup>")
        body = "\n".join(row(one, "td") for one in cells)
        begin = "<table>" if label is None else f'<table id="{html.escape(label)}">'
        title = "" if caption is None else f"<caption>{html.escape(one_line(caption))}</caption>\n"
        return f"{begin}\n{title}<thead>\n{row(head, 'th')}\n</thead>\n<tbody>\n{body}\n</tbody>\n</table>"


def markdown_of(parts: Sequence[Grid | Sequence[str]], caption: str | None = None, label: str | None = None) -> str:
    """Tables and lines of text in Markdown, below an anchor and a caption."""
    above = [
        *([] if label is None else [f'<a id="{label}"></a>']),
        *([] if caption is None else [as_markdown(one_line(caption))]),
    ]
    below = (
        part.markdown() if isinstance(part, Grid) else "  \n".join(as_markdown(one_line(line)) for line in part)
        for part in parts
    )
    return "\n\n".join([*above, *below])


def html_of(parts: Sequence[Grid | Sequence[str]], caption: str | None = None, label: str | None = None) -> str:
    """Tables and lines of text in HTML; caption and label are those of the first table."""
    first = next((at for at, part in enumerate(parts) if isinstance(part, Grid)), None)
    return "\n".join(
        (part.html(caption=caption, label=label) if at == first else part.html())
        if isinstance(part, Grid)
        else f"<p>{'<br>'.join(html.escape(one_line(line)) for line in part)}</p>"
        for at, part in enumerate(parts)
    )


def _total(widths: Sequence[int]) -> int:
    """The width of a table with columns of these widths, two spaces between them."""
    return sum(widths) + 2 * (len(widths) - 1)


def _broken(row: list[str], widths: Sequence[int]) -> list[list[str]]:
    """A row as several, so that no cell is wider than its column."""
    if all(len(cell) <= width for cell, width in zip(row, widths, strict=True)):
        return [row]
    cells = (textwrap.wrap(cell, width) for cell, width in zip(row, widths, strict=True))
    return list(map(list, itertools.zip_longest(*cells, fillvalue="")))


class Tables(Visible):
    """Whatever shows itself as tables and lines of text: in a terminal, a notebook, and Markdown."""

    def _parts(self, *, bold: bool) -> Sequence[Grid | Sequence[str]]:
        """What is shown, one after the other: tables, and lines of text; ``bold`` says whether bold is seen."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return "\n\n".join(
            part.text() if isinstance(part, Grid) else "\n".join(map(one_line, part))
            for part in self._parts(bold=False)
        )

    def _repr_html_(self) -> str:
        return html_of(self._parts(bold=True))

    def to_markdown(self) -> str:
        """All tables and notes in Markdown."""
        return markdown_of(self._parts(bold=True))


class Tabular(Tables):
    """Whatever shows itself as a table with notes, each a paragraph of its own."""

    _internal = "parts"

    def _grid(self) -> Grid:
        """The table."""
        raise NotImplementedError

    def _notes(self) -> Sequence[str]:
        """The notes below the table."""
        return ()

    def parts(self) -> tuple[Grid, Sequence[str]]:
        """The table and the notes below it."""
        return self._grid(), self._notes()

    def _parts(self, *, bold: bool = False) -> Sequence[Grid | Sequence[str]]:
        """The table, unless it is empty, and the notes."""
        grid, notes = self.parts()
        return [*([grid] if grid.rows else []), *([note] for note in notes)]

    def to_latex(self) -> str:
        """The table in LaTeX, for the booktabs package."""
        return self._grid().latex()

    def to_polars(self) -> pl.DataFrame:
        """The table's cells, as text."""
        import polars as pl

        header, *rows = self._grid().plain()
        return pl.DataFrame(rows, schema=dict.fromkeys(header, pl.String), orient="row")


class Listing(Tabular):
    """Rows of text under a header."""

    def __init__(self, header: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[str] = ()) -> None:
        self._table = Grid(header, rows, right)

    def _grid(self) -> Grid:
        return self._table
