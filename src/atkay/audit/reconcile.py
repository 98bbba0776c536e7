"""Reconcile: which conventions give a number that somebody printed?"""

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
    asked_of,
    candidates_of,
    meant_by,
    protocols_of,
    spoken_of,
    together,
)
from atkay.errors import ProtocolError, SpecError, number_of, shown
from atkay.evaluation.request import FILTERS, Request
from atkay.metrics.spec import parse
from atkay.protocol import Protocol
from atkay.text.grid import Grid, Tabular

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import polars as pl

    from atkay.audit.evidence import Evidence
    from atkay.core.types import Floats
    from atkay.inputs.columns import Columns
    from atkay.metrics.metric import Metric

MEANS = {
    0.5: "too many to prove anything. Give more numbers, or more digits.",
    0.01: "a hint, and no proof. Give more numbers, or more digits.",
    -1: "this is hardly luck.",
}
"""What it means that numbers without meaning find more explanations than that."""

SHOWN = 20
"""So many explanations are printed."""

COMBINED = 8
"""So many combinations of equally simple metrics are told under one protocol."""


@dataclass(frozen=True)
class Explanation:
    """One protocol, and for each printed number the conventions that give it under that protocol.

    ``protocol`` has the fields that differ from the default, or from what was given. ``cost`` counts the words that do.
    ``libraries`` compute all of it so. ``chance`` is how many explanations that are as simple, or simpler, numbers
    without meaning would find.
    """

    protocol: Mapping[str, Any]
    numbers: Mapping[str, tuple[str, float]]
    cost: int
    libraries: tuple[str, ...]
    chance: float

    def __str__(self) -> str:
        numbers = "; ".join(f"{name} is {spec} ({value:.6g})" for name, (spec, value) in self.numbers.items())
        return f"{numbers}; {self.rules}" + (f"; as {', '.join(self.libraries)}" if self.libraries else "")

    @property
    def rules(self) -> str:
        """The fields of the protocol."""
        return ", ".join(f"{name}={value}" for name, value in self.protocol.items()) or "the default protocol"

    @property
    def words(self) -> list[str]:
        """The same in sentences."""
        return [_in_words(name, spec) for name, (spec, _) in self.numbers.items()] + [
            _rule_in_words(name, value) for name, value in self.protocol.items()
        ]


