"""Reconcile: which conventions give a number that somebody printed?"""

from __future__ import annotations

import dataclasses
import itertools
import math
import warnings
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from atkay.audit.variants import combinations
from atkay.dialects.base import dialects
from atkay.errors import AtkayError, PopulationError, SpecError, TiesWarning
from atkay.evaluate import evaluate
from atkay.grid import Grid
from atkay.metrics.base import Metric, RunMetric, metrics, parse
from atkay.protocol import Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from atkay.result import Result

OFF_BY_ONE, PERCENT, OTHER = 3, 2, 4
"""What it costs an explanation to say that the cutoff was meant otherwise, that shares were printed as percent, or that
the number is another metric; a word that is not the default costs 1."""


CONFUSED = ("precision", "recall", "hit", "map", "mrr", "ndcg")
"""Metrics that are printed under each other's names."""


class Candidate(NamedTuple):
    """A metric that a printed number could be, in percent or not, and how far-fetched that is."""

    metric: Metric
    percent: bool
    cost: int

    @property
    def words(self) -> str:
        """The spec, and whether it is in percent."""
        return f"{self.metric}{' in percent' if self.percent else ''}"


class Printed(NamedTuple):
    """A number as it was printed: its value, and half of its last digit."""

    value: float
    tolerance: float

    @classmethod
    def of(cls, name: str, given: object) -> Printed:
        """A number, or its text, which also tells how many digits it has."""
        try:
            number = Decimal(str(given).strip())
        except InvalidOperation as error:
            raise SpecError(
                f"reconcile: {name} is {given!r}, which is no number. Pass it as it was printed."
            ) from error
        exponent = number.as_tuple().exponent
        if not isinstance(exponent, int):
            raise SpecError(f"reconcile: {name} is {given!r}, which is no finite number.")
        return cls(float(number), 0.5 * 10.0 ** min(exponent, 0))

    def matches(self, value: float) -> bool:
        """Whether a value is printed so."""
        return abs(value - self.value) <= self.tolerance * (1 + 1e-9)


@dataclass(frozen=True)
class Explanation:
    """One protocol, and for each printed number the conventions that give it under that protocol.

    ``cost`` counts the words that are not the default. ``libraries`` compute all of it so.
    """

    protocol: Mapping[str, Any]
    numbers: Mapping[str, tuple[str, float]]
    cost: int
    libraries: tuple[str, ...]

    def __str__(self) -> str:
        said = ", ".join(f"{name}={value}" for name, value in self.protocol.items()) or "the default protocol"
        numbers = "; ".join(f"{name} is {spec} ({value:.6g})" for name, (spec, value) in self.numbers.items())
        return f"{numbers}; {said}" + (f"; as {', '.join(self.libraries)}" if self.libraries else "")


@dataclass(frozen=True)
class Reconciliation:
    """The explanations of printed numbers, the simplest first.

    ``nearest`` has, where nothing matches, the closest value of each number. ``chance`` is how many explanations
    numbers that mean nothing would find on average: far below 1, a match means something. ``tried`` counts the values
    that were compared.
    """

    explanations: tuple[Explanation, ...]
    nearest: Mapping[str, tuple[str, float]]
    chance: float
    tried: int

    def __bool__(self) -> bool:
        return bool(self.explanations)

    def __iter__(self) -> Iterator[Explanation]:
        return iter(self.explanations)

    def __len__(self) -> int:
        return len(self.explanations)

    @property
    def verdict(self) -> str:
        """What the search says, in a sentence."""
        if not self.explanations:
            near = "; ".join(f"{name}: nearest is {spec} ({value:.6g})" for name, (spec, value) in self.nearest.items())
            return f"Nothing matches among {self.tried:,} values. {near}."
        weak = "too many to prove anything. Give more numbers, or more digits."
        means = weak if self.chance > 0.05 else "these mean something."
        return f"Numbers without meaning would find {self.chance:.2g} explanations by chance: {means}"

    def to_markdown(self) -> str:
        """The explanations in Markdown."""
        return self._grid().markdown() + f"\n\n{self.verdict}"

    def __repr__(self) -> str:
        return f"{self._grid().text()}\n\n{self.verdict}" if self.explanations else self.verdict

    def _repr_html_(self) -> str:
        return f"{self._grid().html()}<p>{self.verdict}</p>"

    def _grid(self) -> Grid:
        rows = [
            (
                ", ".join(spec for spec, _ in each.numbers.values()),
                ", ".join(f"{name}={value}" for name, value in each.protocol.items()) or "the default",
                str(each.cost),
                ", ".join(each.libraries),
            )
            for each in self.explanations[:20]
        ]
        return Grid(("metrics", "protocol", "words", "libraries"), rows, right=("words",))


