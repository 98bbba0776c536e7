"""Candidates: what a printed number could be, and the protocols under which it could have been taken."""

from __future__ import annotations

import dataclasses
import itertools
import re
from decimal import Decimal
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from atkay.audit.variants import combinations, plain
from atkay.dialects.dialect import list_dialects
from atkay.errors import AtkayError, ProtocolError, SpecError, shown
from atkay.evaluation.request import Request
from atkay.evaluation.spoken import meaning, names_of
from atkay.metrics.metric import Metric, RunMetric
from atkay.metrics.registry import list_metrics
from atkay.metrics.spec import parse
from atkay.protocol import Protocol, fields_about
from atkay.tables import FILTERS
from atkay.words import words_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from atkay.audit.evidence import Evidence
    from atkay.core.types import Floats

OFF_BY_ONE, PERCENT, OTHER, FAR = 3, 2, 4, 4
"""What it costs an explanation to say that the cutoff was meant otherwise, that shares were printed as percent, or that
the number is another metric; a word that is not the default costs 1. A metric beyond FAR is not looked at."""

IN_PERCENT = " in percent"

CONFUSED = ("precision", "recall", "hit", "map", "mrr", "ndcg")
"""Metrics that are printed under each other's names."""

READING, AT_ONCE = 2, 3
"""How many words may differ at once in how lists are read, and in the whole protocol: more explain anything."""

LEVELS = 10
"""The lowest grades are tried as the threshold, up to this many."""

REFUSING = "error"
"""The word of any field by which data are refused: nothing was printed."""

SEEDS = (0, 1, 42)

LARGEST = 1e300
"""Reported numbers are smaller."""
NEAR = 0.2
"""A number without meaning could as well be this share of it higher or lower."""

EXACT = 1e-9
"""No number has more digits than that: what is computed in another order differs in the last ones."""

POPULATION = (*fields_about("who"), "average_over")
"""Fields that decide which users count, and leave the lists unchanged."""

ORDER = (
    "no_recs",
    "no_truth",
    "ties",
    "scores",
    "nonpositive",
    "unlisted",
    "unjudged",
    "negative",
    "min_relevance",
    "gains",
    "average_over",
    *FILTERS,
)
"""Where changes of two fields give the same numbers, that of the later one is named; any other field comes first."""


class Candidate(NamedTuple):
    """A metric that a printed number could be, in percent or not, and how far-fetched that is; ``step`` is what both
    the number and the metric move by at least, 0 where one of them can have any value.
    """

    metric: Metric
    percent: bool
    cost: int
    step: float = 0.0

    @property
    def scale(self) -> int:
        """By what a share is multiplied before it is printed."""
        return 100 if self.percent else 1

    @property
    def words(self) -> str:
        """The spec, and whether it is in percent."""
        return f"{self.metric}{IN_PERCENT if self.percent else ''}"


class Printed(NamedTuple):
    """A number as it was printed: its value, half of its last digit, and whether a % follows."""

    value: float
    tolerance: float
    percent: bool = False

    @classmethod
    def of(cls, name: str, given: object) -> Printed:
        """A number, or its text, which also tells how many digits it has."""
        text = "" if isinstance(given, int) and abs(given) > LARGEST else str(given).strip()
        if not re.fullmatch(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)(e[+-]?[0-9]+)?\s*%?", text, re.IGNORECASE):
            how = "Use a decimal point." if "," in text else "Pass it as it was printed."
            raise SpecError(f"reconcile: cannot read {shown(given)} as the value of {name}. {how}")
        number = Decimal(text.removesuffix("%"))
        value, exponent = float(number), int(number.as_tuple().exponent)
        if abs(value) > LARGEST:
            raise SpecError(f"reconcile: {shown(given)} is too large for {name}. Pass it as it was printed.")
        return cls(value, max(0.5 * 10.0 ** min(exponent, 0), EXACT * max(1.0, abs(value))), text.endswith("%"))

    def matches(self, value: Floats) -> Any:
        """Whether a value is printed so."""
        return np.abs(value - self.value) <= self.tolerance * (1 + 1e-9)

    def luck(self, value: Floats, step: Floats) -> Floats:
        """The chance that a number without meaning, which could lie around this one just as well, matches each value.

        Digits beyond the step say nothing: a share of ten users is 0.7 however many zeros follow.
        """
        reach = np.maximum(self.tolerance, step / 2)
        away = np.maximum(NEAR * abs(self.value), 10 * reach)
        low, high = np.maximum(self.value - away, min(self.value, 0.0)), self.value + away
        inside = np.minimum(value + reach, high) - np.maximum(value - reach, low)
        lucky: Floats = np.maximum(inside, 0.0) / (high - low)
        return lucky


