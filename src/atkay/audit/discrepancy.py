"""Discrepancy: two numbers and the conventions between them, as a record that prints."""

from __future__ import annotations

import html
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from atkay.metrics.worked import printed
from atkay.results.sample_users import Place
from atkay.text.grid import Grid, Tabular
from atkay.text.printable import one_line, printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import polars as pl

SAME = 1e-12
"""What differs by less is the same but for rounding."""


class Change(NamedTuple):
    """A convention that takes another word: what the new word stands for, and both sides in plain English."""

    name: str
    before: Any
    after: Any
    word: str
    meaning_before: str
    meaning_after: str

    def __str__(self) -> str:
        return f"{self.name}: {word_of(self.before)} → {word_of(self.after)}"


class Worked(NamedTuple):
    """A user's value under one set of conventions: the first places of the list, the length of all of it, and how the
    value follows; NaN where the user does not count.
    """

    places: tuple[Place, ...]
    length: int
    value: float
    arithmetic: str

    @property
    def list(self) -> str:
        """The list in a line."""
        return _some([str(place) for place in self.places], self.length)


@dataclass(frozen=True)
class Example:
    """A user in full: the truth (items and grades, the best first), and list and arithmetic before and after a step.

    ``share`` is the user's part of the step's change; the shares of all users add up to it.
    """

    user: str
    truth: tuple[tuple[Any, float], ...]
    n_truth: int
    before: Worked
    after: Worked
    share: float

    def lines(self) -> list[tuple[str, str]]:
        """What is shown of the user: a word, and what it says."""
        graded = any(grade != 1 for _, grade in self.truth)
        truth = [one_line(str(item)) + (f" ({grade:g})" if graded else "") for item, grade in self.truth]
        lists = [("list", self.before.list)]
        if self.before.list != self.after.list:
            lists = [("list before", self.before.list), ("list after", self.after.list)]
        return [
            ("truth", _some(truth, self.n_truth)),
            *lists,
            ("before", self.before.arithmetic),
            ("after", self.after.arithmetic),
        ]


@dataclass(frozen=True)
class Step:
    """One convention, or several that only go together, and what taking them over does.

    ``changed`` users have another value, ``entered`` and ``left`` count the users who came into the mean or went out
    of it. ``example`` is the user who moves the number most, None where the step has no effect.
    """

    changes: tuple[Change, ...]
    before: float
    after: float
    changed: int
    entered: int
    left: int
    example: Example | None

    @property
    def change(self) -> float:
        """What the step adds."""
        return self.after - self.before

    @property
    def names(self) -> str:
        """The conventions and their words."""
        return ", ".join(map(str, self.changes))

    def sentence(self) -> str:
        """The effect in words."""
        words = " with ".join(f"{each.name}={word_of(each.after)} ({each.word})" for each in self.changes)
        if self.example is None:
            return f"{words} has no effect here"
        if abs(self.change) < SAME:
            return f"{words} changes users but not the mean"
        return f"{words} {'adds' if self.change > 0 else 'subtracts'} {_size(abs(self.change))}"

    def users(self) -> str:
        """How many users it touches."""
        counts = {"changed": self.changed, "entered": self.entered, "left": self.left}
        return ", ".join(f"{count:,} {what}" for what, count in counts.items() if count) or "only weights change"

    def lines(self) -> list[tuple[str, str]]:
        """The step in full: a word, and what it says."""
        meanings = [(each.meaning_before, each.meaning_after) for each in self.changes]
        lines = [line for before, after in dict.fromkeys(meanings) for line in (("from", before), ("to", after))]
        lines.append(("users", self.users()))
        if self.example is not None:
            share = f"{_size(self.example.share, '+')} of {_size(self.change, '+')}"
            lines += [("most changed", f"{self.example.user}, {share}"), *self.example.lines()]
        return lines