def reconcile(recs: Any, truth: Any, reported: Mapping[str, object], **given: Any) -> Reconciliation:
    """Find the conventions that give printed numbers: words of the metrics, and one protocol for all of them.

    ``reported`` has the numbers under the names that they were printed with; given as text, ``"0.2447"``, their digits
    set the tolerance. ``given`` is what :func:`evaluate` takes besides; protocol fields that are given stay so.
    Looked at are all words of each metric, users without lists or truth, ties, what is not judged or not listed,
    cutoffs off by one, percent, pooling, and other metrics under the same name; not thresholds and exclusions, which
    can be given.

    Examples
    --------
    Three users, one of whom has no list. RePlay divides by min(k, R) and counts everybody.

    >>> recs = {"A": ["i1", "i9", "i2", "i8", "i3"], "B": ["i1", "i7"]}
    >>> truth = {"A": ["i1", "i2", "i3", "i4", "i5", "i6"], "B": ["i1", "i2"], "C": ["i1"]}
    >>> found = atkay.reconcile(recs, truth, {"map@5": "0.3178", "ndcg@5": "0.4177"})
    >>> "replay" in found.explanations[0].libraries, found.explanations[0].numbers["map@5"][0]
    (True, 'map(per=capped)@5')
    """
    printed = {name: Printed.of(name, value) for name, value in reported.items()}
    if not printed:
        raise SpecError("reconcile: no number was given. Pass {'map@10': '0.2447'}.")
    candidates = {name: _candidates(name, number) for name, number in printed.items()}
    asked = list(dict.fromkeys(str(each.metric) for some in candidates.values() for each in some))
    spoken = _in_dialects(recs, truth, list(printed), given)
    explanations, chance, tried = [], 0.0, 0
    nearest: dict[str, tuple[str, float]] = {}
    for protocol, result in _results(recs, truth, asked, given):
        luck = 1.0
        matching: dict[str, list[tuple[Candidate, float]]] = {}
        for name, number in printed.items():
            values = [(each, result[each.metric] * (100 if each.percent else 1)) for each in candidates[name]]
            values = [(each, value) for each, value in values if not math.isnan(value)]
            tried += len(values)
            matching[name] = [(each, value) for each, value in values if number.matches(value)]
            luck *= _luck([value for _, value in values], number)
            for each, value in values:
                if name not in nearest or abs(value - number.value) < abs(nearest[name][1] - number.value):
                    nearest[name] = (each.words, value)
        chance += luck
        explanations += [_explanation(protocol, chosen, spoken) for chosen in _choices(matching)]
    explanations.sort(key=lambda each: (each.cost, -len(each.libraries), str(each)))
    return Reconciliation(tuple(explanations), {} if explanations else nearest, chance, tried)


def _choices(matching: Mapping[str, list[tuple[Candidate, float]]]) -> Iterator[dict[str, tuple[Candidate, float]]]:
    """For each number its simplest matches, combined; nothing where a number has none."""
    best = [
        [(name, one) for one in found if one[0].cost == min(each.cost for each, _ in found)]
        for name, found in matching.items()
    ]
    for combined in itertools.islice(itertools.product(*best), 8):
        yield dict(combined)


def _candidates(name: str, number: Printed) -> list[Candidate]:
    """What a number of that name could be."""
    asked = parse(name)
    if isinstance(asked, RunMetric) or asked.needs:
        raise SpecError(f"reconcile: '{name}' needs more than lists and truth; accuracy metrics can be reconciled.")
    default = type(asked)()
    cutoffs = {asked.k: 0}
    if isinstance(asked.k, int):
        cutoffs |= {k: OFF_BY_ONE for k in (asked.k - 1, asked.k + 1, None) if k is None or k > 0}
    if isinstance(asked.k, tuple):
        raise SpecError(f"reconcile: one number at a time, given was '{name}'.")
    found = []
    for cls in metrics().values():
        same = cls is type(asked)
        if issubclass(cls, RunMetric) or (
            not same and cls.name not in ("precision", "recall", "hit", "map", "mrr", "ndcg")
        ):
            continue
        start = asked if same else cls()
        for k, off in cutoffs.items() if start.cuts else [(None, 0)]:
            for metric in combinations(dataclasses.replace(start, k=k)):
                cost = _distance(metric, default if same else cls()) + off + (0 if same else OTHER)
                found.append(Candidate(metric, False, cost))
    if number.value > 1:
        found += [Candidate(each.metric, True, each.cost + PERCENT) for each in found if each.metric.bounded]
    return found


