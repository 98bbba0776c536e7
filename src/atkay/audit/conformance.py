"""Conformance: what a program computes, in our words, and where it is wrong."""

from __future__ import annotations

import dataclasses
import json
import math
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from atkay.errors import SpecError, listing
from atkay.text.files import write_whole
from atkay.text.grid import Grid, Tabular


@dataclass(frozen=True)
class Counterexample:
    """The smallest case on which a program is not as expected: what it printed, and the arithmetic."""

    case: Mapping[str, Any]
    printed: float
    expected: float
    arithmetic: tuple[str, ...]
    reference: str

    @property
    def lines(self) -> tuple[str, ...]:
        """The case, the arithmetic and both numbers, line by line."""
        k = "" if self.case["k"] is None else f", k = {self.case['k']}"
        users = [
            f"  {name}: " + "; ".join(f"{user}: {_listed(of)}" for user, of in self.case[name].items())
            for name in ("recs", "truth", "exclude")
            if name in self.case
        ]
        printed = "nothing" if math.isnan(self.printed) else f"{self.printed:.6g}"
        return (
            f"Counterexample{k}:",
            *users,
            *(f"  {self.reference} of {line}" for line in self.arithmetic),
            f"  expected {self.expected:.6g}, printed {printed}",
        )

    def __str__(self) -> str:
        return "\n".join(self.lines)


def _listed(of: Any) -> str:
    if isinstance(of, Mapping):
        return ", ".join(f"{item} {grade:g}" for item, grade in of.items())
    return ", ".join(str(row) if isinstance(row, str) else f"{row[0]} {row[1]:.12g}" for row in of) or "empty"


@dataclass(frozen=True)
class Conformity:
    """What a program computes under the name of a metric.

    ``spec`` and ``protocol`` are its convention, ``protocol`` with the fields that differ from the default; ``open``
    has the words that give the same numbers in every case. ``libraries`` give them, too. ``faults`` are named where
    none does. ``agreeing`` of ``cases`` are as expected: by the dialect, where one was given, else by the convention.
    """

    metric: str
    spec: str
    protocol: Mapping[str, Any]
    libraries: tuple[str, ...]
    faults: tuple[str, ...]
    counterexample: Counterexample | None
    cases: int
    agreeing: int
    target: str = ""
    nearest: str = ""
    open: Mapping[str, tuple[str, ...]] = dataclasses.field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return self.agreeing == self.cases and not (self.faults or self.nearest)

    @property
    def rules(self) -> str:
        """The fields of the protocol."""
        return ", ".join(f"{name}={value}" for name, value in self.protocol.items()) or "the default protocol"

    @property
    def verdict(self) -> str:
        """The conclusion in words."""
        count = f"{self.agreeing} of {self.cases} cases"
        if self.target and self:
            return f"{self.metric} conforms to {self.target}: {count}."
        start = f"{self.metric} does not conform to {self.target} ({count}): it" if self.target else f"{self.metric}"
        if self.nearest:
            return f"{start}: no convention says this. The nearest is {self.nearest}, {count}."
        used = f", as in {', '.join(self.libraries)}" if self.libraries else ""
        what = f"{start} computes {self.spec} with {self.rules}{used}"
        if self.faults:
            return f"{what}, but {'; '.join(self.faults)}."
        return f"{what}." if self.target else f"{what}: {count}."


@dataclass(frozen=True, repr=False)
class Conformance(Tabular):
    """What a program computes, by metric; true if it conforms.

    Without a dialect a program conforms where a convention gives all of its numbers; with one, where it gives the
    numbers of that library.
    """

    program: str
    findings: tuple[Conformity, ...]
    target: str = ""

    def __bool__(self) -> bool:
        return all(self.findings)

    def __iter__(self) -> Iterator[Conformity]:
        return iter(self.findings)

    def __len__(self) -> int:
        return len(self.findings)

    def __getitem__(self, metric: str) -> Conformity:
        try:
            return next(finding for finding in self.findings if finding.metric == metric)
        except StopIteration:
            names = listing([finding.metric for finding in self.findings])
            raise SpecError(f"conformance: no metric '{metric}'; it has {names}.") from None

    @property
    def specs(self) -> dict[str, str]:
        """The spec of each metric."""
        return {finding.metric: finding.spec for finding in self.findings}

    @property
    def libraries(self) -> tuple[str, ...]:
        """The libraries that give all of the numbers."""
        first, *rest = (finding.libraries for finding in self.findings)
        return tuple(name for name in first if all(name in names for names in rest))

    @property
    def faults(self) -> tuple[str, ...]:
        """All faults, each once."""
        return tuple(dict.fromkeys(fault for finding in self.findings for fault in finding.faults))

    @property
    def counterexample(self) -> Counterexample | None:
        """The first counterexample."""
        return next((each.counterexample for each in self.findings if each.counterexample), None)

    @property
    def cases(self) -> int:
        """The cases compared."""
        return sum(finding.cases for finding in self.findings)

    @property
    def line(self) -> str:
        """A line for a README."""
        agreeing = sum(finding.agreeing for finding in self.findings)
        metrics = ", ".join(finding.metric for finding in self.findings)
        if not self:
            return f"does not conform: {agreeing} of {self.cases} cases ({metrics})"
        to = self.target or "; ".join(f"{finding.spec} with {finding.rules}" for finding in self.findings)
        return f"conforms to {to}: {agreeing} of {self.cases} ({metrics}; checked with atkay conform)"

    def _grid(self) -> Grid:
        rows = [
            (each.metric, "no convention" if each.nearest else each.spec, each.rules, ", ".join(each.libraries))
            for each in self.findings
        ]
        return Grid(("metric", "computes", "protocol", "libraries"), rows)

    def _notes(self) -> Sequence[str]:
        return [line for lines in self._paragraphs() for line in lines]

    def _parts(self, *, bold: bool = False) -> Sequence[Grid | Sequence[str]]:
        """The table, and a paragraph for each thing that there is to say."""
        return [self._grid(), *self._paragraphs()]

    def _paragraphs(self) -> list[Sequence[str]]:
        paragraphs: list[Sequence[str]] = []
        for finding in self.findings:
            paragraphs.append([finding.verdict, *finding.notes])
            if finding.counterexample is not None:
                paragraphs.append(finding.counterexample.lines)
            if finding.open:
                alike = "; ".join(f"{name}: {', '.join(words)}" for name, words in finding.open.items())
                paragraphs.append([f"No case of {finding.metric} tells apart {alike}."])
        return [*paragraphs, *([[f"{self.line[0].upper()}{self.line[1:]}."]] if self and self.target else [])]

    def to_dict(self) -> dict[str, Any]:
        """Everything as a JSON-compatible dict."""
        return {
            "program": self.program,
            "conforms": bool(self),
            "target": self.target,
            "line": self.line,
            "findings": [
                {**dataclasses.asdict(finding), "conforms": bool(finding), "verdict": finding.verdict}
                for finding in self.findings
            ],
        }

    def to_json(self) -> str:
        """Everything, as JSON."""
        return json.dumps(self.to_dict(), ensure_ascii=False)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything as JSON; atomic."""
        write_whole(path, self.to_json().encode())