def meant_by(name: str) -> Metric:
    """The metric of a spec, or of a name that a library has for it."""
    try:
        return parse(name)
    except SpecError:
        for dialect in list_dialects().values():
            if dialect.meaning(name)[0]:
                return meaning(dialect, name)[0]
        raise


def reconcilable(name: str) -> Metric:
    """The metric of a name, ours or a library's own, where it can be reconciled."""
    metric = meant_by(name)
    if isinstance(metric, RunMetric) or metric.needs or not metric.needs_truth:
        raise SpecError(f"reconcile: '{name}' needs more than recs and truth. Only accuracy metrics can be reconciled.")
    if isinstance(metric.k, tuple):
        raise SpecError(f"reconcile: name one cutoff at a time, got '{name}'.")
    return metric


def spoken_of(
    printed: Metric, known: Mapping[str, Any], evidence: Evidence, base: Protocol
) -> dict[tuple[str, str], list[tuple[Metric, Protocol]]]:
    """What each library can mean by the metric, and under which protocol; by library and what its names say of that."""
    same = {name: getattr(base, name) for name in FILTERS}
    if evidence.duplicated:
        same["duplicates"] = "first"
    meanings: dict[tuple[str, str], list[tuple[Metric, Protocol]]] = {}
    for library, dialect in list_dialects().items():
        for own, fields in names_of(dialect, plain(printed)):
            try:
                request = Request.of(own, None, known, dialect=library)
            except AtkayError:
                continue
            [metric], settled = request.metrics, request.protocol
            if (evidence.negative and settled.negative == "error") or settled.aggregate != "mean":
                continue
            if "min_relevance" not in known and _changes_nothing(settled.min_relevance, metric, evidence):
                settled = settled.with_fields(min_relevance=None, gains="relevant")
            meanings.setdefault((library, fields), []).append((metric, settled.with_fields(**same)))
    return meanings


def _changes_nothing(threshold: float | None, metric: Metric, evidence: Evidence) -> bool:
    """Whether a threshold makes the same items relevant as none does, and no gain counts from it."""
    if threshold is None or not evidence.levels:
        return True
    if threshold == 0:
        return not evidence.zeros
    return threshold <= evidence.levels[0] and getattr(metric, "gain", "") != "exp2_above"


def candidates_of(printed: Metric, number: Printed, spoken: Iterable[Metric]) -> list[Candidate]:
    """What a number of that name could be."""
    cutoffs: set[int | None] = {printed.k}  # type: ignore[arg-type]  # there is one
    if isinstance(printed.k, int):
        cutoffs |= {printed.k - 1, printed.k + 1, None} - {0}
    costs: dict[Metric, int] = {}
    for name, cls in list_metrics().items():
        if cls is type(printed) or name in CONFUSED:
            start = printed if cls is type(printed) else cls()
            for k in sorted(cutoffs, key=str) if start.cuts else [None]:
                costs |= {each: _cost(each, printed) for each in combinations(dataclasses.replace(start, k=k))}
    near = {each: cost for each, cost in costs.items() if cost <= FAR}
    shares = [
        Candidate(each, False, cost) for each, cost in (near | {each: _cost(each, printed) for each in spoken}).items()
    ]
    if number.percent:
        return [each._replace(percent=True) for each in shares]
    percent = [Candidate(each.metric, True, each.cost + PERCENT) for each in shares if each.metric.bounded]
    return shares + (percent if number.value > 0 else [])


