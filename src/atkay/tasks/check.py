"""Check: leaks between training data, truth and lists."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from atkay.errors import IdError, NumberError, listing
from atkay.inputs.coding.shared import nothing_shared
from atkay.inputs.coding.types import same_types
from atkay.inputs.read import read_recs
from atkay.inputs.table import Table
from atkay.text.grid import Grid
from atkay.text.help import Visible

if TYPE_CHECKING:
    from atkay.inputs.columns import Columns
    from atkay.tasks.task import Task

EXAMPLES_KEPT = 3
"""Examples kept of each finding."""


@dataclass(frozen=True)
class Finding:
    """One check: how often it was found, among how many rows, and examples."""

    what: str
    kind: str
    """``leak``: a model could know what it should not. ``unknown``: no model could have learned it."""
    count: int
    of: int
    examples: tuple[tuple[Any, ...], ...] = ()


@dataclass(frozen=True)
class Check(Visible):
    """The findings; true if leaks could be checked and none was found."""

    findings: tuple[Finding, ...]
    skipped: tuple[str, ...] = ()
    """What could not be checked, and why."""

    @property
    def leaks(self) -> tuple[Finding, ...]:
        """The leaks that were found."""
        return tuple(each for each in self.findings if each.kind == "leak" and each.count)

    def __bool__(self) -> bool:
        return self._looked and not self.leaks

    @property
    def _looked(self) -> bool:
        return any(each.kind == "leak" for each in self.findings)

    def __getitem__(self, what: str) -> Finding:
        """The finding of that name."""
        findings = {each.what: each for each in self.findings}
        if what not in findings:
            raise NumberError(f"check: '{what}' was not checked; checked were {listing(findings)}.")
        return findings[what]

    def __repr__(self) -> str:
        if not self.findings:
            return "\n".join([*self.skipped, self._verdict])
        rows = [
            (
                each.what,
                each.kind,
                f"{each.count:,}",
                f"{each.of:,}",
                "; ".join(", ".join(map(str, ids)) for ids in each.examples),
            )
            for each in self.findings
        ]
        grid = Grid(("check", "kind", "found", "of", "for example"), rows, right=("found", "of")).text()
        return "\n".join([grid, "", *self.skipped, self._verdict])

    @property
    def _verdict(self) -> str:
        if self.leaks:
            return f"leaks found: {', '.join(each.what for each in self.leaks)}"
        if not self._looked:
            return "no leak could be checked"
        return "no leak found" + (" in what could be checked" if self.skipped else "")


def check(task: Task, recs: Any, columns: Columns | None) -> Check:
    """All findings of a task, and of lists where they are given."""
    findings, skipped = [], []
    if len(task.train):
        findings.append(_overlap(task))
        if task.time is None:
            skipped.append("the log has no times, so before and after cannot be checked")
        else:
            findings.insert(0, _late(task, task.time))
        findings.append(_unknown(task, "truth items not in training", task.item))
        if task.owner != task.session:
            findings.append(_unknown(task, "truth users not in training", task.owner))
    else:
        skipped.append("no training data")
    if recs is not None and columns is not None:
        findings += _listings(task, _listed(task, recs, columns))
    return Check(tuple(findings), tuple(skipped))


def _finding(what: str, kind: str, rows: pl.DataFrame, of: int) -> Finding:
    return Finding(what, kind, len(rows), of, tuple(rows.head(EXAMPLES_KEPT).rows()))


def _late(task: Task, time: str) -> Finding:
    """Training events after the test's first one."""
    first = pl.lit(task.truth.select(pl.col(time).min())[time]).first()  # as Python has it, nanoseconds would be cut
    after = pl.col(time) > first if task.start is None else pl.col(time) >= task.start
    late = task.train.filter(after)
    return _finding("training events after the test starts", "leak", late, len(task.train))


def _overlap(task: Task) -> Finding:
    """Events in both training and test."""
    truth = task.truth.select(task.event).unique(maintain_order=True)
    both = truth.join(task.train.select(task.event), on=task.event, how="semi", maintain_order="left")
    event = f"({', '.join(task.event)})" if len(task.event) > 1 else task.event[0]
    return _finding(f"{event} in both parts", "leak", both, len(truth))


def _unknown(task: Task, what: str, column: str) -> Finding:
    truth = task.truth.select(column).unique(maintain_order=True)
    unknown = truth.join(task.train.select(column), on=column, how="anti", maintain_order="left")
    return _finding(what, "unknown", unknown, len(truth))


def _listed(task: Task, recs: Any, columns: Columns) -> pl.DataFrame:
    """The keys and items of the lists, with the types that the truth has."""
    names = (*task.key, task.item)
    ids = tuple(task.truth[name] for name in names)
    given, truth = same_types(read_recs(recs, columns), Table("truth", "", task.key, ids, {}))
    listed = pl.DataFrame(
        [own.cast(like.dtype).alias(name) for name, own, like in zip(names, given.ids, ids, strict=True)]
    )
    if listed.join(task.truth, on=task.key, how="semi").is_empty():
        raise IdError(nothing_shared(given, truth, "user"))
    return listed


def _listings(task: Task, every: pl.DataFrame) -> list[Finding]:
    """Listed items that never occur, or not before the query; and lists without a query."""
    no_query = every.join(task.truth, on=task.key, how="anti", maintain_order="left")
    of_queries = _of_queries(task, every.join(task.truth, on=task.key, how="semi", maintain_order="left"))
    return [*of_queries, _finding("listed items of queries without truth", "unknown", no_query, len(every))]


def _of_queries(task: Task, listed: pl.DataFrame) -> list[Finding]:
    parts = [part for part in (task.train, task.past, task.truth) if part is not None]
    if task.time is None:
        known = pl.concat([part.select(task.item) for part in parts]).unique()
        never = listed.join(known, on=task.item, how="anti", maintain_order="left")
        return [_finding("listed items not in the log", "unknown", never, len(listed))]
    born = pl.concat([part.select(task.item, task.time) for part in parts])
    born = born.group_by(task.item).agg(pl.col(task.time).min().alias(_BORN))
    first = task.truth.group_by(task.key).agg(pl.col(task.time).min().alias(_ASKED))
    both = listed.join(born, on=task.item, how="left", maintain_order="left")
    both = both.join(first, on=task.key, how="left", maintain_order="left")
    later = pl.col(_BORN) > pl.col(_ASKED) if task.start is None else pl.col(_BORN) >= task.start
    early = both.filter(later).select(listed.columns)
    never = both.filter(pl.col(_BORN).is_null()).select(listed.columns)
    return [
        _finding("listed items from the future", "leak", early, len(listed)),
        _finding("listed items not in the log", "unknown", never, len(listed)),
    ]


_BORN, _ASKED = "first event of the item", "first event of the truth"
