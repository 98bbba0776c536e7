"""Reconcile: which conventions give a reported number?"""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from atkay.audit.candidates import (
    IN_PERCENT,
    LEVELS,
    Candidate,
    Printed,
    candidates_of,
    meant_by,
    protocols_of,
    reconcilable,
    spoken_of,
    together,
)
from atkay.dialects.dialect import newest
from atkay.errors import ProtocolError, SpecError, number_of, shown
from atkay.evaluation.request import Request
from atkay.metrics.spec import parse
from atkay.protocol import Protocol
from atkay.text.grid import Grid, Tabular
from atkay.text.help import spell_out
from atkay.text.phrases import argument

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Unpack

    import polars as pl

    from atkay.audit.evidence import Evidence
    from atkay.core.types import Floats
    from atkay.inputs.columns import Columns
    from atkay.metrics.metric import Metric
    from atkay.text.arguments import ProtocolFields

MEANS = {
    0.5: "no evidence; give more numbers or more digits",
    0.01: "weak evidence; give more numbers or more digits",
    -1: "strong evidence",
}
"""The strength of evidence where more matches than this are expected by chance."""

SHOWN = 20
"""The most explanations printed."""

COMBINED = 8
"""The most combinations of equally simple metrics shown under one protocol."""


@dataclass(frozen=True)
class Explanation:
    """A protocol and, for each reported number, the metric that gives it.

    ``protocol`` holds the fields that differ from the default or the given protocol; ``cost`` counts all changes.
    ``libraries`` use exactly these conventions. ``chance`` is the number of explanations this simple, or simpler,
    expected by chance.
    """

    protocol: Mapping[str, Any]
    numbers: Mapping[str, tuple[str, float]]
    cost: int
    libraries: tuple[str, ...]
    chance: float

    def __str__(self) -> str:
        numbers = "; ".join(f"{name} = {spec} ({value:.6g})" for name, (spec, value) in self.numbers.items())
        return f"{numbers}; {self.rules}" + (f"; used by {', '.join(self.libraries)}" if self.libraries else "")

    @property
    def specs(self) -> list[str]:
        """The spec of each number."""
        return [spec for spec, _ in self.numbers.values()]

    @property
    def values(self) -> list[float]:
        """The value of each number."""
        return [value for _, value in self.numbers.values()]

    @property
    def rules(self) -> str:
        """The fields of the protocol."""
        return ", ".join(f"{name}={value}" for name, value in self.protocol.items()) or "default protocol"

    @property
    def words(self) -> list[str]:
        """The explanation in sentences."""
        return [_in_words(name, spec) for name, (spec, _) in self.numbers.items()] + [
            _rule_in_words(name, value) for name, value in self.protocol.items()
        ]


