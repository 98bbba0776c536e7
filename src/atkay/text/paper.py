"""Paper: tables as they are published, with a caption, notes, and names and digits of choice."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from atkay.errors import SpecError, offer, shown
from atkay.text.grid import Grid, Tables, headed, html_of, markdown_of

NoteWord = Literal["legend", "all", "none"]
Notes = NoteWord | Sequence[str]
NOTES = {
    "legend": "what marks, bold and arrows mean",
    "all": "also what was counted and tested",
    "none": "nothing",
}
MOST_DIGITS = 15


@dataclass(frozen=True)
class Look:
    """How a table prints numbers and names."""

    digits: int | None = None
    hundredfold: frozenset[str] = frozenset()
    """The metrics that are printed in percent."""
    names: Mapping[str, str] = field(default_factory=dict)
    """What to print in place of the names of runs and metrics."""

    def name(self, name: str) -> str:
        """A run or a metric, as it is printed."""
        return self.names.get(name, name)

    def headed(self, metric: str, better: str) -> str:
        """A metric in a header, with its unit and an arrow towards better values."""
        return headed(self.name(metric) + (" (%)" if metric in self.hundredfold else ""), better)

    def scale(self, metric: str) -> int:
        """What values are multiplied by."""
        return 100 if metric in self.hundredfold else 1

    def decimals(self, metric: str) -> int:
        """The number of decimals."""
        return (2 if metric in self.hundredfold else 4) if self.digits is None else self.digits


PLAIN = Look()


class Legend(list[str]):
    """What the marks of the table before it mean."""


class Remarks(list[str]):
    """What was counted and tested."""


class Exported(Tables):
    """Tables that a paper or a page takes: in LaTeX, Markdown and HTML, with the same arguments."""

    def _parts(self, *, bold: bool, look: Look = PLAIN) -> Sequence[Grid | Sequence[str]]:
        raise NotImplementedError

    def _latex_parts(self, look: Look) -> Sequence[Grid | Sequence[str]]:
        """The parts that LaTeX has."""
        return self._parts(bold=True, look=look)

    def _nameable(self) -> tuple[Mapping[str, str], Mapping[str, tuple[str, bool]]]:
        """Runs and a dialect's names, as they are called here; metrics, by any name, and whether each is bounded."""
        raise NotImplementedError

    def _look(self, digits: int | None, percent: bool, names: Mapping[str, str] | None) -> Look:
        known, metrics = self._nameable()
        called = {}
        if digits is not None and not (type(digits) is int and 0 <= digits <= MOST_DIGITS):
            raise SpecError(f"digits must be an integer from 0 to {MOST_DIGITS}, got {shown(digits)}.")
        if names is not None and not isinstance(names, Mapping):
            raise SpecError(f"names must be {{name: printed name}}, got {shown(names)}.")
        for name, printed in (names or {}).items():
            if str(name) not in known and str(name) not in metrics:
                raise SpecError(f"names: no run or metric '{name}'. {offer(str(name), [*metrics, *known])}")
            if not isinstance(printed, str):
                raise SpecError(f"names: the printed name of '{name}' must be a text, got {shown(printed)}.")
            called[known[str(name)] if str(name) in known else metrics[str(name)][0]] = printed
        hundredfold = frozenset(name for name, bounded in metrics.values() if bounded) if percent else frozenset()
        return Look(digits, hundredfold, called)

    def to_latex(
        self,
        *,
        caption: str | None = None,
        label: str | None = None,
        digits: int | None = None,
        percent: bool = False,
        names: Mapping[str, str] | None = None,
        notes: Notes = "legend",
    ) -> str:
        r"""The table in LaTeX, for the packages booktabs and, with notes, threeparttable.

        Parameters
        ----------
        caption
            The caption; with a caption or a label the table is a float.
        label
            What ``\ref`` refers to.
        digits
            The number of decimals of means: by default 4, or 2 in percent. Verdicts have as many as they take.
        percent
            Print metrics that are never above 1 times 100.
        names
            What to print in place of the names of runs and metrics: ``{"ndcg@10": "nDCG"}``.
        notes
            "legend": what marks, bold and arrows mean, "all": also what was counted and tested, "none", or a list of
            texts that follow the legend.
        """
        blocks: list[tuple[Grid, list[str]]] = []
        for part in _chosen(self._latex_parts(self._look(digits, percent, names)), notes):
            if isinstance(part, Grid):
                blocks.append((part, []))
            else:
                blocks[-1][1].extend(part)
        head = [(caption, _label(label)), *[(None, None)] * len(blocks)]
        return "\n\n".join(
            grid.latex(caption=title, label=name, notes=lines)
            for (grid, lines), (title, name) in zip(blocks, head, strict=False)
        )

    def to_markdown(
        self,
        *,
        caption: str | None = None,
        label: str | None = None,
        digits: int | None = None,
        percent: bool = False,
        names: Mapping[str, str] | None = None,
        notes: Notes = "all",
    ) -> str:
        """All tables and notes in Markdown, with the arguments of ``to_latex``; ``label`` is an anchor."""
        parts = self._parts(bold=True, look=self._look(digits, percent, names))
        return markdown_of(_chosen(parts, notes), caption, _label(label))

    def to_html(
        self,
        *,
        caption: str | None = None,
        label: str | None = None,
        digits: int | None = None,
        percent: bool = False,
        names: Mapping[str, str] | None = None,
        notes: Notes = "all",
    ) -> str:
        """All tables and notes in HTML, with the arguments of ``to_latex``; ``label`` is the id of the first table."""
        parts = self._parts(bold=True, look=self._look(digits, percent, names))
        return html_of(_chosen(parts, notes), caption, _label(label))


def _chosen(parts: Sequence[Grid | Sequence[str]], notes: Any) -> list[Grid | Sequence[str]]:
    """The parts that ``notes`` asks for."""
    if isinstance(notes, str) and notes in NOTES:
        left_out: tuple[type, ...] = {"legend": (Remarks,), "all": (), "none": (Remarks, Legend)}[notes]
        return [part for part in parts if not isinstance(part, left_out)]
    if isinstance(notes, str) or not (isinstance(notes, Sequence) and all(isinstance(one, str) for one in notes)):
        words = ", ".join(map(repr, NOTES))
        raise SpecError(f"notes must be one of {words}, or a list of texts, got {shown(notes)}.")
    return [*_chosen(parts, "legend"), Remarks(notes)]


def _label(label: str | None) -> str | None:
    """A label that LaTeX and HTML take as it is."""
    if label is not None and not (isinstance(label, str) and re.fullmatch(r"[\w:.+/-]+", label, re.ASCII)):
        raise SpecError(f"label must consist of letters, digits and : . + / _ -, got {shown(label)}.")
    return label
