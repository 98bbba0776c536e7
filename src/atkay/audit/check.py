"""Check: which numbers of a published table cannot be, whatever the data were?"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, get_args

import numpy as np

from atkay.audit.attainable import MetricColumn, Relevant, laws, range_of, ranks, steps
from atkay.audit.layout import apart, column_of, upright
from atkay.audit.table_check import Flag, TableCheck
from atkay.core.types import is_integer
from atkay.errors import InputError, SpecError, an_integer, number_of, offer, shown, unknown_value
from atkay.inputs.published import PrintedNumber, Published, number_in, read_published
from atkay.text.phrases import argument

if TYPE_CHECKING:
    from atkay.core.types import Floats

FLOAT32 = 1e-7
"""What a mean may be off by where it was added up in single precision, relative to itself."""
CLEARLY_PERCENT = 2
"""Above this, a number is a percentage even among fractions; closer to 1, one that cannot be."""
RELATIVE = re.compile(
    r"\b(imp|impr|improv\w*|gains?|lift|diff|delta|p[- ]?values?|std|sd)\b|[Δ∆]|^@?(k|n|top-?[kn]|cutoff)$", re.I
)
"""Names of rows that hold no metrics, but what follows from other rows, or cutoffs."""


def check(
    table: Any,
    *,
    users: int | Mapping[str, int] | None = None,
    relevant: Relevant = "many",
    k: int | None = None,
    items: int | None = None,
    averaged: int = 1,
    dialect: str | None = None,
    recs: Mapping[str, Any] | None = None,
    truth: Any = None,
) -> TableCheck:
    r"""Check a published table: which of its numbers could no data give?

    Every flag has a proof. A mean over n users of hits is a multiple of 1/n, of precision at k a multiple of 1/(k n),
    within the rounding of the printed digits. Metrics of the same lists bound each other, and with one relevant item
    for each user all of them follow from its rank.

    Parameters
    ----------
    table
        The path of a CSV, Markdown or LaTeX file, or its text: a row for each system, a column for each metric, or
        the other way round. Columns under a common header, such as several data sets, are checked apart.
    users
        The number of users that the means are of; of each data set where the table has several: ``{header: users}``.
    relevant
        "one" if every user has one relevant item, as with leave-one-out; "many" otherwise.
    k
        The cutoff of columns that do not name one.
    items
        The number of items in the catalogue, for coverage.
    averaged
        The number of runs that each number is the mean of, such as random seeds.
    dialect
        The library whose conventions and names the table has, as for ``evaluate``.
    recs
        ``{row: lists}``: the lists behind some of the rows. Then each of their numbers also says which conventions
        give it.
    truth
        The relevant items, with ``recs``.

    Examples
    --------
    Of 943 users, 470 or 471 can have a hit: 470/943 = 0.49841 and 471/943 = 0.49947, and neither is printed as 0.4985.

    >>> table = "model,hit@10,mrr@10\nknn,0.4984,0.21\nmf,0.4985,0.31\n"
    >>> print(atkay.check(table, users=943).flags[0])
    mf: hit@10 = 0.4985: with 943 users it is a multiple of 1/943; the nearest are 0.49841 and 0.49947
    """
    counts = [("users", each) for each in (users.values() if isinstance(users, Mapping) else (users,))]
    for name, number in (*counts, ("k", k), ("items", items), ("averaged", averaged)):
        if number is not None and not is_integer(number, 1):
            raise SpecError(f"check: {name} must be {an_integer(1)}, got {shown(number)}.")
    if relevant not in get_args(Relevant):
        raise SpecError(f"check: {unknown_value(relevant, 'relevant', get_args(Relevant))}")
    if (recs is None) != (truth is None):
        raise InputError(f"check: pass recs and truth together: {argument('recs')} is {{row: lists}}.")
    published = upright(read_published(table), k, dialect)
    return _Checking(published, users, relevant, k, items, averaged, dialect).run(recs, truth)


@dataclass(frozen=True)
class _Checking:
    """One check of one table."""

    published: Published
    users: int | Mapping[str, int] | None
    relevant: Relevant
    k: int | None
    items: int | None
    averaged: int
    dialect: str | None

    @cached_property
    def header(self) -> tuple[str, ...]:
        """Names of columns, with those above them; each of its own."""
        first, *others = zip(*self.published.headers, strict=True)
        return tuple(apart([first[-1], *(" ".join(filter(None, names)) for names in others)]))

    @cached_property
    def columns(self) -> dict[int, MetricColumn]:
        """The metric of each column that has one."""
        headers = enumerate(self.published.headers[-1])
        return {at: column for at, name in headers if at and (column := column_of(name, self.k, self.dialect))}

    @cached_property
    def groups(self) -> list[tuple[str, list[int]]]:
        """The columns under each common header, such as the name of a data set; no metric twice."""
        groups: list[tuple[str, list[int]]] = []
        for at, column in self.columns.items():
            name = " ".join(filter(None, (row[at] for row in self.published.headers[:-1])))
            of_name = (places for group, places in groups if group == name)
            places = next((places for places in of_name if column not in map(self.columns.get, places)), None)
            if places is None:
                groups.append((name, [at]))
            else:
                places.append(at)
        return groups

    def users_of(self, group: str, row: str) -> int | None:
        if not isinstance(self.users, Mapping):
            return self.users
        for name in (group, row, *row.split(", ")):
            if name in self.users:
                return self.users[name]
        what = f"'{group}'" if group else f"data set of row '{row}'"
        raise InputError(f"check: users has no {what}. {offer(group or row, self.users)}")

    @cached_property
    def in_percent(self) -> set[int]:
        """The columns of percentages: a percent sign stands in the header or behind most numbers, or most are above 1.

        So are columns of the same data set that are below 1, but have no more digits.
        """
        marked = {at for at in self.columns if "%" in self.published.headers[-1][at]}
        percent = set(marked)
        for _, places in self.groups:
            numbers = {
                at: [number for row in self._rows if (number := number_in(row[at]))]
                for at in places
                if self.columns[at].metric.bounded
            }
            every = [number for of in numbers.values() for number in of]
            high = 1 if _mostly_above(1, every) else CLEARLY_PERCENT
            large = {at for at, of in numbers.items() if _mostly_above(high, of) or _low_percentages(of)}
            digits = max((number.digits for at in large for number in numbers[at]), default=0)
            if large and not marked.intersection(places):
                large |= {at for at, of in numbers.items() if all(number.digits <= digits for number in of)}
            percent |= large
        return percent

    @cached_property
    def _rows(self) -> list[tuple[str, ...]]:
        """The rows of systems, without improvements and p-values."""
        return [row for row in self.published.rows if not RELATIVE.search(row[0])]

    def _numbers(self, row: Sequence[str], places: Iterable[int]) -> dict[int, PrintedNumber]:
        """The values of metrics in a row: no differences with a sign, and no percentages among fractions."""
        numbers = {at: number for at in places if (number := number_in(row[at]))}
        return {
            at: number
            for at, number in numbers.items()
            if not row[at].startswith("+") and (at in self.in_percent or not number.percent)
        }

    def run(self, recs: Mapping[str, Any] | None, truth: Any) -> TableCheck:
        flags = [flag for row in self._rows for group, places in self.groups for flag in self._row(row, group, places)]
        checked = sum(len(self._numbers(row, self.columns)) for row in self._rows)
        header = self.header
        return TableCheck(
            header=header,
            rows=self.published.rows,
            flags=tuple(flags),
            checked=checked,
            specs={header[at]: str(column.metric) for at, column in self.columns.items()},
            notes=tuple(self._remarks()),
            conventions=self._conventions(recs or {}, truth),
        )

    def _remarks(self) -> list[str]:
        rows = self.published.rows
        left = [
            name
            for at, name in enumerate(self.header)
            if at and at not in self.columns and any(number_in(row[at]) for row in rows)
        ]
        numbers = {row[0]: self._numbers(row, self.columns) for row in self._rows}
        relative = [
            row[0]
            for row in rows
            if len(numbers.get(row[0], ())) < sum(number_in(row[at]) is not None for at in self.columns)
        ]
        notes = [f"read as: {', '.join(f'{self.header[at]} = {column.metric}' for at, column in self.columns.items())}"]
        if self.in_percent:
            notes.append(f"read as percentages: {', '.join(self.header[at] for at in sorted(self.in_percent))}")
        if left:
            notes.append(f"not checked, no metric of accuracy: {', '.join(left)}")
        if relative:
            notes.append(f"not checked, no values of metrics: {', '.join(relative)}")
        if self.users is None:
            notes.append(f"pass {argument('users')} to check as well whether that many users can have these means")
        elif self.averaged == 1 and any(number.spread for row in numbers.values() for number in row.values()):
            notes.append(
                f"numbers with ± may be means over several runs: pass {argument('averaged')} to check as well whether "
                "that many users can have these means"
            )
        return notes

    def _row(self, row: Sequence[str], group: str, places: Sequence[int]) -> list[Flag]:
        """What is wrong with the numbers of one row and one data set."""
        numbers = self._numbers(row, places)
        ends = {at: self._ends(at, number) for at, number in numbers.items()}

        def flag(columns: Sequence[int], proof: str) -> Flag:
            return Flag(row[0], tuple(self.header[at] for at in columns), tuple(row[at] for at in columns), proof)

        users = self.users_of(group, row[0]) if numbers else None
        flags = [
            flag([at], proof)
            for at, number in numbers.items()
            if (self.averaged > 1 or not number.spread) and (proof := self._counted(at, ends[at], users))
        ]
        at_places = list(numbers)
        columns = tuple(self.columns[at] for at in at_places)
        low, high = (np.array([ends[at][side] for at in at_places]) for side in (0, 1))
        impossible: set[int] = set()
        for law in laws(columns, self.relevant) if columns else ():
            least = sum(factor * (low[at] if factor > 0 else high[at]) for at, factor in law.terms)
            if least > law.most + 1e-12 and not (
                len(law.terms) > 1 and impossible.intersection(at for at, _ in law.terms)
            ):
                flags.append(flag([at_places[at] for at, _ in law.terms], law.reason))
                impossible |= {at for at, _ in law.terms}
        return (
            flags
            if impossible
            else flags + [flag([at_places[at] for at in of], proof) for of, proof in self._ranked(columns, low, high)]
        )

    def _ends(self, at: int, number: PrintedNumber) -> tuple[float, float]:
        """The lowest and the highest value that is printed like this."""
        scale = 100 if at in self.in_percent else 1
        low, high = (float((number.value + sign * number.half) / scale) for sign in (-1, 1))
        return low - abs(low) * FLOAT32, high + abs(high) * FLOAT32

    def _counted(self, at: int, ends: tuple[float, float], users: int | None) -> str:
        """Why a number is no multiple of what it is made of; empty where it is one."""
        column = self.columns[at]
        of_items = column.metric.name == "coverage"
        step = steps(column, self.relevant, self.items)
        if step is None or (users is None and not of_items):
            return ""
        parts = step * self.averaged * (1 if of_items else users or 1)
        low, high = (Fraction(end) * parts for end in ends)
        below = math.floor(high)
        if below >= low:
            return ""
        scale, digits = (100, 2) if at in self.in_percent else (1, 0)
        digits = max(len(str(parts.numerator)), 4) + 1 - digits
        near = [f"{scale * float(count / parts):.{digits}f}" for count in (below, below + 1)]
        what = f"{number_of(self.items or 0, 'item')}" if of_items else f"{number_of(users or 0, 'user')}"
        what += f" and {self.averaged} runs" if self.averaged > 1 else ""
        whole = f"{parts.numerator:,}" if parts.denominator == 1 else f"{float(parts):,g}"
        return f"with {what} it is a multiple of 1/{whole}; the nearest are {near[0]} and {near[1]}"

    def _ranked(self, columns: tuple[MetricColumn, ...], low: Floats, high: Floats) -> list[tuple[list[int], str]]:
        """Whether the numbers come from one distribution over the ranks of the relevant item."""
        places, values = ranks(columns, self.relevant)
        if len(places) < 2 or not len(values):
            return []
        low, high = low[places], high[places]
        if _possible(values, low, high):
            return []
        for at in range(len(places)):  # the one that the others exclude
            span = range_of(at, low, high, values)
            if span is not None and (span[0] > high[at] or span[1] < low[at]):
                others = [place for place in range(len(places)) if place != at]
                needed = _fewest(at, others, low, high, values)
                span = range_of(0, low[[at, *needed]], high[[at, *needed]], values[:, [at, *needed]]) or span
                metrics = ", ".join(str(columns[places[other]].metric) for other in needed)
                proof = (
                    f"given {metrics}, {columns[places[at]].metric} is between {span[0]:.4f} and {span[1]:.4f}, "
                    "whatever the ranks of the relevant items are"
                )
                return [([places[at], *(places[other] for other in needed)], proof)]
        return [(list(places), "no distribution over ranks gives all of them")]

    def _conventions(self, recs: Mapping[str, Any], truth: Any) -> dict[tuple[str, str], tuple[str, ...]]:
        """Which conventions give each number of the rows whose lists are there."""
        from atkay.audit.reconcile import reconcile

        names = [row[0] for row in self.published.rows]
        for name in recs:
            if name not in names:
                raise InputError(f"check: the table has no row '{name}'. {offer(name, names)}")
        explanations: dict[tuple[str, str], tuple[str, ...]] = {}
        for row in self.published.rows:
            for at, number in self._numbers(row, self.columns).items() if row[0] in recs else ():
                column = self.columns[at]
                if not column.of_hits:
                    continue
                text = f"{number.value}%" if at in self.in_percent else str(number.value)
                explained = reconcile(recs[row[0]], truth, {str(column.metric): text})
                cheapest = [each for each in explained if each.cost == explained.explanations[0].cost]
                explanations[row[0], self.header[at]] = tuple(str(each) for each in cheapest[:3])
        return explanations


def _mostly_above(bound: int, numbers: Sequence[PrintedNumber]) -> bool:
    return 2 * sum(number.percent or number.value > bound for number in numbers) > len(numbers)


def _low_percentages(numbers: Sequence[PrintedNumber]) -> bool:
    """Whether some are clearly percentages, and all have no more digits than percentages have."""
    return any(number.value > CLEARLY_PERCENT for number in numbers) and all(number.digits <= 2 for number in numbers)


def _possible(values: Floats, low: Floats, high: Floats) -> bool:
    """Whether some mixture of the rows lies between the ends."""
    from scipy.optimize import linprog

    solution = linprog(
        np.zeros(len(values)),
        A_ub=np.vstack([values.T, -values.T]),
        b_ub=np.concatenate([high, -low]) + 1e-12,
        A_eq=np.ones((1, len(values))),
        b_eq=[1.0],
        bounds=(0, 1),
    )
    return bool(solution.status != 2)


def _fewest(at: int, others: list[int], low: Floats, high: Floats, values: Floats) -> list[int]:
    """Columns without which the contradiction goes away: each is left out in turn where it can be."""
    needed = list(others)
    for other in others:
        rest = [each for each in needed if each != other]
        chosen = [at, *rest]
        if rest and not _possible(values[:, chosen], low[chosen], high[chosen]):
            needed = rest
    return needed
