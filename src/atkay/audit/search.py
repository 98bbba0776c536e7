"""Search: which readings give the numbers that a program printed."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from atkay.audit.candidates import REFUSING
from atkay.audit.faults import FAULTS, Fault, removed
from atkay.audit.probes import LEVELS, Probe, Probes
from atkay.audit.program import Answer
from atkay.core.types import Bools, Floats, Ints
from atkay.dialects.dialect import Dialect
from atkay.errors import AtkayError, InputError
from atkay.metrics.metric import Metric
from atkay.protocol import Protocol, fields_about
from atkay.words import words_of

USUAL = Protocol(duplicates="first")
"""Where the search begins; what the default refuses is said apart."""

REMOVED = Fault("", twist=removed)
"""No fault: excluded items are removed from the lists."""

FAULT = {fault.words: fault for fault in FAULTS}

CUT = FAULT["the list is cut before excluded items are removed"]

READINGS: dict[str, list[tuple[Fault | None, str]]] = {
    "exclude": [
        (None, "It does not read exclude."),
        (REMOVED, "Excluded items are removed from the lists."),
        (CUT, ""),
    ],
    "duplicates": [
        (None, "A repeated item counts at its better rank (duplicates=first)."),
        (FAULT["of a repeated item the last row counts"], "Of a repeated item the last row counts."),
        (
            FAULT["a repeated item takes a place that no other item gets"],
            "A repeated item counts once, and each of its rows takes a place.",
        ),
        (FAULT["a repeated item counts again"], ""),
        (FAULT["repeated items are removed after the cut, not before"], ""),
    ],
}
"""Cases that are looked at by themselves, since they are about the task: how a program may read them, and what is said
of that; a fault where nothing is."""

APART = (*READINGS, "long")

ODD = {"negative": "grades below 0"}
"""Kinds of cases that few data have: where a program is like no convention in these alone, that is said beside it."""

EXACT, DIGITS = 1e-6, (3, 7)
"""What is the same number; and how many decimals a program that rounds may print."""

FOLLOWED = 3
"""Faults, the nearest ones, for which a protocol is searched."""


@dataclass(frozen=True)
class Reading:
    """A hypothesis: a metric under a protocol, in percent or not, and perhaps a fault."""

    metric: Metric
    protocol: Protocol
    scale: int = 1
    fault: Fault | None = None

    def values(self, batch: Probes) -> Floats:
        """Its values."""
        values: Floats = self.scale * values_of_reading(batch, [self.metric], self.protocol, self.fault)[0]
        return values

    def at(self, usual: int | None, k: int | None) -> Reading:
        """The same where another cutoff than the usual one is asked for."""
        own = self.metric.k
        if not isinstance(own, int) or usual is None or k is None:
            return self
        return dataclasses.replace(self, metric=self.metric @ max(own - usual + k, 1))


class Spoken(NamedTuple):
    """What a library means by a metric."""

    library: Dialect
    metric: Metric
    protocol: Protocol


def single_changes() -> list[dict[str, Any]]:
    """Each single change of the protocol that the cases can show."""
    changes: list[dict[str, Any]] = []
    for name in fields_about("who", "scores", "lists"):
        words = words_of(Protocol.__dataclass_fields__[name])
        changes += [{name: word} for word in words if word not in (REFUSING, "random")]
    levels = [None, *LEVELS]
    return changes + [{"min_relevance": level} for level in levels]


def values_of_reading(batch: Probes, metrics: Sequence[Metric], protocol: Protocol, fault: Fault | None) -> Floats:
    """Values, each computed once."""
    key = (tuple(metrics), protocol, fault)
    if key not in batch._kept:
        try:
            batch._kept[key] = (
                batch.values(metrics, protocol) if fault is None else fault.values(batch, metrics, protocol)
            )
        except AtkayError:
            batch._kept[key] = np.full((len(metrics), len(batch.cases)), np.inf)
    values: Floats = batch._kept[key]
    return values


REFUSALS: dict[str, tuple[str, Callable[[Probe, int | None], bool]]] = {
    "users without a list": ("no_recs", lambda case, k: bool(set(case.truth) - set(case.recs))),
    "users without a relevant item": (
        "no_truth",
        lambda case, k: any(not any(grade > 0 for grade in case.truth.get(user, {}).values()) for user in case.recs),
    ),
    "users whose grades are all 0 or below": (
        "",
        lambda case, k: any(not any(grade > 0 for grade in grades.values()) for grades in case.truth.values()),
    ),
    "repeated items": (
        "duplicates",
        lambda case, k: any(len({name for name, _ in rows}) < len(rows) for rows in case.recs.values()),
    ),
    "grades below 0": (
        "negative",
        lambda case, k: any(grade < 0 for grades in case.truth.values() for grade in grades.values()),
    ),
    "grades that are not integers": (
        "",
        lambda case, k: any(grade % 1 for grades in case.truth.values() for grade in grades.values()),
    ),
    "grades other than 0 and 1": (
        "",
        lambda case, k: any(grade not in (0, 1) for grades in case.truth.values() for grade in grades.values()),
    ),
    "listed items with a grade above 1": (
        "",
        lambda case, k: any(
            case.truth.get(user, {}).get(name, 0) > 1 for user, rows in case.recs.items() for name, _ in rows
        ),
    ),
    "lists shorter than k": ("", lambda case, k: any(len(rows) < (k or 0) for rows in case.recs.values())),
    "lists without a relevant item": (
        "",
        lambda case, k: any(
            not any(case.truth.get(user, {}).get(name, 0) > 0 for name, _ in rows) for user, rows in case.recs.items()
        ),
    ),
    "lists of one item": ("", lambda case, k: any(len(rows) == 1 for rows in case.recs.values())),
}
"""What a program may refuse, the field of the protocol that says so, and which cases that concerns."""


class Search:
    """What was asked of one metric, what the program said, and which readings give the same."""

    def __init__(
        self, meant: Metric, metrics: list[Metric], spoken: list[Spoken], protocols: Sequence[Protocol] = ()
    ) -> None:
        self.meant, self.metrics, self.spoken = meant, metrics, spoken
        self.every = metrics
        self.cases: list[Probe] = []
        self.answers: list[Answer] = []
        self.scale, self.tolerance = 1, EXACT
        self.odd: tuple[str, ...] = ()
        self.changes: tuple[Probe, float, float] | None = None
        own = [USUAL.with_fields(**change) for change in _starts()]
        near = [USUAL, *protocols, *(each.protocol for each in spoken)]
        self.far = set(own) - set(near)
        self.starts = list(dict.fromkeys([*near, *own]))

    @property
    def cutoff(self) -> int | None:
        """The cutoff that is asked for."""
        return self.meant.k if isinstance(self.meant.k, int) else None

    def add(self, cases: Sequence[Probe], answers: Sequence[Answer]) -> None:
        """Cases and what the program said."""
        self.cases += cases
        self.answers += answers
        self.batch = Probes(self.cases)
        self.value = np.array([answer.value for answer in self.answers])
        if np.isnan(self.value).all():
            reason = next((answer.refusal for answer in self.answers if answer.refusal), "null")
            raise InputError(f"conform: the program gave no number for {self.meant}; it said: {reason}")
        self.refused, covered = self._refused()
        about = np.array([case.about in APART for case in self.cases])
        odd = np.array([case.about in self.odd for case in self.cases])
        self.counted = ~covered & ~about & ~odd

    def _refused(self) -> tuple[list[str], Bools]:
        """What the program refuses, and the cases that this explains."""
        missing = np.isnan(self.value)
        k = self.cutoff
        covered = np.zeros(len(self.cases), bool)
        words: list[str] = []
        for name, (_, concerns) in REFUSALS.items():
            here = np.array([concerns(case, k) for case in self.cases])
            if here.any() and missing[here].all() and (here & ~covered).any():
                words.append(name)
                covered |= here
        return words, covered

    def tier(self) -> None:
        """Whether the program prints percent, and with how many digits."""
        digits = next(
            (
                count
                for count in range(*DIGITS)
                if np.allclose(self.value, np.round(self.value, count), rtol=0, atol=1e-12, equal_nan=True)
            ),
            0,
        )
        tiers = [(scale, EXACT) for scale in (1, 100)]
        tiers += [(scale, 0.51 * 10.0**-digits) for scale in (1, 100) if digits]

        def wrong(tier: tuple[int, float]) -> int:
            self.scale, self.tolerance = tier
            return min(int(self.wrong(protocol).min()) for protocol in self.starts)

        formulas = np.array([case.about == "formula" for case in self.cases]) & self.counted
        right = np.all(self.matches(values_of_reading(self.batch, self.metrics, USUAL, None))[:, formulas], axis=1)
        if right.any():  # no other protocol has to be looked for before it is clear which formula it is
            self.metrics = [metric for metric, fits in zip(self.metrics, right.tolist(), strict=True) if fits]
            self.starts = [start for start in self.starts if start not in self.far]
            return
        counts = [wrong(tier) for tier in tiers]
        self.scale, self.tolerance = tiers[int(np.argmin(counts))]

    def matches(self, values: Floats) -> Bools:
        """Which values are those of the program; where nobody counts it may print nothing, or 0."""
        with np.errstate(invalid="ignore"):
            same = np.abs(self.scale * values - self.value) <= self.tolerance * max(1, self.scale / 10)
        same |= np.isnan(values) & (np.isnan(self.value) | (self.value == 0))
        return np.asarray(same)

    def wrong(self, protocol: Protocol, fault: Fault | None = None, metrics: Sequence[Metric] | None = None) -> Ints:
        """How many cases each metric has wrong under a protocol."""
        values = values_of_reading(self.batch, self.metrics if metrics is None else metrics, protocol, fault)
        return np.asarray((~self.matches(values) & self.counted).sum(axis=1))

    def explained(self, start: Reading | None = None) -> Reading:
        """The simplest reading that gives all numbers, or the nearest."""
        if start is not None and self.wrong(start.protocol, start.fault, [start.metric])[0] == 0:
            return start
        starts = self.starts if start is None else [start.protocol, *self.starts]
        best, wrong = self._descended(starts, None)
        if wrong == 0:
            return best
        if start is not None and start.fault is not None:
            faults = [start.fault, *(fault for fault in FAULTS if fault is not start.fault)]
        else:
            faults = list(FAULTS)
        here = list(dict.fromkeys([USUAL, best.protocol, *([] if start is None else [start.protocol])]))
        metrics = [metric for metric in self.metrics if type(metric) is type(self.meant)]
        near = [
            (int(min(self.wrong(protocol, fault, metrics).min() for protocol in here)), at)
            for at, fault in enumerate(faults)
        ]
        followed = [(*self._descended(here, faults[at], metrics), at) for _, at in sorted(near)[:FOLLOWED]]
        reading, fewest, _ = min(followed, key=lambda each: (each[1], each[2]))
        return reading if fewest == 0 or (fewest < wrong / 4 and fewest < 3) else best

    def left_out(self, reading: Reading) -> tuple[str, ...]:
        """The kinds of odd cases that are all that a reading has wrong."""
        values = values_of_reading(self.batch, [reading.metric], reading.protocol, reading.fault)[0]
        wrong = np.flatnonzero(self.counted & ~self.matches(values)).tolist()
        kinds = {self.cases[at].about for at in wrong}
        return tuple(sorted(kinds)) if kinds <= set(ODD) else ()

    def _descended(
        self, starts: Sequence[Protocol], fault: Fault | None, metrics: Sequence[Metric] | None = None
    ) -> tuple[Reading, int]:
        """From the best start one word after the other, then two at once, as long as fewer cases are wrong."""
        of = self.metrics if metrics is None else metrics

        def count(protocol: Protocol) -> int:
            return int(self.wrong(protocol, fault, of).min())

        at = min(starts, key=count)
        wrong = count(at)
        while wrong:
            singles = changed_protocols(at, single_changes())
            nearest = min(singles, key=count)
            if count(nearest) >= wrong:
                if wrong > len(self.cases) / 4:
                    break
                plausible = [each for each in singles if count(each) <= wrong + 2][:12]
                pairs = [
                    pair
                    for one, other in itertools.combinations(plausible, 2)
                    for pair in changed_protocols(one, [other.changes(at)])
                ]
                nearest = min(pairs, key=count, default=at)
                if count(nearest) >= wrong:
                    break
            at, wrong = nearest, count(nearest)
        for name in at.changes(USUAL):
            plainer = at.with_fields(**{name: getattr(USUAL, name)})
            if count(plainer) <= wrong:
                at, wrong = plainer, count(plainer)
        of = of if wrong or fault is not None else self.every
        metric = of[int(np.argmin(self.wrong(at, fault, of)))]
        return Reading(metric, at, self.scale, fault), wrong

    def alike(self, reading: Reading) -> list[Reading]:
        """The other readings that the cases do not tell apart from this one."""
        wrong = self.wrong(reading.protocol, reading.fault).min()
        metrics = self.every if reading.fault is None else self.metrics
        here = self.wrong(reading.protocol, reading.fault, metrics)
        readings = [
            dataclasses.replace(reading, metric=metric)
            for metric, count in zip(metrics, here.tolist(), strict=True)
            if count <= wrong and metric != reading.metric and (reading.fault is None or reading.fault.formula is None)
        ]
        readings += [
            dataclasses.replace(reading, protocol=protocol)
            for protocol in changed_protocols(reading.protocol, single_changes())
            if self.wrong(protocol, reading.fault, [reading.metric])[0] <= wrong
        ]
        if reading.fault is None:
            readings += [
                Reading(each.metric, each.protocol, reading.scale)
                for each in self.spoken
                if self.wrong(each.protocol, None, [each.metric])[0] <= wrong
            ]
        return [each for each in readings if each != reading]

    def changed(self, answers: Sequence[Answer]) -> tuple[Probe, float, float] | None:
        """A case to which the program gave two answers, if there is one."""
        for case, before, after in zip(self.cases, self.value, answers, strict=False):
            if not np.isclose(before, after.value, rtol=0, atol=EXACT, equal_nan=True):
                return case, float(before), after.value
        return None

    def agreeing(self, reading: Reading, library: Dialect | None = None) -> tuple[int, int]:
        """How many of the cases that can be compared a reading has right, and how many these are."""
        counted = self.counted.copy()
        if library is not None and library.unstable is None:
            counted |= np.array([case.about == "long" for case in self.cases])
        right = self.matches(values_of_reading(self.batch, [reading.metric], reading.protocol, reading.fault)[0])
        return int((right & counted).sum()), int(counted.sum())


def _starts() -> list[dict[str, Any]]:
    """Protocols from which the search begins: what changes the most numbers."""
    unlisted: list[dict[str, Any]] = [{}, {"unlisted": "ignored"}]
    levels: list[dict[str, Any]] = [{}, *({"min_relevance": level} for level in (0, 2, 3, 4))]
    truth: list[dict[str, Any]] = [{}, {"no_truth": "zero"}, {"no_truth": "one"}]
    return [one | two | three for one in unlisted for two in levels for three in truth]


def changed_protocols(protocol: Protocol, changes: Iterable[Mapping[str, Any]]) -> list[Protocol]:
    """The protocol with each of the changes, where these go with it and change something."""
    every = []
    for change in changes:
        try:
            changed = protocol.with_fields(**change)
        except AtkayError:
            continue
        if changed != protocol:
            every.append(changed)
    return list(dict.fromkeys(every))
