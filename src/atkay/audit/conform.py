"""Conform: which convention does a program follow, and where is it wrong?"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Generator, Iterable, Sequence

import numpy as np

from atkay.audit.candidates import REFUSING, Candidate, Printed, candidates_of, meant_by
from atkay.audit.conformance import Conformance, Conformity, Counterexample
from atkay.audit.faults import FAULTS, Fault, removed
from atkay.audit.probes import KINDS, Probe, Probes, formula_cases, mixed_case, small_cases
from atkay.audit.program import Answer, Program, Source
from atkay.audit.search import (
    APART,
    CUT,
    EXACT,
    ODD,
    READINGS,
    REFUSALS,
    REMOVED,
    USUAL,
    Reading,
    Search,
    Spoken,
    single_changes,
    values_of_reading,
)
from atkay.audit.variants import plain
from atkay.core.types import Floats
from atkay.dialects.dialect import Dialect, find_dialect, list_dialects
from atkay.errors import AtkayError, SpecError, number_of
from atkay.evaluation.request import Request
from atkay.evaluation.spoken import names_of
from atkay.metrics.metric import Metric, RunMetric
from atkay.metrics.spec import separate
from atkay.protocol import Protocol

TWISTED = ("order", "ids", "users", "grades")
"""Kinds of cases that bring out how tables are read, more than words do."""

OF_A_KIND, SHARED, VALIDATING, AGAIN = 8, 24, 32, 6
"""Cases of each kind that are asked at least; of formulas, of all things mixed, and asked twice."""

POOL, SPLITTING, ROUNDS = 600, 48, 4
"""Cases to choose from, how many are chosen in a further round, and how many such rounds there are at most."""

SEED = 24

SMALL = 600
"""Small cases asked where no convention and no fault is known."""

Study = Generator[list[tuple[int | None, Probe]], list[Answer], Conformity]


def conform(
    program: Source,
    metrics: str | Metric | Iterable[str | Metric],
    *,
    dialect: str | Dialect | None = None,
    timeout: float = 300.0,
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


def _pool(draw: np.random.Generator, top: int, each: int) -> list[Probe]:
    return [make(draw, top) for make in KINDS.values() for _ in range(each)]


def _first_cases(draw: np.random.Generator, top: int, search: Search) -> list[Probe]:
    """Cases of formulas that tell all candidates apart, and of each kind those that tell its words apart."""
    pool = sorted(formula_cases(draw, top, POOL), key=_size)
    batch = Probes(pool)
    bases = [USUAL, *(USUAL.with_fields(**change) for change in ({"unlisted": "ignored"}, {"min_relevance": 2}))]
    values = np.vstack([values_of_reading(batch, search.metrics, base, None) for base in bases])
    chosen = [pool[at] for at in _chosen(values, len(pool), SHARED)]
    metrics = list(dict.fromkeys([search.meant, *(each.metric for each in search.spoken)]))[:OF_A_KIND]
    protocols = [USUAL.with_fields(**change) for change in single_changes()]
    for kind, make in KINDS.items():
        pool = sorted((make(draw, top) for _ in range(4 * OF_A_KIND)), key=_size)
        batch = Probes(pool)
        faults = [fault for fault in FAULTS if fault.twist is not None] if kind in TWISTED else []
        values = np.vstack(
            [values_of_reading(batch, metrics, protocol, None) for protocol in protocols]
            + [values_of_reading(batch, metrics[:1], USUAL, fault) for fault in faults]
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
    values = values_of_reading(search.batch, [reading.metric], reading.protocol, fault)[0]
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
    settled = {REFUSALS[name][0] for name in search.refused}
    return {field: tuple(dict.fromkeys(of)) for field, of in words.items() if field not in settled}


def _smallest(
    name: str, search: Search, reading: Reading | None, reference: Reading
) -> Generator[list[tuple[int | None, Probe]], list[Answer], Counterexample | None]:
    """The smallest case in which the program is not as expected."""
    about = APART if reading is None else ()  # what is wrong is not in the cases that are looked at by themselves
    cases = {repr(case.question("", None)): case for case in small_cases() if case.about not in about}
    small = sorted(cases.values(), key=_size)
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
        refused = any(REFUSALS[words][1](case, k) for words in search.refused)
        if not refused and not abs(answer.value - expected_value) <= near:
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