@dataclass(frozen=True, repr=False)
class Reconciliation(Tabular):
    """The explanations of reported numbers, the simplest first.

    ``matches`` counts the combinations of conventions that match, ``tried`` the values compared, and ``chance`` the
    matches expected by chance: far below 1, a match is evidence. Without a match, ``nearest`` holds the closest value
    of each number and ``closest`` the protocol that comes closest to all. ``searched`` lists what was tried: the values
    of each protocol field, and the metrics of each number.
    """

    explanations: tuple[Explanation, ...]
    matches: int
    chance: float
    tried: int
    searched: Mapping[str, tuple[Any, ...]]
    nearest: Mapping[str, tuple[str, float]]
    closest: Explanation | None

    def __bool__(self) -> bool:
        return bool(self.explanations)

    def __iter__(self) -> Iterator[Explanation]:
        return iter(self.explanations)

    def __len__(self) -> int:
        return len(self.explanations)

    @property
    def verdict(self) -> str:
        """The conclusion in words."""
        if not self.explanations:
            near = "; ".join(
                f"{name}: the nearest is {spec} ({value:.6g})" for name, (spec, value) in self.nearest.items()
            )
            together = f" Closest under one protocol: {self.closest}." if self.closest else ""
            return f"No match among {self.tried:,} values. {near}.{together}"
        alike = sum(each.cost == self.explanations[0].cost for each in self.explanations)
        several = f", {alike} of them equally simple: the numbers cannot tell these apart" if alike > 1 else ""
        luck = f"expected matches by chance: {self.chance:.2g}"
        means = next(words for most, words in MEANS.items() if self.chance > most)
        return f"{number_of(self.matches, 'combination')} of conventions matched{several}; {luck} ({means})."

    @property
    def ruled_out(self) -> list[str]:
        """What was tried, a line per protocol field and per number."""
        return [f"{name}: {', '.join(map(str, words))}" for name, words in self.searched.items()]

    def to_polars(self) -> pl.DataFrame:
        """A row per explanation: specs and values of the numbers, protocol, words that differ, chance, libraries."""
        import polars as pl

        rows = [
            (each.specs, each.values, each.rules, each.cost, each.chance, list(each.libraries))
            for each in self.explanations
        ]
        schema: dict[str, Any] = {
            "metrics": pl.List(pl.String),
            "values": pl.List(pl.Float64),
            "protocol": pl.String,
            "words": pl.Int64,
            "chance": pl.Float64,
            "libraries": pl.List(pl.String),
        }
        return pl.DataFrame(rows, schema=schema, orient="row")

    def _notes(self) -> list[str]:
        if self.explanations:
            return ["First match: " + "; ".join(self.explanations[0].words) + ".", self.verdict]
        return [self.verdict, "Ruled out:\n" + "\n".join(f"- {line}" for line in self.ruled_out)]

    def _grid(self) -> Grid:
        rows = [
            (", ".join(each.specs), each.rules, str(each.cost), f"{each.chance:.2g}", ", ".join(each.libraries))
            for each in self.explanations[:SHOWN]
        ]
        header = ("metrics", "protocol", "changes", "by chance", "libraries")
        return Grid(header, rows, right=header[2:4])


@spell_out(Protocol)
def reconcile(
    recs: Any,
    truth: Any,
    reported: Mapping[str, object],
    *,
    columns: Columns | Mapping[str, Columns] | None = None,
    train: Any = None,
    exclude: Any = None,
    candidates: Any = None,
    protocol: Protocol | None = None,
    **fields: Unpack[ProtocolFields],
) -> Reconciliation:
    """Find the conventions behind reported numbers: options of the metrics, and a common protocol or that of a library.

    The search covers all options of each metric, cutoffs off by one, percentages, and other metrics under the same
    name; and in the protocol users without lists or truth, ties, thresholds, exclusions, unjudged and unlisted items,
    float32 scores, and averages over a coarser key. At most three protocol fields differ at once, unless a library
    does.

    Parameters
    ----------
    recs, truth, columns
        As for :func:`evaluate`.
    reported
        The reported numbers by metric, in our names or a library's; as text, ``"0.2447"`` or ``"24.47%"``, their digits
        set the tolerance.
    train
        The training interactions; the search tries with and without excluding them.
    exclude, candidates
        As for :func:`evaluate`; the search tries with and without them.
    protocol, **fields
        The known part of the protocol, which is not searched.

    Examples
    --------
    Three users, one of whom has no list. RePlay divides by min(k, R) and counts all users.

    >>> recs = {"A": ["i1", "i9", "i2", "i8", "i3"], "B": ["i1", "i7"]}
    >>> truth = {"A": ["i1", "i2", "i3", "i4", "i5", "i6"], "B": ["i1", "i2"], "C": ["i1"]}
    >>> reading = atkay.reconcile(recs, truth, {"map@5": "0.3178", "ndcg@5": "0.4177"})
    >>> "replay" in reading.explanations[0].libraries, reading.explanations[0].numbers["map@5"][0]
    (True, 'map(per=capped)@5')
    """
    from atkay.audit.evidence import Evidence
    from atkay.tables import SIDE

    rest: dict[str, Any] = {**fields}
    for name in ("dialect", *SIDE, "slices", "weights", "cluster", "sampled"):
        if rest.pop(name, None) is not None:
            raise ProtocolError(f"reconcile: {name}= is not supported; it searches conventions of recs and truth only.")
    if not isinstance(reported, Mapping) or not reported:
        raise SpecError(
            f"reconcile: pass the reported values by name, such as {{'map@10': '0.2447'}}, got {shown(reported)}."
        )
    printed = {name: Printed.of(name, value) for name, value in reported.items()}
    named = {name: reconcilable(name) for name in printed}
    _refuse_twice(named)
    given = {"exclude": exclude, "candidates": candidates}
    filters = {name: table for name, table in given.items() if table is not None}
    known = Request.of(list(named.values()), protocol).protocol.changes(Protocol()) | rest
    aggregate = known.get("aggregate", "mean")
    if not isinstance(aggregate, str) or aggregate != "mean":
        chosen = argument("aggregate", aggregate) if isinstance(aggregate, str) else argument("aggregate")
        raise ProtocolError(f"reconcile: {chosen} is not supported; it reproduces means.")
    maybe = {} if train is None or "exclude" in filters else {"exclude": train}
    evidence = Evidence.read(recs, truth, Protocol().with_fields(**known), columns, filters | maybe)
    base = dataclasses.replace(evidence.protocol, exclude=None) if maybe else evidence.protocol
    spoken = {name: spoken_of(metric, known, evidence, base) for name, metric in named.items()}
    candidates = {
        name: candidates_of(metric, printed[name], [meant for options in spoken[name].values() for meant, _ in options])
        for name, metric in named.items()
    }
    metrics = together(each.metric for options in candidates.values() for each in options)
    place = {one: at for at, one in enumerate(one for metric in metrics for one in metric.split())}
    step = dict(zip(place, evidence.steps(metrics).tolist(), strict=True))
    candidates = {
        name: [each._replace(step=min(step[each.metric], step[named[name]]) * each.scale) for each in options]
        for name, options in candidates.items()
    }
    of_libraries = (settled for meanings in spoken.values() for options in meanings.values() for _, settled in options)
    protocols = dict.fromkeys([*protocols_of(evidence, base, set(known)), *of_libraries])
    values = dict(evidence.numbers(metrics, protocols))
    numbers = {settled: values[settled] for settled in protocols}
    cases = _cases(candidates, place, base, numbers)
    libraries = _libraries(spoken, candidates, place, numbers, cases)
    searched = _searched(cases, candidates, evidence)
    return _concluded(printed, list(dict.fromkeys(cases.values())), libraries, searched)