def together(singles: Iterable[Metric]) -> list[Metric]:
    """The metrics, those that differ in nothing but the cutoff as one."""
    cutoffs: dict[Metric, list[int]] = {}
    whole = {}
    for metric in singles:
        if metric.k is None:
            whole[metric] = metric
        else:
            cutoffs.setdefault(dataclasses.replace(metric, k=None), []).extend(metric.cutoffs)
    return [*whole, *(dataclasses.replace(metric, k=tuple(ks)) for metric, ks in cutoffs.items())]


def _cost(metric: Metric, printed: Metric) -> int:
    """How far-fetched it is that the one is meant where the other was printed."""
    same = type(metric) is type(printed)
    start = printed if same else type(metric)()
    names = [each.name for each in dataclasses.fields(start) if each.name != "k"]
    words = sum(bool(getattr(metric, name) != getattr(start, name)) for name in names)
    return words + OFF_BY_ONE * (metric.k != printed.k and start.cuts) + OTHER * (not same)


def protocols_of(evidence: Evidence, base: Protocol, fixed: set[str]) -> list[Protocol]:
    """The protocols that could matter, the simplest first."""
    choices = {name: [{}, *others] for name, others in _choices(evidence, base).items() if name not in fixed}
    first = base.with_fields(duplicates="first") if evidence.duplicated and "duplicates" not in fixed else base
    protocols = []
    for chosen in itertools.product(*choices.values()):
        odd = {name for name, words in zip(choices, chosen, strict=True) if words}
        if len(odd) <= AT_ONCE and len(odd.difference(POPULATION)) <= READING:
            fields: dict[str, Any] = {name: value for words in chosen for name, value in words.items()}
            protocols.append((len(fields), first.with_fields(**fields)))
    return [protocol for _, protocol in sorted(protocols, key=lambda each: each[0])]


def _choices(evidence: Evidence, base: Protocol) -> dict[str, list[dict[str, Any]]]:
    """The alternatives of each protocol field that make a difference on this data.

    Every word of a field is one, unless the field is about the task, which is known, or the word refuses data.
    """
    score = evidence.tables["recs"].score if evidence.tables["recs"].rank is None else None
    matters = {
        "ties": score is not None and evidence.tied(base.with_fields(duplicates="first")),
        "scores": score is not None and str(score.dtype) == "Float64",
        "nonpositive": score is not None and bool((score.to_numpy() <= 0).any()),
        "negative": evidence.negative,
        "gains": base.min_relevance is not None,
    }
    choices = {name: _words(name, base) for name in fields_about("who", "scores", "lists") if matters.get(name, True)}
    levels = evidence.levels[1:LEVELS]
    choices["min_relevance"] = [{"min_relevance": level} for level in [0.0] * evidence.zeros + levels]
    choices["min_relevance"] += [{"min_relevance": level, "gains": "positive"} for level in levels]
    choices["duplicates"] = [{"duplicates": "counted"}] if evidence.repeated else []
    choices["average_over"] = [{"average_over": name} for name in evidence.coarser]
    for name in FILTERS:
        if name in evidence.tables:
            choices[name] = [{name: None if getattr(base, name) else getattr(evidence.protocol, name)}]
    places = {name: place for place, name in enumerate(ORDER)}
    return dict(sorted(choices.items(), key=lambda choice: places.get(choice[0], -1)))


def _words(name: str, base: Protocol) -> list[dict[str, Any]]:
    """The other words of a field that go with the rest of the protocol; what needs a seed comes last, with several."""
    words: list[dict[str, Any]] = []
    seeded: list[dict[str, Any]] = []
    for word in words_of(Protocol.__dataclass_fields__[name]):
        fields: dict[str, Any] = {name: word}
        try:
            changed = base.with_fields(**fields)
        except ProtocolError:
            continue
        if changed.trait(name, "by") == "hash":
            seeded += [fields | {"seed": seed} for seed in SEEDS]
        elif changed != base and word != REFUSING:
            words.append(fields)
    return words + seeded