@dataclass(frozen=True, repr=False)
class Reconciliation(Tabular):
    """The explanations of printed numbers, the simplest first.

    ``matches`` counts all combinations of words that match, ``tried`` the values that were compared, and ``chance`` how
    many matches numbers that mean nothing would find on average: far below 1, a match means something. Where nothing
    matches, ``nearest`` has the closest value of each number, ``closest`` the one protocol that comes closest to all.
    ``searched`` has what was tried: the words of each field of the protocol, and the metrics of each number.
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
        """What the search says, in a sentence or two."""
        if not self.explanations:
            near = "; ".join(f"{name}: nearest is {spec} ({value:.6g})" for name, (spec, value) in self.nearest.items())
            together = f" All numbers under one protocol, the closest: {self.closest}." if self.closest else ""
            return f"Nothing matches among {self.tried:,} values. {near}.{together}"
        alike = sum(each.cost == self.explanations[0].cost for each in self.explanations)
        several = f", {alike} as simple as the first, which the numbers cannot tell apart" if alike > 1 else ""
        luck = f"numbers without meaning would find {self.chance:.2g} by chance"
        means = next(words for most, words in MEANS.items() if self.chance > most)
        return f"{number_of(self.matches, 'combination')} of words found{several}; {luck}: {means}"

    @property
    def ruled_out(self) -> list[str]:
        """What was tried, a line per field of the protocol and per number; all of it where nothing matches."""
        return [f"{name}: {', '.join(map(str, words))}" for name, words in self.searched.items()]

    def to_polars(self) -> pl.DataFrame:
        """A row per explanation: specs and values of the numbers, protocol, words that differ, chance, libraries."""
        import polars as pl

        rows = [
            (
                [spec for spec, _ in each.numbers.values()],
                [value for _, value in each.numbers.values()],
                each.rules,
                each.cost,
                each.chance,
                list(each.libraries),
            )
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
            return ["The first: " + "; ".join(self.explanations[0].words) + ".", self.verdict]
        return [self.verdict, "Ruled out:\n" + "\n".join(f"- {line}" for line in self.ruled_out)]

    def _grid(self) -> Grid:
        rows = [
            (
                ", ".join(spec for spec, _ in each.numbers.values()),
                each.rules,
                str(each.cost),
                f"{each.chance:.2g}",
                ", ".join(each.libraries),
            )
            for each in self.explanations[:SHOWN]
        ]
        header = ("metrics", "protocol", "words", "by chance", "libraries")
        return Grid(header, rows, right=header[2:4])


def reconcile(
    recs: Any,
    truth: Any,
    reported: Mapping[str, object],
    *,
    columns: Columns | Mapping[str, Columns] | None = None,
    train: Any = None,
    protocol: Protocol | None = None,
    **fields: Any,
) -> Reconciliation:
    """Find the conventions that give printed numbers: words of the metrics, and one protocol for all of them.

    Looked at are all words of each metric, cutoffs off by one, percent, and other metrics under the same name; of the
    protocol users without lists or truth, ties, thresholds, exclusions, what is not judged or not listed, scores in
    single precision, and averages over a coarser key. At most three words of the protocol differ at once, unless a
    library does so.

    Parameters
    ----------
    recs, truth, columns
        As for :func:`evaluate`.
    reported
        The numbers under the names that they were printed with, ours or a library's own; given as text, ``"0.2447"`` or
        ``"24.47%"``, their digits set the tolerance.
    train
        What the users had before: whether it was taken out of the lists is found out, too.
    protocol, **fields
        What is known of the protocol, and stays so; but ``exclude`` and ``candidates`` are tried with and without.

    Examples
    --------
    Three users, one of whom has no list. RePlay divides by min(k, R) and counts everybody.

    >>> recs = {"A": ["i1", "i9", "i2", "i8", "i3"], "B": ["i1", "i7"]}
    >>> truth = {"A": ["i1", "i2", "i3", "i4", "i5", "i6"], "B": ["i1", "i2"], "C": ["i1"]}
    >>> found = atkay.reconcile(recs, truth, {"map@5": "0.3178", "ndcg@5": "0.4177"})
    >>> "replay" in found.explanations[0].libraries, found.explanations[0].numbers["map@5"][0]
    (True, 'map(per=capped)@5')
    """
    from atkay.audit.evidence import Evidence
    from atkay.tables import SIDE

    for name in ("dialect", *SIDE, "slices", "sampled"):
        if fields.pop(name, None) is not None:
            raise ProtocolError(f"reconcile: takes no {name}=; it looks for what lists and truth alone give.")
    if not isinstance(reported, Mapping) or not reported:
        raise SpecError(
            f"reconcile: no number was given under a name, but {shown(reported)}. Pass {{'map@10': '0.2447'}}."
        )
    printed = {name: Printed.of(name, value) for name, value in reported.items()}
    asked = {name: asked_of(name) for name in printed}
    _refuse_twice(asked)
    filters = {name: table for name in FILTERS if (table := fields.pop(name, None)) is not None}
    known = _known(Request.of(list(asked.values()), protocol).protocol) | fields
    maybe = {} if train is None or "exclude" in filters else {"exclude": train}
    evidence = Evidence.read(recs, truth, Protocol().with_fields(**known), columns, filters | maybe)
    base = evidence.protocol.with_fields(exclude=None) if maybe else evidence.protocol
    spoken = {name: spoken_of(metric, known, evidence, base) for name, metric in asked.items()}
    candidates = {
        name: candidates_of(metric, printed[name], [meant for some in spoken[name].values() for meant, _ in some])
        for name, metric in asked.items()
    }
    grid = protocols_of(evidence, base, set(known))
    told = (settled for of_name in spoken.values() for some in of_name.values() for _, settled in some)
    metrics = together(each.metric for some in candidates.values() for each in some)
    every = [one for metric in metrics for one in metric.split()]
    step = dict(zip(every, evidence.steps(metrics).tolist(), strict=True))
    candidates = {
        name: [each._replace(step=min(step[each.metric], step[asked[name]]) * each.scale) for each in some]
        for name, some in candidates.items()
    }
    protocols = list(dict.fromkeys([*grid, *told]))
    numbers = dict(evidence.numbers(metrics, protocols))
    cases = _cases(candidates, every, base, {settled: numbers[settled] for settled in protocols})
    libraries = _libraries(spoken, every, numbers, cases)
    return _concluded(
        printed, candidates, list(dict.fromkeys(cases.values())), libraries, _searched(cases, candidates, evidence)
    )


def _refuse_twice(names: Iterable[str]) -> None:
    """One number under two names would count as two that agree."""
    first: dict[str, str] = {}
    for name in names:
        try:
            plain = str(parse(name))
        except SpecError:
            plain = name.lower()  # a library's own
        if first.setdefault(plain, name) != name:
            raise SpecError(f"reconcile: {first[plain]} and {name} are one number. Give it once.")


def _known(protocol: Protocol) -> dict[str, Any]:
    """The fields of a protocol that are not the default."""
    values = {each: getattr(protocol, each.name) for each in dataclasses.fields(protocol)}
    return {each.name: value for each, value in values.items() if value != each.default}


@dataclass(frozen=True, eq=False)
class Case:
    """What differs from the given protocol, and for each number the different values that its candidates then have.

    Of candidates with the same value the simplest is kept.
    """

    said: Mapping[str, Any]
    found: Mapping[str, tuple[Floats, Sequence[Candidate]]]

    @classmethod
    def alone(cls, said: Mapping[str, Any], found: Mapping[str, tuple[Candidate, float]]) -> Case:
        """A case in which each number could be one thing only."""
        return cls(said, {name: (np.array([value]), [each]) for name, (each, value) in found.items()})

    def matching(self, printed: Mapping[str, Printed]) -> dict[str, list[tuple[Candidate, float]]]:
        """The candidates that give each number."""
        return {
            name: [(some[at], float(values[at])) for at in np.flatnonzero(printed[name].matches(values)).tolist()]
            for name, (values, some) in self.found.items()
        }

    def closest(self, printed: Mapping[str, Printed]) -> tuple[float, dict[str, tuple[Candidate, float]]]:
        """The candidate nearest to each number, and how far off the worst of them is, in last digits."""
        away = {name: np.abs(values - printed[name].value) for name, (values, _) in self.found.items()}
        chosen = {
            name: (some[int(np.argmin(away[name]))], float(values[np.argmin(away[name])]))
            for name, (values, some) in self.found.items()
        }
        return max(float(away[name].min() / printed[name].tolerance) for name in away), chosen

    def luck(self, printed: Mapping[str, Printed]) -> Floats:
        """How many matches numbers without meaning would find here, by what they cost."""
        by_cost: Floats = np.eye(1, len(self.said) + 1, len(self.said))[0]
        for name, (values, some) in self.found.items():
            lucky = printed[name].luck(values, np.array([each.step for each in some]))
            by_cost = np.convolve(by_cost, np.bincount([each.cost for each in some], lucky))
        return by_cost


def _cases(
    candidates: Mapping[str, Sequence[Candidate]],
    every: Sequence[Metric],
    base: Protocol,
    numbers: Mapping[Protocol, Floats],
) -> dict[Protocol, Case]:
    """The case of each protocol that has numbers; another protocol with the same numbers is no other case."""
    place = {metric: at for at, metric in enumerate(every)}
    cases: dict[bytes, Case] = {}
    of_protocol = {}
    for protocol, values in numbers.items():
        key = np.round(values, 12).tobytes()
        if key not in cases:
            found = {}
            for name, some in candidates.items():
                scaled = values[[place[each.metric] for each in some]] * [each.scale for each in some]
                by_value = np.lexsort((np.array([each.cost for each in some]), np.round(scaled, 12)))
                by_value = by_value[~np.isnan(scaled[by_value])]
                first = by_value[np.diff(np.round(scaled[by_value], 12), prepend=-np.inf) > 0]
                found[name] = (scaled[first], [some[at] for at in first])
            cases[key] = Case(_said(protocol, base), found)
        if all(len(values) for values, _ in cases[key].found.values()):
            of_protocol[protocol] = cases[key]
    return of_protocol


def _said(protocol: Protocol, base: Protocol) -> dict[str, Any]:
    fields = (each.name for each in dataclasses.fields(protocol))
    return {name: getattr(protocol, name) for name in fields if getattr(protocol, name) != getattr(base, name)}


class Library(NamedTuple):
    """What a library can mean by each number, what it would print, and the words of its protocol."""

    name: str
    metrics: Mapping[str, Metric]
    values: Mapping[str, float]
    said: Mapping[str, Any]
    mixed: bool
    """Whether it has different protocols for these metrics."""

    def candidates(self, every: Mapping[str, Sequence[Candidate]]) -> dict[str, tuple[Candidate, float]]:
        """Its own among the candidates of each number."""
        own = {
            name: next(each for each in every[name] if each.metric == metric) for name, metric in self.metrics.items()
        }
        return {name: (each, self.values[name] * each.scale) for name, each in own.items()}


def _libraries(
    spoken: Mapping[str, Mapping[tuple[str, str], Sequence[tuple[Metric, Protocol]]]],
    every: Sequence[Metric],
    numbers: Mapping[Protocol, Floats],
    cases: Mapping[Protocol, Case],
) -> list[Library]:
    """The libraries that have all of the metrics; one that has several names for a metric with each other value."""
    place = {metric: at for at, metric in enumerate(every)}
    found: dict[tuple[Any, ...], Library] = {}
    for key in sorted(set.intersection(*(set(of_name) for of_name in spoken.values()))):
        for meant in itertools.product(*(of_name[key] for of_name in spoken.values())):
            rules = list(dict.fromkeys(protocol for _, protocol in meant))
            if not set(rules) <= set(cases):
                continue
            values = [float(numbers[protocol][place[metric]]) for metric, protocol in meant]
            mixed = len({cases[protocol] for protocol in rules}) > 1
            library = Library(
                key[0],
                {name: metric for name, (metric, _) in zip(spoken, meant, strict=True)},
                dict(zip(spoken, values, strict=True)),
                {"dialect": key[0]} if mixed else cases[rules[0]].said,
                mixed,
            )
            found.setdefault((key[0], str(library.said), *np.round(values, 12)), library)
    return list(found.values())


def _concluded(
    printed: Mapping[str, Printed],
    candidates: Mapping[str, Sequence[Candidate]],
    cases: Sequence[Case],
    libraries: Sequence[Library],
    searched: Mapping[str, tuple[str, ...]],
) -> Reconciliation:
    """The explanations, how many there are by chance, and what is nearest where there is none."""
    own = [(library, library.candidates(candidates)) for library in libraries]
    cases = [*cases, *(Case.alone(library.said, each) for library, each in own if library.mixed)]
    luck = [case.luck(printed) for case in cases]
    by_chance = np.cumsum(np.sum([np.pad(each, (0, max(map(len, luck)) - len(each))) for each in luck], axis=0))
    matching = [case.matching(printed) for case in cases]
    chosen = [(case.said, each) for case, found in zip(cases, matching, strict=True) for each in _simplest(found)]
    explanations = [_explanation(said, each, libraries, by_chance) for said, each in chosen]
    named = {name for each in explanations for name in each.libraries}
    explanations += [
        _explanation(library.said, each, libraries, by_chance)
        for library, each in own
        if library.name not in named
        and all(printed[number].matches(np.array(value)) for number, (_, value) in each.items())
    ]
    explanations.sort(key=lambda each: (each.cost, -len(each.libraries)))
    nearest: dict[str, tuple[Candidate, float]] = {}
    closest = None
    if cases and not explanations:
        ends = sorted(((*case.closest(printed), case.said) for case in cases), key=lambda each: (each[0], len(each[2])))
        closest = _explanation(ends[0][2], ends[0][1], libraries, by_chance)
        for name, number in printed.items():
            nearest[name] = min((each[name] for _, each, _ in ends), key=lambda one: abs(one[1] - number.value))
    return Reconciliation(
        explanations=tuple(explanations),
        matches=sum(math.prod(map(len, found.values())) for found in matching),
        chance=float(by_chance.max()),
        tried=sum(len(values) for case in cases for values, _ in case.found.values()),
        searched=searched,
        nearest={name: (each.words, value) for name, (each, value) in nearest.items()},
        closest=closest,
    )


def _simplest(matching: Mapping[str, list[tuple[Candidate, float]]]) -> Iterator[dict[str, tuple[Candidate, float]]]:
    """For each number its simplest matches, combined; nothing where a number has none."""
    best = [
        [(name, one) for one in found if one[0].cost == min(each.cost for each, _ in found)]
        for name, found in matching.items()
    ]
    for combined in itertools.islice(itertools.product(*best), COMBINED):
        yield dict(combined)


def _explanation(
    said: Mapping[str, Any],
    chosen: Mapping[str, tuple[Candidate, float]],
    libraries: Sequence[Library],
    by_chance: Floats,
) -> Explanation:
    cost = len(said) + sum(each.cost for each, _ in chosen.values())
    shares = {name: value / each.scale for name, (each, value) in chosen.items()}
    return Explanation(
        protocol=dict(said),
        numbers={name: (each.words, value) for name, (each, value) in chosen.items()},
        cost=cost,
        libraries=tuple(
            dict.fromkeys(
                each.name
                for each in libraries
                if each.said == said and all(abs(each.values[name] - share) <= 1e-9 for name, share in shares.items())
            )
        ),
        chance=float(by_chance[min(cost, len(by_chance) - 1)]),
    )


def _searched(
    cases: Mapping[Protocol, Case], candidates: Mapping[str, Sequence[Candidate]], evidence: Evidence
) -> dict[str, tuple[str, ...]]:
    """The words of the protocol that gave other numbers, and the metrics that were tried for each number."""
    distinct: dict[Case, Protocol] = {}
    for protocol, case in cases.items():
        distinct.setdefault(case, protocol)
    found: dict[str, tuple[str, ...]] = {}
    for each in dataclasses.fields(Protocol):
        words = tuple(dict.fromkeys(str(getattr(protocol, each.name)) for protocol in distinct.values()))
        if len(words) > 1:
            found[each.name] = words
    if len(evidence.levels) > LEVELS:
        found["min_relevance"] += (f"not the {len(evidence.levels) - LEVELS} highest grades",)
    for name, some in candidates.items():
        plain = [each.metric for each in some if not each.percent]
        kinds = dict.fromkeys(metric.name for metric in plain)
        counts = (f"{sum(metric.name == kind for metric in plain)} of {kind}" for kind in kinds)
        found[name] = (*counts, "each also in percent") if len(plain) < len(some) else tuple(counts)
    return found


def _in_words(name: str, spec: str) -> str:
    """What a printed number is, in words."""
    metric, asked = parse(spec.removesuffix(IN_PERCENT)), meant_by(name)
    slips = []
    if type(metric) is not type(asked):
        slips.append(f"in fact {metric.name}")
    if metric.k != asked.k and type(asked).cuts and type(metric).cuts:
        slips.append("not cut" if metric.k is None else f"cut at {metric.k}")
    if spec.endswith(IN_PERCENT):
        slips.append("printed in percent")
    pooled = ", summed over all users before dividing" if getattr(metric, "average", "") == "pooled" else ""
    said = f" ({', '.join(slips)})" if slips else ""
    return f"{name}{said}: {metric.define().words}{pooled}"


def _rule_in_words(name: str, value: object) -> str:
    """What a field of the protocol says."""
    if name == "dialect":
        return f"each number under the protocol that {value} has for it"
    if value is None:
        return f"{name} is not used"
    if name == "seed":
        return f"the seed is {value}"
    return Protocol(**{name: value}).words()[name]  # type: ignore[arg-type]  # its own field