def _distance(metric: Metric, default: Metric) -> int:
    return sum(getattr(metric, name) != value for name, value in vars(default).items() if name != "k")


def _results(
    recs: Any, truth: Any, asked: Sequence[str], given: Mapping[str, Any]
) -> Iterator[tuple[dict[str, Any], Result]]:
    """The numbers under every protocol that changes something, the default's first."""
    fields = {each.name for each in dataclasses.fields(Protocol)}
    fixed = {name: value for name, value in given.items() if name in fields}
    first = _evaluated(recs, truth, asked, {**given, "no_recs": fixed.get("no_recs", "zero")})
    people = first.population
    choices: dict[str, list[Any]] = {
        "no_recs": ["zero", "skip", "dcg_zero"] if people.without_list else ["zero"],
        "no_truth": ["skip", "zero", "one", "judged"] if people.without_truth else ["skip"],
        "ties": ["given", "item", "item_desc", "text_desc", "best", "worst", "expected"] if people.tied else ["given"],
        "unlisted": ["missed", "ignored"],
        "unjudged": ["irrelevant", "drop"],
    }
    seen: dict[bytes, dict[str, Any]] = {}  # another protocol with the same numbers is no other explanation
    free = [name for name in choices if name not in fixed]
    for chosen in itertools.product(*(choices[name] for name in free)):
        protocol = dict(zip(free, chosen, strict=True))
        if sum(value != choices[name][0] for name, value in protocol.items()) > 3:
            continue  # four odd choices at once explain anything
        said = {name: value for name, value in protocol.items() if value != choices[name][0]}
        try:
            result = _evaluated(recs, truth, asked, {**given, **protocol})
        except (PopulationError, SpecError):
            continue
        key = np.round(list(result.means.values()), 12).tobytes()
        if seen.setdefault(key, said) is said:
            yield said, result


def _evaluated(recs: Any, truth: Any, asked: Sequence[str], given: Mapping[str, Any]) -> Result:
    if given.get("ties") == "expected" and not given.get("dialect"):
        asked = [spec for spec in asked if parse(spec).averages]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TiesWarning)
        return evaluate(recs, truth, list(asked), **given)


def _explanation(
    protocol: Mapping[str, Any],
    chosen: Mapping[str, tuple[Candidate, float]],
    spoken: Mapping[str, Mapping[str, float]],
) -> Explanation:
    numbers = {name: (each.words, value) for name, (each, value) in chosen.items()}
    cost = len(protocol) + sum(each.cost for each, _ in chosen.values())
    libraries = tuple(
        library
        for library, values in spoken.items()
        if all(abs(values[name] - value) <= 1e-9 for name, (_, value) in numbers.items())
    )
    return Explanation(dict(protocol), numbers, cost, libraries)


def _in_dialects(recs: Any, truth: Any, names: Sequence[str], given: Mapping[str, Any]) -> dict[str, dict[str, float]]:
    """What each library that has these metrics would print."""
    found = {}
    for library in dialects():
        try:
            result = _evaluated(recs, truth, names, {**given, "dialect": library})
        except AtkayError:
            continue
        found[library] = {name: result[name] for name in names}
    return found


def _luck(values: Sequence[float], number: Printed) -> float:
    """The chance that a number somewhere between the lowest and the highest value matches one of them."""
    apart = np.unique(np.round(values, 12))
    span = float(apart[-1] - apart[0]) + 2 * number.tolerance if len(apart) else 0.0
    if not span:
        return 0.0
    covered = np.minimum(np.diff(apart), 2 * number.tolerance).sum() + 2 * number.tolerance
    return float(min(covered / span, 1.0))
