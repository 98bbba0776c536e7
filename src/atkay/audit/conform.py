"""Conform: which convention does a program follow, and where is it wrong?"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from atkay.audit.candidates import REFUSING, Candidate, Printed, candidates_of, meant_by
from atkay.audit.conformance import Conformance, Conformity, Counterexample
from atkay.audit.faults import FAULTS, Fault, removed
from atkay.audit.probes import KINDS, LEVELS, Probe, Probes, formula_cases, mixed_case, small_cases
from atkay.audit.program import Answer, Program, Source
from atkay.audit.variants import plain
from atkay.core.types import Bools, Floats, Ints
from atkay.dialects.dialect import Dialect, find_dialect, list_dialects
from atkay.errors import AtkayError, InputError, SpecError, number_of
from atkay.evaluation.request import Request
from atkay.evaluation.spoken import names_of
from atkay.metrics.metric import Metric, RunMetric
from atkay.metrics.spec import separate
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

TWISTED = ("order", "ids", "users", "grades")
"""Kinds of cases that bring out how tables are read, more than words do."""

ODD = {"negative": "grades below 0"}
"""Kinds of cases that few data have: where a program is like no convention in these alone, that is said beside it."""

OF_A_KIND, SHARED, VALIDATING, AGAIN = 8, 24, 32, 6
"""Cases of each kind that are asked at least; of formulas, of all things mixed, and asked twice."""

POOL, SPLITTING, ROUNDS = 600, 48, 4
"""Cases to choose from, how many are chosen in a further round, and how many such rounds there are at most."""

EXACT, DIGITS = 1e-6, (3, 7)
"""What is the same number; and how many decimals a program that rounds may print."""

SEED = 24
FOLLOWED = 3
"""Faults, the nearest ones, for which a protocol is searched."""

SMALL = 600
"""Small cases asked where no convention and no fault is known."""


@dataclass(frozen=True)
class Reading:
    """A hypothesis: a metric under a protocol, in percent or not, and perhaps a fault."""

    metric: Metric
    protocol: Protocol
    scale: int = 1
    fault: Fault | None = None

    def values(self, batch: Probes) -> Floats:
        """Its values."""
        values: Floats = self.scale * _values(batch, [self.metric], self.protocol, self.fault)[0]
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


Study = Generator[list[tuple[int | None, Probe]], list[Answer], Conformity]


def conform(
    program: Source,
    metrics: str | Metric | Iterable[str | Metric],
    *,
    dialect: str | Dialect | None = None,
    timeout: float = 60.0,
) -> Conformance:
    """Find the convention that a program follows, whatever it is written in, and where it is wrong.

    The program is asked small cases that tell conventions apart. What it prints is named in the words of atkay and by
    the libraries that print the same; where no convention gives its numbers, a known fault is named, and the smallest
    case that shows it.

    Parameters
    ----------
    program
        A command, such as ``"python mine.py"``, or a function. A command reads a case per line from standard input,
        ``{"metric": "ndcg", "k": 5, "recs": {"u1": [["a", 0.9], ["b", 0.8]]}, "truth": {"u1": {"a": 1}}}``, and prints
        a number per line; ``null`` or ``{"error": "..."}`` where it has none. A function takes the same case as a dict
        and returns a number or None.
    metrics
        The metrics that it has, each with one cutoff, such as ``"ndcg@5"``; in the names of ``dialect``, if one is
        given.
    dialect
        The library whose numbers the program should give.
    timeout
        Seconds that a command may take for one round of cases.

    Examples
    --------
    A hit rate that was meant to be a recall.

    >>> def recall(case):
    ...     values = []
    ...     for user, grades in case["truth"].items():
    ...         best = sorted(case["recs"].get(user, []), key=lambda row: -row[1])[: case["k"]]
    ...         relevant = {item for item, grade in grades.items() if grade > 0}
    ...         if relevant:
    ...             values.append(float(any(item in relevant for item, score in best)))
    ...     return sum(values) / len(values) if values else None
    >>> conformance = atkay.conform(recall, "recall@3")
    >>> conformance["recall@3"].spec, bool(conformance)
    ('hit@3', False)
    """
    runner = Program(program, timeout)
    library = None if dialect is None else find_dialect(dialect)
    names = [str(name) for name in separate(metrics)]
    studies = [_study(name, library) for name in names]
    waiting = [next(study) for study in studies]
    findings: dict[int, Conformity] = {}
    while len(findings) < len(names):
        running = [at for at in range(len(names)) if at not in findings]
        questions = [case.question(names[at].partition("@")[0], k) for at in running for k, case in waiting[at]]
        answers = iter(runner.ask(questions))
        for at in running:
            try:
                waiting[at] = studies[at].send(list(itertools.islice(answers, len(waiting[at]))))
            except StopIteration as ended:
                findings[at] = ended.value
    ordered = tuple(findings[at] for at in range(len(names)))
    return Conformance(runner.name, ordered, "" if library is None else library.title)


def _study(name: str, library: Dialect | None) -> Study:
    """Asks cases about one metric until its convention is known."""
    meant = _asked(name, library)
    draw = np.random.default_rng(SEED)
    spoken = _spoken(meant)
    top = meant.k if isinstance(meant.k, int) else 6
    number = Printed(1.0, EXACT)
    candidates = candidates_of(plain(meant), number, [each.metric for each in spoken] + [meant])
    costs = {each.metric: each for each in sorted(candidates, key=_cost) if not each.percent}
    target = None if library is None else _target(name, library)
    search = Search(meant, list(costs), spoken, [] if target is None else [target.protocol])
    first = _first_cases(draw, top, search)
    search.add(first, (yield [(search.cutoff, case) for case in first]))
    search.tier()
    reading = search.explained()
    for round_number in range(ROUNDS):
        pool = [*formula_cases(draw, top, POOL // 4), *_pool(draw, top, POOL // len(KINDS))]
        more = _splitting(pool, [reading, *search.alike(reading)], SPLITTING)
        if round_number == 0:
            more += [mixed_case(draw, top) for _ in range(VALIDATING)]
            again = first[:AGAIN]
            more += again
        elif not more:
            break
        answers = yield [(search.cutoff, case) for case in more]
        if round_number == 0:
            search.changes = search.changed(answers[-AGAIN:])
            more, answers = more[:-AGAIN], answers[:-AGAIN]
        search.add(more, answers)
        reading = search.explained(reading)
        if odd := search.left_out(reading):
            search.odd = odd
            search.add([], [])
            reading = search.explained(reading)
    return (yield from _concluded(name, meant, search, reading, target, library))


def _cost(candidate: Candidate) -> int:
    return candidate.cost


def _asked(name: str, library: Dialect | None) -> Metric:
    metric = meant_by(name) if library is None else _target(name, library).metric
    if isinstance(metric, RunMetric) or metric.needs or not metric.needs_truth:
        raise SpecError(f"conform: '{name}' needs more than recs and truth. Choose an accuracy metric.")
    if isinstance(metric.k, tuple):
        raise SpecError(f"conform: name one cutoff at a time, got '{name}'.")
    return metric


def _target(name: str, library: Dialect) -> Reading:
    """What the library computes under that name."""
    request = Request.of(name, None, {}, dialect=library.name)
    return Reading(request.metrics[0], _kept(request.protocol))


def _kept(protocol: Protocol) -> Protocol:
    """The protocol without words that refuse data: there are no numbers to compare."""
    refusing = {name: getattr(USUAL, name) for name in vars(protocol) if getattr(protocol, name) == REFUSING}
    return protocol.with_fields(**refusing)


def _spoken(meant: Metric) -> list[Spoken]:
    """What each library can mean by the metric."""
    every = []
    for dialect in list_dialects().values():
        for own, _ in names_of(dialect, plain(meant)):
            try:
                reading = _target(own, dialect)
            except AtkayError:
                continue
            if reading.protocol.aggregate == "mean":
                every.append(Spoken(dialect, reading.metric, reading.protocol))
    return every


def _words() -> list[dict[str, Any]]:
    """Each single change of the protocol that the cases can show."""
    changes: list[dict[str, Any]] = []
    for name in fields_about("who", "scores", "lists"):
        words = words_of(Protocol.__dataclass_fields__[name])
        changes += [{name: word} for word in words if word not in (REFUSING, "random")]
    levels = [None, *LEVELS]
    return changes + [{"min_relevance": level} for level in levels]


def _pool(draw: np.random.Generator, top: int, each: int) -> list[Probe]:
    return [make(draw, top) for make in KINDS.values() for _ in range(each)]


def _first_cases(draw: np.random.Generator, top: int, search: Search) -> list[Probe]:
    """Cases of formulas that tell all candidates apart, and of each kind those that tell its words apart."""
    pool = sorted(formula_cases(draw, top, POOL), key=_size)
    batch = Probes(pool)
    bases = [USUAL, *(USUAL.with_fields(**change) for change in ({"unlisted": "ignored"}, {"min_relevance": 2}))]
    values = np.vstack([_values(batch, search.metrics, base, None) for base in bases])
    chosen = [pool[at] for at in _chosen(values, len(pool), SHARED)]
    metrics = list(dict.fromkeys([search.meant, *(each.metric for each in search.spoken)]))[:OF_A_KIND]
    protocols = [USUAL.with_fields(**change) for change in _words()]
    for kind, make in KINDS.items():
        pool = sorted((make(draw, top) for _ in range(4 * OF_A_KIND)), key=_size)
        batch = Probes(pool)
        faults = [fault for fault in FAULTS if fault.twist is not None] if kind in TWISTED else []
        values = np.vstack(
            [_values(batch, metrics, protocol, None) for protocol in protocols]
            + [_values(batch, metrics[:1], USUAL, fault) for fault in faults]
        )
        chosen += [pool[at] for at in _chosen(values, 2 * OF_A_KIND, OF_A_KIND)]
    return chosen


def _size(case: Probe) -> tuple[int, int, int]:
    """How large a case is: items, rows, users."""
    rows = sum(map(len, case.recs.values())) + sum(map(len, case.truth.values()))
    return len(case.items), rows, len({*case.recs, *case.truth})


def _chosen(values: Floats, most: int, least: int) -> list[int]:
    """Columns that tell all rows apart that any column does, at least as many as asked for; the best first."""
    rounded = np.round(np.nan_to_num(values, nan=-1.0, posinf=-2.0), 7)
    codes = np.array([np.unique(column, return_inverse=True)[1] for column in rounded.T])
    label = np.zeros(len(values), np.int64)
    goal = len(np.unique(codes, axis=1).T)
    chosen: list[int] = []
    while len(chosen) < most and label.max(initial=0) + 1 < goal:
        joint = label + codes * (label.max() + 1)
        split = [len(np.unique(row)) for row in joint]
        at = int(np.argmax(split))
        if split[at] == label.max() + 1:
            break
        chosen.append(at)
        label = np.unique(joint[at], return_inverse=True)[1]
    rest = [at for at in range(values.shape[1]) if at not in chosen]
    return chosen + rest[len(rest) - max(0, least - len(chosen)) :]


def _splitting(pool: Sequence[Probe], readings: Sequence[Reading], most: int) -> list[Probe]:
    """The cases that tell readings apart."""
    pool = sorted((case for case in pool if case.about not in APART), key=_size)
    batch = Probes(pool)
    values = np.array([reading.values(batch) for reading in readings])
    return [pool[at] for at in _chosen(values, most, 0)] if len(readings) > 1 else []


def _values(batch: Probes, metrics: Sequence[Metric], protocol: Protocol, fault: Fault | None) -> Floats:
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
            said = next((answer.refusal for answer in self.answers if answer.refusal), "null")
            raise InputError(f"conform: the program gave no number for {self.meant}; it said: {said}")
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
        right = self.matches(_values(self.batch, self.metrics, USUAL, None))[:, formulas].all(axis=1)
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
        values = _values(self.batch, self.metrics if metrics is None else metrics, protocol, fault)
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
        values = _values(self.batch, [reading.metric], reading.protocol, reading.fault)[0]
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
            singles = _changed(at, _words())
            nearest = min(singles, key=count)
            if count(nearest) >= wrong:
                if wrong > len(self.cases) / 4:
                    break
                plausible = [each for each in singles if count(each) <= wrong + 2][:12]
                pairs = [
                    pair
                    for one, other in itertools.combinations(plausible, 2)
                    for pair in _changed(one, [other.changes(at)])
                ]
                nearest = min(pairs, key=count, default=at)
                if count(nearest) >= wrong:
                    break
            at, wrong = nearest, count(nearest)
        for name in at.changes(USUAL):
            plainer = at.with_fields(**{name: getattr(USUAL, name)})
            if count(plainer) <= wrong:
                at, wrong = plainer, count(plainer)
        metric = of[int(np.argmin(self.wrong(at, fault, of)))]
        return Reading(metric, at, self.scale, fault), wrong

    def alike(self, reading: Reading) -> list[Reading]:
        """The other readings that the cases do not tell apart from this one."""
        wrong = self.wrong(reading.protocol, reading.fault).min()
        here = self.wrong(reading.protocol, reading.fault)
        readings = [
            dataclasses.replace(reading, metric=metric)
            for metric, count in zip(self.metrics, here.tolist(), strict=True)
            if count <= wrong and metric != reading.metric and (reading.fault is None or reading.fault.formula is None)
        ]
        readings += [
            dataclasses.replace(reading, protocol=protocol)
            for protocol in _changed(reading.protocol, _words())
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
        right = self.matches(_values(self.batch, [reading.metric], reading.protocol, reading.fault)[0])
        return int((right & counted).sum()), int(counted.sum())


def _starts() -> list[dict[str, Any]]:
    """Protocols from which the search begins: what changes the most numbers."""
    unlisted: list[dict[str, Any]] = [{}, {"unlisted": "ignored"}]
    levels: list[dict[str, Any]] = [{}, *({"min_relevance": level} for level in (0, 2, 3, 4))]
    truth: list[dict[str, Any]] = [{}, {"no_truth": "zero"}, {"no_truth": "one"}]
    return [one | two | three for one in unlisted for two in levels for three in truth]


def _changed(protocol: Protocol, changes: Iterable[Mapping[str, Any]]) -> list[Protocol]:
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


def _concluded(
    name: str, meant: Metric, search: Search, reading: Reading, target: Reading | None, library: Dialect | None
) -> Study:
    """The finding, with a counterexample for what is wrong."""
    notes = []
    right, of = search.agreeing(reading)
    known = right == of
    base = reading
    if known and reading.fault is None:
        for about in READINGS:
            fault, note = _read_as(search, reading, about)
            notes += [note] if note else []
            reading = reading if fault is None or target is not None else dataclasses.replace(reading, fault=fault)
    if known and not search.refused and not _fits(search, reading, "long", reading.fault):
        notes.append("In lists of 20 items and more equal scores come in an order of their own.")
    if search.odd:
        notes.append(f"No convention says how it reads {' and '.join(map(ODD.__getitem__, search.odd))}.")
    if search.refused:
        notes.append(f"It refuses {' and '.join(search.refused)}.")
    faults = [] if not known or reading.fault is None else [reading.fault.words]
    if search.changes is not None:
        _, before, after = search.changes
        known, faults = False, [f"the same case gives {before:.6g} once and {after:.6g} another time"]
    elif known and type(reading.metric) is not type(meant):
        faults.append(f"{reading.metric.name} is not {meant.name}")
    elif known and reading.metric.k != meant.k:
        faults.append(_cutoff(reading.metric, meant))
    if known and reading.scale != 1:
        notes.append("Numbers are printed as percentages.")
    if search.tolerance > EXACT:
        notes.append("Numbers are rounded; they were compared to their last digit.")
    reference = target or _reference(meant, reading, known)
    if target is not None:
        right, of = search.agreeing(dataclasses.replace(target, scale=search.scale), library)
        if right < of and known:
            notes.insert(0, _otherwise(reading, target))
    counterexample = None
    if right < of or faults or not known:
        counterexample = yield from _smallest(name, search, reading if known else None, reference)
    fields = reading.protocol.changes(USUAL)
    fields |= {field: REFUSING for words in search.refused if (field := REFUSALS[words][0]) and field != "duplicates"}
    return Conformity(
        metric=name,
        spec=str(reading.metric),
        protocol=fields,
        libraries=tuple(_libraries(search)) if known and not faults else (),
        faults=tuple(faults),
        counterexample=counterexample,
        cases=of,
        agreeing=right,
        target="" if library is None else library.title,
        nearest="" if known or faults else f"{reading.metric} with {_rules(reading.protocol)}",
        open=_open(search, base) if known and base.fault is None else {},
        notes=tuple(notes),
    )


def _otherwise(reading: Reading, target: Reading) -> str:
    """The words in which a program is not as it should be."""
    words = [f"{reading.metric} instead of {target.metric}"] if reading.metric != target.metric else []
    changes = reading.protocol.changes(target.protocol)
    words += [f"{name}={word} instead of {getattr(target.protocol, name)}" for name, word in changes.items()]
    return f"What differs: {'; '.join(words)}."


def _rules(protocol: Protocol) -> str:
    return ", ".join(f"{name}={value}" for name, value in protocol.changes(USUAL).items()) or "the default protocol"


def _cutoff(metric: Metric, meant: Metric) -> str:
    if metric.k is None:
        return "the cutoff is not used"
    assert isinstance(metric.k, int)
    assert isinstance(meant.k, int)
    side = "before" if metric.k < meant.k else "after"
    return f"lists are cut at {metric.k}, {number_of(abs(metric.k - meant.k), 'place')} {side} k"


def _read_as(search: Search, reading: Reading, about: str) -> tuple[Fault | None, str]:
    """How the program reads cases that are about the task: a fault, or a note."""
    for fault, note in READINGS[about]:
        if _fits(search, reading, about, fault):
            return (None, note) if note else (fault, "")
    return None, f"No reading that is known gives its numbers for cases about {about}."


def _fits(search: Search, reading: Reading, about: str, fault: Fault | None) -> bool:
    """Whether a reading of these cases gives the numbers of the program."""
    chosen = np.array([case.about == about for case in search.cases])
    chosen &= ~np.isnan(search.value)
    values = _values(search.batch, [reading.metric], reading.protocol, fault)[0]
    return bool(search.matches(values)[chosen].all())


def _reference(meant: Metric, reading: Reading, known: bool) -> Reading:
    """What the program is compared with in a counterexample."""
    if not known:
        return dataclasses.replace(reading, fault=None)
    if reading.fault is CUT:
        return dataclasses.replace(reading, fault=REMOVED)
    same = type(reading.metric) is type(meant)
    metric = dataclasses.replace(reading.metric, k=meant.k) if same else meant
    return dataclasses.replace(reading, metric=metric, fault=None)


def _libraries(search: Search) -> list[str]:
    names = []
    for each in search.spoken:
        right, of = search.agreeing(Reading(each.metric, each.protocol, search.scale))
        if right == of:
            names.append(each.library.name)
    return list(dict.fromkeys(names))


def _open(search: Search, reading: Reading) -> dict[str, tuple[str, ...]]:
    """The words that give the same numbers in all cases, by field; those of the metric by its name."""
    words: dict[str, list[str]] = {}
    for each in search.alike(reading):
        if each.protocol == reading.protocol and each.fault is reading.fault:
            words.setdefault("spec", [str(reading.metric)]).append(str(each.metric))
        elif each.metric == reading.metric and len(changes := each.protocol.changes(reading.protocol)) == 1:
            [(field, word)] = changes.items()
            words.setdefault(field, [str(getattr(reading.protocol, field))]).append(str(word))
    return {field: tuple(dict.fromkeys(of)) for field, of in words.items()}


def _smallest(
    name: str, search: Search, reading: Reading | None, reference: Reading
) -> Generator[list[tuple[int | None, Probe]], list[Answer], Counterexample | None]:
    """The smallest case in which the program is not as expected."""
    small = sorted({repr(case.question("", None)): case for case in small_cases()}.values(), key=_size)
    batch, usual, near = Probes(small), search.cutoff, 10 * search.tolerance * search.scale
    cutoffs = [usual, *(k for k in (1, 2, 3) if usual is not None and k < usual)]
    asking = []
    for order, k in enumerate(cutoffs if reading is not None else cutoffs[:3:2]):
        expected = reference.at(usual, k).values(batch)
        there = np.isfinite(expected)
        if reading is not None:
            own = reading.at(usual, k).values(batch)
            there &= ~(np.abs(own - expected) <= near)
        places = np.flatnonzero(there)[: AGAIN if reading is not None else SMALL].tolist()
        asking += [((*_size(small[at]), order), k, small[at], float(expected[at])) for at in places]
    asking.sort(key=lambda each: each[0])
    answers = yield [(k, case) for _, k, case, _ in asking]
    for (_, k, case, expected_value), answer in zip(asking, answers, strict=True):
        if not abs(answer.value - expected_value) <= near:
            return _shown(name, case, k, reference.at(usual, k), answer.value, expected_value)
    values = reference.values(search.batch)
    wrong = np.flatnonzero(search.counted & np.isfinite(values) & ~search.matches(values / search.scale)).tolist()
    if not wrong:
        return None
    at = min(wrong, key=lambda at: _size(search.cases[at]))
    return _shown(name, search.cases[at], usual, reference, float(search.value[at]), float(values[at]))


def _shown(
    name: str, case: Probe, k: int | None, reference: Reading, printed: float, expected: float
) -> Counterexample:
    read = case if reference.fault is None else removed(case)
    return Counterexample(
        case=case.question(name.partition("@")[0], k),
        printed=printed,
        expected=expected,
        arithmetic=tuple(Probes([read]).worked(reference.metric, reference.protocol)),
        reference=str(reference.metric),
    )
