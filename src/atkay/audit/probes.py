"""Cases: small lists and truth that bring conventions out, and the values of metrics on all of them at once."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from atkay.audit.candidates import together
from atkay.evaluation.judge import judge
from atkay.evaluation.measure import score_missing, values_of, who_counts
from atkay.inputs.coding.align import align_tables
from atkay.inputs.read import read_tables
from atkay.metrics.worked import arithmetic
from atkay.protocol import Protocol

if TYPE_CHECKING:
    from atkay.core.types import Floats, Ints
    from atkay.evaluation.judge import Settled
    from atkay.inputs.coding.align import Aligned
    from atkay.judged.judged import Judged
    from atkay.metrics.metric import Metric

Formula = Callable[["Metric", "Judged"], "Floats"]
Mean = Callable[["Floats", "Ints", int], "Floats"]

ANCHOR = "-1"
"""The case of a user whose list and truth share an item, so that every batch has one that does."""

READ = Protocol(duplicates="first")


class Probe(NamedTuple):
    """What a program is asked: lists and truth by user, the items to exclude, and what the case is about."""

    recs: Mapping[str, tuple[tuple[str, float], ...]]
    truth: Mapping[str, Mapping[str, float]]
    about: str = ""
    exclude: Mapping[str, tuple[str, ...]] = {}

    def question(self, name: str, k: int | None) -> dict[str, Any]:
        """The case as a program reads it."""
        question: dict[str, Any] = {
            "metric": name,
            "k": k,
            "recs": {user: [list(row) for row in rows] for user, rows in self.recs.items()},
            "truth": {user: dict(grades) for user, grades in self.truth.items()},
        }
        if self.exclude:
            question["exclude"] = {user: list(items) for user, items in self.exclude.items()}
        return question

    @property
    def items(self) -> set[str]:
        """All items of the case."""
        listed = {item for rows in self.recs.values() for item, _ in rows}
        return listed.union(*self.truth.values(), *self.exclude.values())


@dataclass(frozen=True, eq=False)
class Probes:
    """Cases, read once, and their values under any metrics and protocol.

    Ids are text, but in cases whose items are all numbers they are read as these: there ``ties=item`` goes by number.
    """

    cases: Sequence[Probe]
    _kept: dict[Any, Any] = field(default_factory=dict)

    def values(
        self, metrics: Sequence[Metric], protocol: Protocol, formula: Formula | None = None, mean: Mean | None = None
    ) -> Floats:
        """A row per metric and a column per case; infinite where the metric does not go with the protocol."""
        values = np.full((len(metrics), len(self.cases)), np.nan)
        for numeric, chosen in self._parts.items():
            if chosen:
                values[:, chosen] = self._values(numeric, chosen, metrics, protocol, formula, mean or averaged)
        return values

    @cached_property
    def _parts(self) -> dict[bool, list[int]]:
        """The cases whose items are all numbers, and the others."""
        kinds = [_numeric(case) for case in self.cases]
        return {kind: [at for at, own in enumerate(kinds) if own == kind] for kind in (False, True)}

    def worked(self, metric: Metric, protocol: Protocol) -> list[str]:
        """The arithmetic of the only case, a line per user."""
        aligned, settled = self._judged(_numeric(self.cases[0]), [0], protocol)
        judged = settled.judged
        counted = who_counts(judged, protocol, aligned.ids)
        lines = []
        for query, name in enumerate(aligned.ids["user"].to_list()):
            case, _, user = name.partition(":")
            if case == ANCHOR:
                continue
            view = metric.view(judged.part(query, query + 1))
            if not counted[query]:
                lines.append(f"{user}: not counted")
            elif view.n_relevant[0] == 0:
                lines.append(f"{user}: no relevant item: {1 if protocol.no_truth == 'one' else 0}")
            else:
                lines.append(f"{user}: {arithmetic(metric, judged.part(query, query + 1))}")
        return lines

    def _judged(self, numeric: bool, chosen: Sequence[int], protocol: Protocol) -> tuple[Aligned, Settled]:
        if numeric not in self._kept:
            self._kept[numeric] = read_tables(_tables([self.cases[at] for at in chosen], numeric), READ)
        key = (numeric, protocol.scores)
        if key not in self._kept:
            self._kept[key] = align_tables(self._kept[numeric], READ.with_fields(scores=protocol.scores))
        return self._kept[key], judge(self._kept[key], protocol)

    def _values(
        self,
        numeric: bool,
        chosen: Sequence[int],
        metrics: Sequence[Metric],
        protocol: Protocol,
        formula: Formula | None,
        mean: Mean,
    ) -> Floats:
        aligned, settled = self._judged(numeric, chosen, protocol)
        judged = settled.judged
        counted = who_counts(judged, protocol, aligned.ids)
        case = np.array([int(name.partition(":")[0]) for name in aligned.ids["user"].to_list()])
        counted &= case >= 0
        case = case[counted]
        fit = [metric for metric in metrics if metric.averages or not judged.averaged]
        out = np.full((len(metrics), len(chosen)), np.inf)
        if not fit:
            return out
        if formula is not None:
            columns = [formula(metric, metric.view(judged)) for metric in fit]
            values = np.column_stack(columns)[counted]
            score_missing(values, {}, [_users(metric) for metric in fit], protocol, (judged.n_relevant == 0)[counted])
            out[[metrics.index(metric) for metric in fit]] = mean(values, case, len(chosen))
            return out
        several = together(fit)
        values, ratios = values_of(judged, several, protocol, counted)
        means = mean(values, case, len(chosen))
        for at, one in enumerate(one for metric in several for one in metric.split()):
            if mean is averaged and str(one) in ratios:
                above, below = (np.bincount(case, side, len(chosen)) for side in ratios[str(one)])
                means[at] = np.divide(above, below, out=np.full(len(chosen), np.nan), where=below > 0)
            out[metrics.index(one)] = means[at]
        return out


def averaged(values: Floats, case: Ints, n_cases: int) -> Floats:
    """The mean of each case over its users that have a value."""
    there = ~np.isnan(values)
    sums = (
        np.array([np.bincount(case, column, n_cases) for column in each.T])
        for each in (np.where(there, values, 0.0), there.astype(float))
    )
    with np.errstate(invalid="ignore"):
        means: Floats = np.divide(*sums)
    return means


def _users(metric: Metric) -> Metric:
    """The metric averaged over users."""
    # where it has the field
    return dataclasses.replace(metric, average="users") if hasattr(metric, "average") else metric  # type: ignore[call-arg]


def _numeric(case: Probe) -> bool:
    """Whether all items are numbers, as they are usually written."""
    return all(item.isdecimal() and str(int(item)) == item for item in case.items)


def _tables(cases: Sequence[Probe], numeric: bool) -> dict[str, Any]:
    """The cases as two tables, each user one of its case."""
    import polars as pl

    def item(name: str) -> Any:
        return int(name) if numeric else name

    anchor = 1 << 40 if numeric else "anchor"
    recs = [(f"{ANCHOR}:", anchor, 1.0)]
    truth = [(f"{ANCHOR}:", anchor, 1.0)]
    for at, case in enumerate(cases):
        recs += [(f"{at}:{user}", item(name), float(score)) for user, rows in case.recs.items() for name, score in rows]
        truth += [
            (f"{at}:{user}", item(name), float(grade))
            for user, grades in case.truth.items()
            for name, grade in grades.items()
        ]
    return {
        "recs": pl.DataFrame(recs, ["user", "item", "score"], orient="row"),
        "truth": pl.DataFrame(truth, ["user", "item", "relevance"], orient="row"),
    }


LETTERS = "abcdefghijklmnopqrstuvwxyz"
GRADES = (0, 0.25, 0.5, 1, 1.25, 1.5, 2, 3, 4, 5)
LEVELS = (0, 0.5, 1, 2, 3, 4, 5)
"""Grades from which an item may be relevant."""
USERS = ("u1", "u2", "u3", "u4")

Draw = np.random.Generator


def _names(draw: Draw, count: int, numeric: bool = False) -> list[str]:
    """Names of items in any order, of one letter where there are enough."""
    if numeric:
        return [str(name) for name in draw.permutation(np.arange(7, 7 + count))]
    names = list(LETTERS[:count]) if count <= len(LETTERS) else [f"i{at:03}" for at in range(count)]
    return [names[at] for at in draw.permutation(count)]


def _user(
    draw: Draw, top: int, graded: bool, numeric: bool = False, length: int | None = None
) -> tuple[list[str], dict[str, float]]:
    """A list and its truth: some of what is listed, and some of what is not."""
    length = int(draw.integers(1, top + 4)) if length is None else length
    names = _names(draw, length + 4, numeric)
    listed = names[:length]
    n_relevant = int(draw.integers(1, min(top + 2, len(names)) + 1))
    weights = np.where(np.arange(len(names)) < length, 2.0, 1.0)
    relevant = draw.choice(len(names), n_relevant, replace=False, p=weights / weights.sum())
    if not (relevant < length).any():
        relevant[0] = int(draw.integers(length))
    return listed, {names[at]: int(draw.integers(1, 4)) if graded else 1 for at in relevant.tolist()}


def _scored(listed: Sequence[str], scores: Iterable[float] | None = None) -> tuple[tuple[str, float], ...]:
    """The list with scores that fall from place to place, unless others are given."""
    scores = [len(listed) - at - 0.5 for at in range(len(listed))] if scores is None else scores
    return tuple(zip(listed, (float(score) for score in scores), strict=True))


def formula_cases(draw: Draw, top: int, count: int) -> list[Probe]:
    """One user, no ties, no zeros: cases about the formula alone."""
    cases = []
    for at in range(count):
        listed, truth = _user(draw, top, graded=at % 2 == 1)
        cases.append(Probe({"u1": _scored(listed)}, {"u1": truth}, "formula"))
    return cases


def _several(draw: Draw, top: int, about: str, graded: bool = True, numeric: bool = False) -> Probe:
    users = USERS[: int(draw.integers(2, 4))]
    drawn = {user: _user(draw, top, graded, numeric) for user in users}
    return Probe(
        {user: _scored(listed) for user, (listed, _) in drawn.items()},
        {user: truth for user, (_, truth) in drawn.items()},
        about,
    )


def _without(draw: Draw, case: Probe, table: str) -> Probe:
    """Without the list, or the truth, of a user."""
    rows: Any = dict(getattr(case, table))
    rows.pop(list(rows)[int(draw.integers(len(rows)))])
    return case._replace(**{table: rows})


def _no_recs(draw: Draw, top: int) -> Probe:
    return _without(draw, _several(draw, top, "no_recs", graded=False), "recs")


def _no_truth(draw: Draw, top: int) -> Probe:
    case = _several(draw, top, "no_truth", graded=False)
    if draw.random() < 0.4:
        return _without(draw, case, "truth")
    empty = list(case.truth)[int(draw.integers(len(case.truth)))]
    case = case._replace(truth={**case.truth, empty: dict.fromkeys(case.truth[empty], 0)})
    return _without(draw, case, "recs") if draw.random() < 0.2 else case


def _shuffled(draw: Draw, rows: Sequence[tuple[str, float]]) -> tuple[tuple[str, float], ...]:
    return tuple(rows[at] for at in draw.permutation(len(rows)))


def _one(
    draw: Draw, top: int, about: str, scores: Callable[[int], Any] | None, graded: bool = False, numeric: bool = False
) -> Probe:
    """One user whose list has the given scores; its rows stand in any order."""
    length = int(draw.integers(3, max(top, 3) + 3))
    listed, truth = _user(draw, top, graded, numeric, length)
    rows = _scored(listed, None if scores is None else scores(length))
    return Probe({"u1": _shuffled(draw, rows)}, {"u1": truth}, about)


def _ties(draw: Draw, top: int) -> Probe:
    numeric = draw.random() < 0.4
    return _one(draw, top, "ties", lambda n: draw.integers(1, 4, n), graded=draw.random() < 0.3, numeric=numeric)


def _order(draw: Draw, top: int) -> Probe:
    return _one(draw, top, "order", lambda n: draw.permutation(np.arange(2, 2 + 3 * n, 3))[:n] + 0.5)


def _near(draw: Draw, top: int) -> Probe:
    return _one(draw, top, "scores", lambda n: 0.5 + 1e-10 * draw.permutation(n))


def _nonpositive(draw: Draw, top: int) -> Probe:
    return _one(draw, top, "nonpositive", lambda n: np.arange(n) - n // 2)


def _grades(draw: Draw, top: int, grades: Sequence[float] = GRADES, about: str = "grades") -> Probe:
    users = USERS[: int(draw.integers(1, 3))]
    recs, truth = {}, {}
    for user in users:
        listed, relevant = _user(draw, top, graded=False, length=int(draw.integers(2, top + 4)))
        more = [name for name in listed if draw.random() < 0.6]
        names = list(dict.fromkeys([*relevant, *more]))
        recs[user] = _scored(listed)
        truth[user] = {name: grades[int(draw.integers(len(grades)))] for name in names}
    return Probe(recs, truth, about)


def _negative(draw: Draw, top: int) -> Probe:
    return _grades(draw, top, (-2, -1, 0, 1, 2), "negative")


def _unjudged(draw: Draw, top: int) -> Probe:
    return _grades(draw, top, (0, 0, 1), "unjudged")


def _duplicates(draw: Draw, top: int) -> Probe:
    listed, truth = _user(draw, top, graded=draw.random() < 0.3, length=int(draw.integers(2, top + 3)))
    for _ in range(int(draw.integers(1, 3))):
        listed.insert(int(draw.integers(1, len(listed) + 1)), listed[int(draw.integers(len(listed)))])
    hit = next(name for name in listed if name in truth)
    listed.insert(int(draw.integers(listed.index(hit) + 1, len(listed) + 1)), hit)
    return Probe({"u1": _scored(listed)}, {"u1": truth}, "duplicates")


def _ids(draw: Draw, top: int) -> Probe:
    """Ids that differ in a zero or in their case alone; what is relevant is a twin of what is listed, or the same."""
    listed = ["1", "02", "A", "b", "10"][: int(draw.integers(2, 6))]
    twins = {"1": "01", "02": "2", "A": "a", "b": "B", "10": "010"}
    relevant = [name if draw.random() < 0.3 else twins[name] for name in listed if draw.random() < 0.6]
    truth = dict.fromkeys(relevant or [twins[listed[-1]]], 1)
    return Probe({"u1": _scored([listed[at] for at in draw.permutation(len(listed))])}, {"u1": truth}, "ids")


def _exclude(draw: Draw, top: int) -> Probe:
    case = _one(draw, top, "exclude", None)
    rows = sorted(case.recs["u1"], key=lambda row: -row[1])
    away = [name for name, _ in rows if draw.random() < (0.2 if name in case.truth["u1"] else 0.6)]
    return case._replace(exclude={"u1": tuple(away or [rows[0][0]])}, recs={"u1": tuple(rows)})


def _paired(draw: Draw, top: int) -> Probe:
    case = _several(draw, top, "users", graded=False)
    users = list(case.truth)
    turned = users[1:] + users[:1]
    return case._replace(truth={user: case.truth[user] for user in turned})


def _long(draw: Draw, top: int) -> Probe:
    listed, truth = _user(draw, top, graded=False, length=int(draw.integers(20, 26)))
    rows = _scored(listed, draw.integers(1, 5, len(listed)))
    return Probe({"u1": _shuffled(draw, rows)}, {"u1": truth}, "long")


def mixed_case(draw: Draw, top: int) -> Probe:
    """Several users, equal scores, graded truth, zeros, and users without a list or truth."""
    users = USERS[: int(draw.integers(2, 5))]
    numeric = draw.random() < 0.2
    recs, truth = {}, {}
    for user in users:
        listed, relevant = _user(draw, top, graded=draw.random() < 0.5, numeric=numeric)
        scores = draw.permutation(len(listed)) + 1 if draw.random() < 0.6 else draw.integers(1, 4, len(listed))
        recs[user] = _shuffled(draw, _scored(listed, scores))
        truth[user] = {name: 0 if draw.random() < 0.15 else grade for name, grade in relevant.items()}
    case = Probe(recs, truth, "mixed")
    for table in ("recs", "truth"):
        if draw.random() < 0.25:
            case = _without(draw, case, table)
    return case


KINDS: dict[str, Callable[[Draw, int], Probe]] = {
    "no_recs": _no_recs,
    "no_truth": _no_truth,
    "ties": _ties,
    "order": _order,
    "scores": _near,
    "nonpositive": _nonpositive,
    "grades": _grades,
    "negative": _negative,
    "unjudged": _unjudged,
    "duplicates": _duplicates,
    "ids": _ids,
    "users": _paired,
    "exclude": _exclude,
    "long": _long,
    "mixed": mixed_case,
}
"""The kinds of cases that are about more than the formula."""


def small_cases() -> Iterator[Probe]:
    """Cases of up to three items, the smallest first."""
    for n_items in (1, 2, 3):
        names = LETTERS[:n_items]
        whole = [
            (listed, {name: grade for name, grade in zip(names, grades, strict=True) if grade is not None})
            for n_listed in range(1, n_items + 1)
            for listed in itertools.permutations(names, n_listed)
            for grades in itertools.product((None, 1, 2), repeat=n_items)
            if set(listed) | {name for name, grade in zip(names, grades, strict=True) if grade} == set(names)
            and "".join(listed) == names[:n_listed]
        ]
        plain: list[tuple[Any, Mapping[str, float]]] = [(listed, truth) for listed, truth in whole if truth]
        for listed, truth in plain:
            yield Probe({"u1": _scored(listed)}, {"u1": truth}, "formula")
        yield from _twists([(listed, truth) for listed, truth in plain if set(truth.values()) == {1}])


def _twists(lists: Sequence[tuple[Any, Mapping[str, float]]]) -> Iterator[Probe]:
    """The small lists with one thing out of the ordinary."""
    for listed, truth in lists:
        rows = _scored(listed)
        user = {"u1": rows}
        yield Probe({"u1": _scored(listed, [1] * len(listed))}, {"u1": truth}, "ties")
        yield Probe({"u1": _scored(listed, [1] * len(listed))[::-1]}, {"u1": truth}, "ties")
        yield Probe({"u1": rows[::-1]}, {"u1": truth}, "order")
        yield Probe({"u1": tuple((name, score * 19) for name, score in rows[::-1])}, {"u1": truth}, "order")
        yield Probe({"u1": tuple((name, 0.5 + score * 1e-10) for name, score in rows[::-1])}, {"u1": truth}, "scores")
        yield Probe({"u1": _scored(listed, [-at for at in range(len(listed))])}, {"u1": truth}, "nonpositive")
        yield Probe(user, {"u1": truth, "u2": {LETTERS[0]: 1}}, "no_recs")
        yield Probe({**user, "u2": ((LETTERS[0], 1.0),)}, {"u1": truth}, "no_truth")
        yield Probe({**user, "u2": ((LETTERS[0], 1.0),)}, {"u1": truth, "u2": {LETTERS[0]: 0}}, "no_truth")
        for name in LETTERS[:3]:
            yield Probe({**user, "u2": ((name, 1.0),)}, {"u1": truth, "u2": {LETTERS[0]: 1}}, "users")
            yield Probe({**user, "u2": ((name, 1.0),)}, {"u2": {LETTERS[0]: 1}, "u1": truth}, "users")
        nothing = {other: ((LETTERS[len(listed) % 3], 1.0),) for other in ("u2", "u3")}
        of_others = {other: {LETTERS[(len(listed) + 1) % 3]: 1} for other in nothing}
        yield Probe({**user, **nothing}, {"u1": truth, **of_others}, "users")
        for at in range(1, len(listed) + 1):
            twice = [*listed[:at], listed[0], *listed[at:]]
            yield Probe({"u1": _scored(twice)}, {"u1": truth}, "duplicates")
            yield Probe({"u1": _scored([*listed, listed[at - 1]])}, {"u1": truth}, "duplicates")
        for name in listed:
            if name not in truth:
                yield Probe(user, {"u1": truth}, "exclude", {"u1": (name,)})
        for grade in (0, 0.25, 0.5, 1.25, 3, 4, 5, -1):
            for name in LETTERS[:3]:
                if name in listed or name in truth:
                    yield Probe(user, {"u1": {**truth, name: grade}}, "grades")
        for names in (("9", "10", "11"), ("01", "1", "2"), ("a", "A", "b")):
            as_named = dict(zip(LETTERS, names, strict=False))
            of = {as_named[name]: grade for name, grade in truth.items()}
            for scores in (None, [1] * len(listed)):
                yield Probe({"u1": _scored([as_named[name] for name in listed], scores)}, {"u1": of}, "ids")
