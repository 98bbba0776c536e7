"""What every adapter needs: the data sets in the forms that libraries ask for, and a way to say what to ask.

Read with each library's own interpreter: only the standard library is imported here.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

CUTOFFS = (1, 3, 5, 10)


@dataclass(frozen=True)
class Data:
    """One data set, with the rows as they stand in the files and in the forms that libraries ask for."""

    name: str
    recs: list[tuple[str, str, float]]
    truth: list[tuple[str, str, int]]
    subtopics: list[str]
    """The subtopic of each row of the truth; empty where rows have none."""

    @cached_property
    def ranked(self) -> list[tuple[str, str, float]]:
        """Rows of recs by user in order of appearance, then by descending score; equal scores stay in file order."""
        users = {user: place for place, user in enumerate(dict.fromkeys(user for user, _, _ in self.recs))}
        return sorted(self.recs, key=lambda row: (users[row[0]], -row[2]))

    @cached_property
    def lists(self) -> dict[str, list[str]]:
        """{user: items from the best on}; an item that stands twice is there twice."""
        return {user: [item for item, _ in row] for user, row in grouped(self.ranked).items()}

    @cached_property
    def run(self) -> dict[str, dict[str, float]]:
        """{user: {item: score}} in file order; of an item that stands twice a dict keeps the last score."""
        return {user: dict(row) for user, row in grouped(self.recs).items()}

    @cached_property
    def grades(self) -> dict[str, dict[str, int]]:
        """{user: {item: relevance}} in file order."""
        return {user: dict(row) for user, row in grouped(self.truth).items()}

    @cached_property
    def positive(self) -> list[tuple[str, str, int]]:
        """Rows of truth with a relevance above 0."""
        return [row for row in self.truth if row[2] > 0]

    def interactions(self) -> Iterable[tuple[list[tuple[str, str, int]], dict[str, str]]]:
        """Truth for a library to which every row of it is relevant, with the option that says which rows these are:
        those above 0; and where there are others, a second time all rows.
        """
        yield self.positive, {"truth": "relevance > 0"}
        if len(self.positive) < len(self.truth):
            yield self.truth, {"truth": "every row"}

    @cached_property
    def users(self) -> dict[str, int]:
        """Numbers for users, for libraries that need them; their order is the order of the text."""
        return {user: code for code, user in enumerate(sorted({row[0] for row in (*self.recs, *self.truth)}))}

    @cached_property
    def items(self) -> dict[str, int]:
        """Numbers for items, in the same way."""
        return {item: code for code, item in enumerate(sorted({row[1] for row in (*self.recs, *self.truth)}))}

    def coded(self, rows: Iterable[tuple[str, str, Any]]) -> list[tuple[int, int, Any]]:
        return [(self.users[user], self.items[item], value) for user, item, value in rows]

    def named(self, values: Mapping[int, Any]) -> dict[str, Any]:
        """{code: value} with the users' names again."""
        names = {code: user for user, code in self.users.items()}
        return {names[int(code)]: value for code, value in values.items()}


def grouped(rows: Iterable[tuple[str, str, Any]]) -> dict[str, list[tuple[str, Any]]]:
    found: dict[str, list[tuple[str, Any]]] = {}
    for user, item, value in rows:
        found.setdefault(user, []).append((item, value))
    return found


def read(folder: Path) -> Data:
    def rows(name: str) -> list[list[str]]:
        with (folder / f"{name}.csv").open(newline="") as file:
            return list(csv.reader(file))[1:]

    def valued(name: str, kind: Callable[[str], Any]) -> list[tuple[str, str, Any]]:
        return [(user, item, kind(value)) for user, item, value, *_ in rows(name)]

    return Data(folder.name, valued("recs", float), valued("truth", int), [row[3] for row in rows("truth") if row[3:]])


@dataclass(frozen=True)
class Entry:
    """One number to ask for: `call` gives it, `each` gives {user: number} where the library has them."""

    metric: str
    call: str
    k: int | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    each: str = ""
    scope: Mapping[str, Any] = field(default_factory=dict)  # names that only this call uses
