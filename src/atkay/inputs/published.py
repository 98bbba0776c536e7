"""Published: a table as papers and READMEs print it, in CSV, Markdown or LaTeX, digit for digit."""

from __future__ import annotations

import csv
import html
import io
import itertools
import os
import re
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

from atkay.errors import SourceError, a_type, shown

NO_NUMBERS = "it has no numbers"
_NUMBER = re.compile(
    r"""
    [≈~]?\s*(?P<number>[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)\s*   # 0.3796
    (?P<percent>%?)\s*
    (?P<spread>±.*|\(.*\)|\[.*\])?                         # a spread or an interval behind it
    [\s*†‡§¶▲▼△▽↑↓⁎∗a-zA-Z,]{0,8}                          # marks of significance
    """,
    re.VERBOSE,
)
_RULES = re.compile(
    r"\\(?:toprule|midrule|bottomrule|hline|addlinespace(?:\[[^]]*\])?|cmidrule(?:\([^)]*\))?\{[^}]*\}|cline\{[^}]*\}"
    r"|centering|small|footnotesize|scriptsize|noalign\{[^}]*\})"
)
_TABULAR = re.compile(
    r"\\begin\{tabular\S*?\}(?:\[[^]]*\])?(?:\{[^{}]*\})?\{(?:[^{}]|\{[^{}]*\})*\}(.*?)\\end\{tabular", re.DOTALL
)
_LINES = re.compile(r"\\(?:makecell|thead|shortstack)(?:\[[^]]*\])?\{([^{}]*)\}")
_INNER = re.compile(r"\\begin\{tabular\}(?:\[[^]]*\])?\{(?:[^{}]|\{[^{}]*\})*\}((?:(?!\\begin)[^&])*?)\\end\{tabular\}")
"""A table of one column within a cell."""
_COLOURS = re.compile(r"\\(?:cellcolor|rowcolor|color|textcolor)(?:\[[^]]*\])?\{[^{}]*\}")
_RAISED = re.compile(r"\\textsuperscript\{[^{}]*\}|\^\{[^{}]*\}|\^\\?\w+|\^\*|\\(?:dag|ddag|dagger|ddagger|star|ast)\b")
_SYMBOLS = {r"\%": "%", r"\&": "&", r"\_": "_", r"\#": "#", r"\pm": "±", r"\,": "", "~": " ", "$": "", "--": "–"}
_SYMBOLS |= {r"\uparrow": "", r"\downarrow": "", r"\times": "×", r"\approx": "≈"}


@dataclass(frozen=True)
class PrintedNumber:
    """A number with the digits that are printed; ``percent`` where a percent sign stands behind it."""

    text: str
    value: Decimal
    percent: bool = False
    spread: bool = False
    """Whether a spread stands behind it, as behind a mean over several runs."""

    @property
    def digits(self) -> int:
        """How many digits stand behind the point."""
        return -int(self.value.as_tuple().exponent)

    @property
    def half(self) -> Decimal:
        """Half a unit of the last digit: how far rounding may have moved it."""
        return Decimal((0, (5,), int(self.value.as_tuple().exponent) - 1))


@dataclass(frozen=True)
class Published:
    """A table of text: header rows, of which the last names the columns, and rows that begin with a name."""

    headers: tuple[tuple[str, ...], ...]
    rows: tuple[tuple[str, ...], ...]


def number_in(text: str) -> PrintedNumber | None:
    """The number of a cell; None where it holds none.

    >>> from atkay.inputs.published import number_in
    >>> number_in("0.3796 ± 0.002*").value, number_in("37.96%").percent, number_in("n/a")
    (Decimal('0.3796'), True, None)
    """
    match = _NUMBER.fullmatch(text.strip().replace("−", "-"))
    if match is None:
        return None
    return PrintedNumber(text.strip(), Decimal(match["number"]), bool(match["percent"]), bool(match["spread"]))


def read_published(given: object) -> list[Published]:
    """The tables of a file or of a text that have numbers, their form told by what stands in it."""
    text = _text(given)
    if not text.strip():
        raise SourceError("check: the table is empty.")
    reads = (
        _latex if r"\begin{tabular" in text else _markdown if _is_markdown(text) else _latex if r"\\" in text else _csv
    )
    tables = [_table(rows) for rows in reads(text)]
    if published := [table for table in tables if isinstance(table, Published)]:
        return published
    what = next(iter(tables), NO_NUMBERS)
    raise SourceError(f"check: cannot read this as a table of metrics: {what}.")