def _refuse_twice(names: Iterable[str]) -> None:
    """One number under two names would count as two that agree."""
    first: dict[str, str] = {}
    for name in names:
        try:
            plain = str(parse(name))
        except SpecError:
            plain = name.lower()  # a library's own
        if first.setdefault(plain, name) != name:
            raise SpecError(f"reconcile: {first[plain]} and {name} are the same metric. Give it once.")


Choice = Mapping[str, tuple[Candidate, float]]
"""For each number one of its candidates, and the value that it has."""


@dataclass(frozen=True, eq=False)
class Case:
    """What differs from the given protocol, and for each number the different values that its candidates then have.

    Of candidates with the same value the simplest is kept.
    """

    rules: Mapping[str, Any]
    values: Mapping[str, tuple[Floats, Sequence[Candidate]]]

    def matching(self, printed: Mapping[str, Printed]) -> dict[str, list[tuple[Candidate, float]]]:
        """The candidates that give each number."""
        return {
            name: [(options[at], float(values[at])) for at in np.flatnonzero(printed[name].matches(values)).tolist()]
            for name, (values, options) in self.values.items()
        }

    def closest(self, printed: Mapping[str, Printed]) -> tuple[float, Choice]:
        """How far off the worst number is, in last digits, where each is taken for its nearest candidate; and these."""
        away, chosen = [], {}
        for name, (values, options) in self.values.items():
            distance = np.abs(values - printed[name].value)
            at = int(np.argmin(distance))
            away.append(float(distance[at] / printed[name].tolerance))
            chosen[name] = options[at], float(values[at])
        return max(away), chosen

    def luck(self, printed: Mapping[str, Printed]) -> Floats:
        """The matches expected by chance in this case, by cost."""
        by_cost: Floats = np.eye(1, len(self.rules) + 1, len(self.rules))[0]
        for name, (values, options) in self.values.items():
            lucky = printed[name].luck(values, np.array([each.step for each in options]))
            by_cost = np.convolve(by_cost, np.bincount([each.cost for each in options], lucky))
        return by_cost