@dataclass(frozen=True, repr=False)
class Discrepancy(Tabular):
    """The way from our number to theirs, a step for each convention in which the two differ.

    A step starts with the value at which the one before ended: from ``ours`` to ``theirs`` nothing is left over.
    """

    spec: str
    ours: float
    theirs: float
    steps: tuple[Step, ...]
    our_name: str
    their_name: str

    def __iter__(self) -> Iterator[Step]:
        return iter(self.steps)

    def __len__(self) -> int:
        return len(self.steps)

    @property
    def moving(self) -> tuple[Step, ...]:
        """The steps that have an effect."""
        return tuple(step for step in self.steps if step.example is not None)

    @property
    def summary(self) -> str:
        """The difference in a sentence."""
        why = "; ".join(step.sentence() for step in self.moving)
        if not self.steps:
            why = "their conventions are the same"
        values = f"{self._value(self.ours)} {self.our_name} and {self._value(self.theirs)} {self.their_name}"
        return printable(f"{self.spec} is {values}: {why or 'no convention has an effect on this data'}.")

    def _value(self, value: float) -> str:
        """With enough digits to show the difference."""
        apart = abs(self.theirs - self.ours)
        return f"{value:.{max(4, min(12, 1 - math.floor(math.log10(apart)))) if apart > SAME else 4}f}"

    def to_polars(self) -> pl.DataFrame:
        """A row per step: its words, the values, how many users it touches, and who moves most."""
        import polars as pl

        rows = [
            (step.names, step.before, step.after, step.change, step.changed, step.entered, step.left,
             None if step.example is None else step.example.user)
            for step in self.steps
        ]  # fmt: skip
        schema = {
            "step": pl.String,
            "before": pl.Float64,
            "after": pl.Float64,
            "change": pl.Float64,
            **dict.fromkeys(("changed", "entered", "left"), pl.Int64),
            "most_moved": pl.String,
        }
        return pl.DataFrame(rows, schema=schema, orient="row")

    def to_markdown(self) -> str:
        """The summary, the table of steps, and each step that has an effect in full, in Markdown."""
        details = [f"**{title}**\n\n```text\n{text}\n```" for title, text in self._details()]
        return "\n\n".join([self.summary, self._grid().markdown(), *details])

    def __repr__(self) -> str:
        details = [f"{title}\n{text}" for title, text in self._details()]
        return "\n\n".join([self.summary, self._grid().text(), *details])

    def _repr_html_(self) -> str:
        details = [
            f"<p><b>{html.escape(title)}</b></p>\n<pre>{html.escape(text)}</pre>" for title, text in self._details()
        ]
        return "\n".join([f"<p>{html.escape(self.summary)}</p>", self._grid().html(), *details])

    def _grid(self) -> Grid:
        header = ("step", "value", "change", "users changed", "entered", "left")
        rows: list[Sequence[str]] = [("ours", self._value(self.ours), "", "", "", "")]
        rows += [
            (
                step.names,
                self._value(step.after),
                "no effect" if step.example is None else _size(step.change, "+"),
                *("" if step.example is None else f"{count:,}" for count in (step.changed, step.entered, step.left)),
            )
            for step in self.steps
        ]
        return Grid(header, rows, right=header[1:])

    def _details(self) -> list[tuple[str, str]]:
        """Of each step that has an effect a title and its lines."""
        details = []
        for step in self.moving:
            lines = step.lines()
            width = max(len(word) for word, _ in lines)
            text = "\n".join(f"{word.ljust(width)}  {printable(line)}" for word, line in lines)
            title = f"{step.names}: {self._value(step.before)} → {self._value(step.after)}"
            details.append((printable(title), text))
        return details


def word_of(value: Any) -> str:
    """A convention's word, short also where it is a table."""
    if value is None:
        return "none"
    return printed(value) if isinstance(value, str | float | int) else "given"


def _size(value: float, sign: str = "") -> str:
    """A change: to four places, or to two digits where it is smaller."""
    return f"{value:{sign}.4f}" if abs(value) >= 1e-4 or value == 0 else f"{value:{sign}.1e}"


def _some(shown: Sequence[str], count: int) -> str:
    """The items shown, and how many are not."""
    more = count - len(shown)
    return ", ".join([*shown, *([f"{more:,} more"] if more else [])]) or "none"