def _table(rows: list[list[str]]) -> Published | str:
    """The table of these rows, or why they are none."""
    rows = [row for row in rows if any(row)]
    body = next((at for at, row in enumerate(rows) if any(map(_is_number, row[1:] or row))), len(rows))
    if body == len(rows):
        return NO_NUMBERS
    if not body:
        return "its first row holds numbers already, where names of metrics belong"
    width = max(map(len, rows))
    filled = [[*row, *[""] * (width - len(row))] for row in rows]
    for above, row in itertools.pairwise(filled[body:]):
        row[0] = row[0] or above[0]  # as below \multirow
    systems = (tuple(row) for row in filled[body:] if any(map(_is_number, row[1:] or row)))
    return Published(tuple(map(tuple, filled[:body])), tuple(systems))


def _is_number(cell: str) -> bool:
    return number_in(cell) is not None


def _text(given: object) -> str:
    if isinstance(given, str) and ("\n" in given or ("&" in given and r"\\" in given)):
        return given
    if not isinstance(given, str | os.PathLike):
        raise SourceError(
            f"check: pass the path of a table in CSV, Markdown or LaTeX, or its text, got {a_type(given)}."
        )
    path = Path(given)
    try:
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise SourceError(f"check: no such file: {shown(str(path))}.") from None
    except (OSError, UnicodeDecodeError) as error:
        raise SourceError(f"check: cannot read {shown(str(path))}: {error}.") from error


def _csv(text: str) -> list[list[list[str]]]:
    lines = [line for line in text.splitlines() if line.strip()]
    marks = {mark: min(line.count(mark) for line in lines) for mark in "\t;,"} if lines else {}
    mark = max(marks, key=lambda each: marks[each], default=",")
    rows = [[cell.strip() for cell in row] for row in csv.reader(io.StringIO(text), delimiter=mark)]
    if mark == ",":
        return [rows]
    return [[[re.sub(r"^([+-]?\d+),(\d+)", r"\1.\2", cell) for cell in row] for row in rows]]  # decimal commas


def _is_markdown(text: str) -> bool:
    return any(re.fullmatch(r"[\s|:-]*-[\s|:-]*", line) and "|" in line for line in text.splitlines())


def _markdown(text: str) -> list[list[list[str]]]:
    blocks = [block.splitlines() for block in re.findall(r"(?:^.*\|.*$\n?)+", text, re.MULTILINE)]
    return [
        [
            [_unmarked(cell) for cell in re.split(r"(?<!\\)\|", re.sub(r"^\s*\||\|\s*$", "", line))]
            for line in block
            if not re.fullmatch(r"[\s|:-]+", line)
        ]
        for block in blocks
    ]


def _unmarked(cell: str) -> str:
    """The text of a cell, without emphasis, links and tags."""
    cell = re.sub(r"<sup>.*?</sup>", "", cell)
    cell = re.sub(r"<[^<>]+>", "", re.sub(r"!?\[([^]]*)\]\([^)]*\)", r"\1", cell))
    cell = re.sub(r"(\*\*|__|`|~~)(.+?)\1", r"\2", cell.strip())
    cell = re.sub(r"^([*_])(.+)\1$", r"\2", cell)
    return html.unescape(cell.replace("\\", "")).strip()


def _latex(text: str) -> list[list[list[str]]]:
    text = re.sub(r"(?<!\\)%.*", "", text)
    for lines in (_LINES, _INNER):
        text = lines.sub(lambda cell: cell[1].replace(r"\\", " "), text)
    return [_latex_rows(body) for body in _TABULAR.findall(text) or [text]]


def _latex_rows(body: str) -> list[list[str]]:
    rows: list[list[str]] = []
    for line in re.split(r"\\\\(?:\s*\[[^]]*\])?|\\tabularnewline", _RULES.sub("", body)):
        row: list[str] = []
        for cell in re.split(r"(?<!\\)&", line):
            span = re.match(r"\s*\\multicolumn\{(\d+)\}\{[^{}]*\}\{(.*)\}\s*$", cell, re.DOTALL)
            row += [_unset(span[2])] * int(span[1]) if span else [_unset(cell)]
        rows.append(row)
    return rows


def _unset(cell: str) -> str:
    """The text of a cell, without commands."""
    cell = re.sub(r"\\multirow\{[^{}]*\}(?:\[[^]]*\])?\{[^{}]*\}", "", cell)
    cell = _RAISED.sub("", _COLOURS.sub("", cell))
    cell = re.sub(r"_\{([^{}]*)\}", r" \1", cell)
    for command, symbol in _SYMBOLS.items():
        cell = cell.replace(command, symbol)
    cell = re.sub(r"\\[a-zA-Z]+\*?", "", cell)
    return " ".join(re.sub(r"[{}\\]", "", cell).split())