def _cases(
    candidates: Mapping[str, Sequence[Candidate]],
    place: Mapping[Metric, int],
    base: Protocol,
    numbers: Mapping[Protocol, Floats],
) -> dict[Protocol, Case]:
    """The case of each protocol that has numbers; another protocol with the same numbers is no other case."""
    cases: dict[bytes, Case] = {}
    of_protocol = {}
    for protocol, values in numbers.items():
        key = np.round(values, 12).tobytes()
        if key not in cases:
            of_name = {}
            for name, options in candidates.items():
                scaled = values[[place[each.metric] for each in options]] * [each.scale for each in options]
                by_value = np.lexsort((np.array([each.cost for each in options]), np.round(scaled, 12)))
                by_value = by_value[~np.isnan(scaled[by_value])]
                first = by_value[np.diff(np.round(scaled[by_value], 12), prepend=-np.inf) > 0]
                of_name[name] = (scaled[first], [options[at] for at in first])
            cases[key] = Case(protocol.changes(base), of_name)
        if all(len(values) for values, _ in cases[key].values.values()):
            of_protocol[protocol] = cases[key]
    return of_protocol


class Library(NamedTuple):
    """What a library means by each number and would print for it, and the words of its protocol."""

    name: str
    chosen: Choice
    rules: Mapping[str, Any]
    mixed: bool
    """Whether it has different protocols for these metrics."""


def _libraries(
    spoken: Mapping[str, Mapping[tuple[str, str], Sequence[tuple[Metric, Protocol]]]],
    candidates: Mapping[str, Sequence[Candidate]],
    place: Mapping[Metric, int],
    numbers: Mapping[Protocol, Floats],
    cases: Mapping[Protocol, Case],
) -> list[Library]:
    """The libraries that have all of the metrics; one that has several names for a metric with each other value."""
    libraries: dict[tuple[Any, ...], Library] = {}
    for key in sorted(set.intersection(*(set(meanings) for meanings in spoken.values()))):
        for meant in itertools.product(*(meanings[key] for meanings in spoken.values())):
            protocols = list(dict.fromkeys(protocol for _, protocol in meant))
            if not set(protocols) <= set(cases):
                continue
            mixed = len({cases[protocol] for protocol in protocols}) > 1
            rules = {"dialect": key[0]} if mixed else cases[protocols[0]].rules
            values = [float(numbers[protocol][place[metric]]) for metric, protocol in meant]
            own = [
                next(each for each in candidates[name] if each.metric == metric)
                for name, (metric, _) in zip(spoken, meant, strict=True)
            ]
            chosen = {name: (each, value * each.scale) for name, each, value in zip(spoken, own, values, strict=True)}
            library = Library(key[0], chosen, rules, mixed)
            libraries.setdefault((key[0], str(rules), *np.round(values, 12)), library)
    return list(libraries.values())


def _concluded(
    printed: Mapping[str, Printed],
    cases: Sequence[Case],
    libraries: Sequence[Library],
    searched: Mapping[str, tuple[str, ...]],
) -> Reconciliation:
    """The explanations, the number expected by chance, and the nearest values if there are none."""
    mixed = [
        Case(library.rules, {name: (np.array([value]), [each]) for name, (each, value) in library.chosen.items()})
        for library in libraries
        if library.mixed
    ]
    cases = [*cases, *mixed]
    luck = [case.luck(printed) for case in cases]
    by_chance = np.cumsum(np.sum([np.pad(each, (0, max(map(len, luck)) - len(each))) for each in luck], axis=0))
    matching = [case.matching(printed) for case in cases]
    explanations = [
        _explanation(case.rules, chosen, libraries, by_chance)
        for case, matches in zip(cases, matching, strict=True)
        for chosen in _simplest(matches)
    ]
    named = {name for each in explanations for name in each.libraries}
    explanations += [
        _explanation(library.rules, library.chosen, libraries, by_chance)
        for library in libraries
        if library.name not in named
        and all(printed[number].matches(np.array(value)) for number, (_, value) in library.chosen.items())
    ]
    explanations = [dataclasses.replace(each, libraries=newest(each.libraries)) for each in explanations]
    explanations.sort(key=lambda each: (each.cost, -len(each.libraries)))
    nearest: dict[str, tuple[Candidate, float]] = {}
    closest = None
    if cases and not explanations:
        ends = [(*case.closest(printed), case.rules) for case in cases]
        ends.sort(key=lambda each: (each[0], len(each[2])))
        closest = _explanation(ends[0][2], ends[0][1], libraries, by_chance)
        for name, number in printed.items():
            nearest[name] = min((each[name] for _, each, _ in ends), key=lambda one: abs(one[1] - number.value))
    return Reconciliation(
        explanations=tuple(explanations),
        matches=sum(math.prod(map(len, matches.values())) for matches in matching),
        chance=float(by_chance.max()),
        tried=sum(len(values) for case in cases for values, _ in case.values.values()),
        searched=searched,
        nearest={name: (each.words, value) for name, (each, value) in nearest.items()},
        closest=closest,
    )


def _simplest(matching: Mapping[str, list[tuple[Candidate, float]]]) -> Iterator[Choice]:
    """For each number its simplest matches, combined; nothing where a number has none."""
    best = [
        [(name, one) for one in matches if one[0].cost == min(each.cost for each, _ in matches)]
        for name, matches in matching.items()
    ]
    return map(dict, itertools.islice(itertools.product(*best), COMBINED))


def _explanation(
    rules: Mapping[str, Any], chosen: Choice, libraries: Sequence[Library], by_chance: Floats
) -> Explanation:
    cost = len(rules) + sum(each.cost for each, _ in chosen.values())

    def prints(library: Library) -> bool:
        """Whether the library has these rules, and these values as shares."""
        own = ((value / each.scale, library.chosen[name]) for name, (each, value) in chosen.items())
        return library.rules == rules and all(abs(value / each.scale - share) <= 1e-9 for share, (each, value) in own)

    return Explanation(
        protocol=dict(rules),
        numbers={name: (each.words, value) for name, (each, value) in chosen.items()},
        cost=cost,
        libraries=tuple(dict.fromkeys(library.name for library in libraries if prints(library))),
        chance=float(by_chance[min(cost, len(by_chance) - 1)]),
    )


def _searched(
    cases: Mapping[Protocol, Case], candidates: Mapping[str, Sequence[Candidate]], evidence: Evidence
) -> dict[str, tuple[str, ...]]:
    """The words of the protocol that gave other numbers, and the metrics that were tried for each number."""
    distinct: dict[Case, Protocol] = {}
    for protocol, case in cases.items():
        distinct.setdefault(case, protocol)
    searched: dict[str, tuple[str, ...]] = {}
    for each in dataclasses.fields(Protocol):
        words = tuple(dict.fromkeys(str(getattr(protocol, each.name)) for protocol in distinct.values()))
        if len(words) > 1:
            searched[each.name] = words
    if len(evidence.levels) > LEVELS:
        searched["min_relevance"] += (f"except the {len(evidence.levels) - LEVELS} highest grades",)
    for name, options in candidates.items():
        plain = [each.metric for each in options if not each.percent]
        kinds = dict.fromkeys(metric.name for metric in plain)
        counts = (f"{sum(metric.name == kind for metric in plain)} of {kind}" for kind in kinds)
        searched[name] = (*counts, "each also as a percentage") if len(plain) < len(options) else tuple(counts)
    return searched


def _in_words(name: str, spec: str) -> str:
    """A reported number in words."""
    metric, printed = parse(spec.removesuffix(IN_PERCENT)), meant_by(name)
    slips = []
    if type(metric) is not type(printed):
        slips.append(f"actually {metric.name}")
    if metric.k != printed.k and type(printed).cuts and type(metric).cuts:
        slips.append("without a cutoff" if metric.k is None else f"cut off at {metric.k}")
    if spec.endswith(IN_PERCENT):
        slips.append("printed as a percentage")
    pooled = ", summed over all users before dividing" if getattr(metric, "average", "") == "pooled" else ""
    how = f" ({', '.join(slips)})" if slips else ""
    return f"{name}{how}: {metric.define().words}{pooled}"


def _rule_in_words(name: str, value: object) -> str:
    """A protocol field in words."""
    if name == "dialect":
        return f"each metric under {value}'s protocol for it"
    if value is None:
        return f"{name} is not used"
    if name == "seed":
        return f"the seed is {value}"
    return Protocol(**{name: value}).words()[name]  # type: ignore[arg-type]  # its own field
