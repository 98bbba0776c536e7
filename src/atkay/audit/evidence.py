"""Evidence: lists and truth, read once, and their numbers under many protocols.

What a protocol costs depends on what it changes. Other scores take a new alignment, another way to read the lists a new
judging, and who counts is settled on sums over at most four kinds of users. Nothing is done twice, and ways to read the
lists that find the same hits are measured once.
"""

from __future__ import annotations

import dataclasses
import hashlib
import itertools
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from atkay.audit.candidates import POPULATION
from atkay.core.kernels import group_sums
from atkay.core.lists import is_constant
from atkay.errors import InputError, PopulationError
from atkay.evaluation.judge import judge
from atkay.evaluation.measure import decided, score_missing, values_of, who_counts
from atkay.inputs.coding.align import align_tables
from atkay.inputs.coding.segments import group_queries
from atkay.inputs.read import columns_of, opened, read_tables, read_truth
from atkay.judged.judged import Judged, Memo
from atkay.metrics.dcg import DCG
from atkay.metrics.metric import is_pooled
from atkay.protocol import Protocol
from atkay.tables import FILTERS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from atkay.core.types import Array, Bools, Floats, Ints
    from atkay.inputs.coding.align import Aligned
    from atkay.inputs.columns import Columns
    from atkay.inputs.table import Table
    from atkay.metrics.metric import Metric

T = TypeVar("T")
W = TypeVar("W")

USUAL = Protocol()
EVERYBODY = Protocol(no_recs="zero", no_truth="zero")

COLUMNS = 5
"""Further columns of the truth that are tried as groups of queries."""
AT_ONCE = 16
"""Metrics measured together, so that their values fit into memory."""

USERS_LOOKED_AT, LARGEST_DENOMINATOR, ROUNDING = 1000, 60, 1e-9
"""Users whose values are looked at for a common denominator, up to which, and what is the same but for rounding."""


@dataclass(frozen=True, eq=False)
class Evidence:
    """Tables that were read. In its protocols exclude and candidates are a description, or None: not used.

    ``coarser`` has the columns that the queries could be averaged over first.
    """

    tables: Mapping[str, Table]
    protocol: Protocol
    coarser: tuple[str, ...] = ()

    @classmethod
    def read(
        cls,
        recs: Any,
        truth: Any,
        protocol: Protocol,
        columns: Columns | Mapping[str, Columns] | None = None,
        filters: Mapping[str, Any] | None = None,
    ) -> Evidence:
        """Read the tables, and find what the queries could be averaged over."""
        tables = read_tables({"recs": recs, "truth": truth, **(filters or {})}, protocol, columns)
        described: dict[str, Any] = {name: tables[name].described for name in FILTERS if name in tables}
        evidence = cls(tables, protocol.with_fields(**described))
        if protocol.groups:
            return evidence
        key, used = tables["truth"].key, tables["truth"].used.values()
        there = opened(truth, "truth", columns_of(columns, "truth")).names
        names = [name for name in there if name not in used][:COLUMNS]
        if names:
            tables["truth"] = read_truth(truth, columns_of(columns, "truth"), names)
        names += key if len(key) > 1 else ()
        return dataclasses.replace(evidence, coarser=tuple(name for name in names if evidence._coarser(name)))

    def _coarser(self, name: str) -> bool:
        """Whether a column gives each query a group: more than one in all, and fewer than there are queries."""
        extra = self.tables["truth"].extra
        dtype = None if extra is None else extra.schema.get(name)
        if dtype is not None and (dtype.is_nested() or dtype.is_float()):
            return False
        try:
            code = self._groups((name,))
        except InputError:
            return False
        with_truth = code[self._aligned(self.protocol).truth.length > 0]
        return bool((with_truth >= 0).all() and 1 < len(np.unique(with_truth)) < len(with_truth))

    def _groups(self, names: tuple[str, ...]) -> Ints:
        """The group of each query, -1 for none; all are of one group where they are not grouped."""
        groups = group_queries(self._aligned(self.protocol), names)
        return np.zeros(len(self._aligned(self.protocol).queries), np.int64) if groups is None else groups.code

    @cached_property
    def duplicated(self) -> bool:
        """Whether an item appears twice in a list, or in a user's truth."""
        return any(self._aligned(self.protocol).matched.repeated)

    @cached_property
    def repeated(self) -> bool:
        """Whether an item appears twice in a list."""
        return self._aligned(self.protocol).matched.repeated[0]

    @cached_property
    def levels(self) -> list[float]:
        """The grades above 0, the lowest first."""
        grade = self.tables["truth"].grade
        return [] if grade is None else grade.filter(grade > 0).unique().sort().to_list()

    @cached_property
    def negative(self) -> bool:
        """Whether the truth has grades below 0."""
        grade = self.tables["truth"].grade
        return grade is not None and bool((grade < 0).any())

    @cached_property
    def zeros(self) -> bool:
        """Whether the truth has a grade of 0."""
        grade = self.tables["truth"].grade
        return grade is not None and bool((grade == 0).any())

    def tied(self, protocol: Protocol) -> bool:
        """Whether a list has equal scores."""
        return judge(self._aligned(protocol), protocol)[1].tied > 0

    def steps(self, metrics: Sequence[Metric]) -> Floats:
        """What each number moves by at least, one per metric and cutoff; 0 where it can move by any amount.

        The mean of n values that are all fractions with the denominator d is a multiple of 1 / (n d).
        """
        rules = self.protocol.with_fields(duplicates="first")
        judged = judge(self._aligned(rules), rules)[0]
        first = judged.part(0, min(USERS_LOOKED_AT, judged.n_queries))
        values = np.nan_to_num(_measured(first, metrics, np.ones(first.n_queries, bool))[0])
        steps = np.zeros(values.shape[1])
        for fraction in range(LARGEST_DENOMINATOR, 0, -1):
            away = np.abs(values * fraction - np.round(values * fraction)).max(axis=0)
            steps[away < ROUNDING] = 1 / (judged.n_queries * fraction)
        return steps

    def _aligned(self, protocol: Protocol) -> Aligned:
        """The tables as codes, exclude and candidates as far as the protocol uses them."""
        unused = [name for name in FILTERS if getattr(protocol, name) is None]
        key = (protocol.scores, *unused)
        if key not in self._kept:
            rules = self.protocol.with_fields(scores=protocol.scores)
            whole = align_tables(self.tables, rules, checked=bool(self._kept))
            self._kept[key] = dataclasses.replace(whole, **dict.fromkeys(unused)) if unused else whole  # type: ignore[arg-type]  # None is allowed
        return self._kept[key]

    @cached_property
    def _kept(self) -> dict[tuple[str, ...], Aligned]:
        return {}

    def numbers(self, metrics: Sequence[Metric], protocols: Iterable[Protocol]) -> Iterator[tuple[Protocol, Floats]]:
        """The numbers, one per metric and cutoff, under each protocol; NaN where there is none."""
        alike: dict[Protocol, list[Protocol]] = {}
        for protocol in protocols:
            alike.setdefault(self._reading(protocol), []).append(protocol)
        done: dict[tuple[Any, ...], Floats] = {}
        recent = Recent()
        for reading, judged, hits in _ahead(self._read, sorted(alike, key=_seen_grades)):
            same_lists = alike[reading]
            keys = [(hits, *(getattr(each, name) for name in POPULATION)) for each in same_lists]
            fresh = {key: each for key, each in zip(keys, same_lists, strict=True) if key not in done}
            groupings = {each.groups: self._groups(each.groups) for each in fresh.values()}
            # Metrics that cannot count an item twice have no value where the protocol does.
            fits = [metric.repeats or reading.duplicates != "counted" for metric in metrics]
            sums = all_sums(judged, hits, list(itertools.compress(metrics, fits)), groupings, recent)
            columns = [fit for metric, fit in zip(metrics, fits, strict=True) for _ in metric.cutoffs]
            for key, each in fresh.items():
                done[key] = np.full(len(columns), np.nan)
                done[key][columns] = sums[each.groups].means(each)
            yield from ((each, done[key]) for key, each in zip(keys, same_lists, strict=True))

    def _reading(self, protocol: Protocol) -> Protocol:
        """How a protocol reads the lists: one protocol for all that find the same hits at the same ranks.

        Where equal scores decide nothing, all orders of them find the same. Equal in float32 includes equal, so one of
        these orders is that of the exact scores.
        """
        reading = protocol.with_fields(**{name: getattr(USUAL, name) for name in POPULATION})
        if reading.trait("ties", "takes") or self._ties_decide(reading):
            return reading
        exact = USUAL.scores if reading.nonpositive == USUAL.nonpositive else reading.scores
        return reading.with_fields(ties=USUAL.ties, seed=USUAL.seed, scores=exact)

    def _ties_decide(self, reading: Protocol) -> bool:
        """Whether the order of equal scores may change the hits.

        It cannot where no list has items of different grades, or with and without one, at the same score. Whatever its
        grade, an item with one counts here; so do those that are taken out later.
        """
        if reading.depth is not None or reading.raters != USUAL.raters:
            return True
        if reading.scores not in self._deciding:
            every_grade = Protocol(scores=reading.scores, min_relevance=0.0, duplicates="first")
            aligned = self._aligned(every_grade)
            if aligned.grade is not None and self.negative:  # numbers of the grades, from 0
                grade = np.unique(aligned.grade, return_inverse=True)[1].astype(float)
                aligned = dataclasses.replace(aligned, grade=grade)
            of_hits = [DCG()]  # reads the whole list, and does not tell equal grades apart
            decides = any(aligned.matched.repeated) or bool(decided(judge(aligned, every_grade)[0], of_hits).any())
            self._deciding[reading.scores] = decides
        return self._deciding[reading.scores]

    @cached_property
    def _deciding(self) -> dict[str, bool]:
        return {}

    def _read(self, reading: Protocol) -> tuple[Protocol, Judged, Content]:
        judged = judge(self._aligned(reading), reading)[0]
        return reading, judged, content(judged)


def _ahead(work: Callable[[W], T], jobs: Iterable[W]) -> Iterator[T]:
    """The results in turn; the next one is computed in the background."""
    with ThreadPoolExecutor(1) as pool:
        waiting: list[Future[T]] = []
        for job in jobs:
            waiting.append(pool.submit(work, job))
            if len(waiting) > 1:
                yield waiting.pop(0).result()
        yield from (each.result() for each in waiting)


def _seen_grades(reading: Protocol) -> tuple[Any, ...]:
    """Puts readings one after the other under which metrics of grades see the same truth, or even the same lists."""
    threshold = reading.min_relevance if reading.gains == "relevant" else None
    lists = reading.with_fields(min_relevance=None, gains=USUAL.gains)
    return threshold is not None, threshold or 0.0, reading.unlisted, repr(lists), reading.min_relevance or 0.0


Content = tuple[bytes, ...]


def content(judged: Judged) -> Content:
    """What accuracy metrics see of the truth, of judged lists, and of both where they see all grades; in few bytes."""
    tied = judged.tied if judged.averaged and judged.tied is not None else ()
    facts = (judged.query, judged.rank, judged.grade, judged.n_listed, judged.answered, *judged.nonrelevant, *tied)
    positive = () if judged.positive is None or judged.positive.all() else (judged.positive,)
    unjudged = () if judged.n_unjudged is None else (judged.n_unjudged,)
    truth = _digest(judged.n_relevant, judged.grades, np.array([judged.threshold]))
    graded = () if judged.graded is None else content(judged.graded)
    kinds = np.array([len(tied), len(positive), len(unjudged)])
    return truth, _digest(kinds, *facts, *positive, *unjudged), *graded


def _digest(*arrays: Array) -> bytes:
    seen = hashlib.blake2b(digest_size=16)
    for array in arrays:
        seen.update(str(len(array)).encode())
        seen.update(np.ascontiguousarray(array[:1] if is_constant(array) else array).data)
    return seen.digest()


class Recent:
    """What was measured last: the values of some metrics, and what metrics need of the truth. The next may be alike."""

    def __init__(self) -> None:
        self._values: dict[tuple[Metric, ...], tuple[Content, Floats, dict[str, Any]]] = {}
        self._truth: tuple[bytes, Memo] = b"", {}

    def of_truth(self, truth: bytes) -> Memo:
        """What is kept of this truth."""
        if self._truth[0] != truth:
            self._truth = truth, {}
        return self._truth[1]

    def measured(self, seen: Judged, hits: Content, metrics: tuple[Metric, ...]) -> tuple[Floats, dict[str, Any]]:
        """Values and parts of all queries."""
        if metrics not in self._values or self._values[metrics][0] != hits:
            self._values[metrics] = hits, *_measured(seen, metrics, np.ones(seen.n_queries, bool))
        return self._values[metrics][1:]


@dataclass(frozen=True, eq=False)
class KindSums:
    """Values of queries, added up over those of one kind and group: rows x numbers.

    A kind is whether there is truth, a list, and an item that the truth names and that is not relevant. ``rows`` has
    such a query for every row, from which it can be seen who counts.
    """

    metrics: Sequence[Metric]
    rows: Judged
    group: Ints
    total: Floats
    defined: Floats
    parts: Mapping[str, tuple[Floats, Floats]]
    """Numerators and denominators where they are pooled."""

    @cached_property
    def pooled(self) -> Ints:
        """The places of the numbers that are pooled, in the order of ``parts``."""
        return np.flatnonzero([is_pooled(metric) for metric in self.metrics for _ in metric.cutoffs])

    def means(self, protocol: Protocol) -> Floats:
        """The numbers under a protocol that reads the lists so."""
        nothing = np.full(self.total.shape[1], np.nan)
        try:
            counted = who_counts(self.rows, protocol, {})
        except PopulationError:
            return nothing
        if not counted.any() or (counted & (self.group < 0)).any():
            return nothing
        with np.errstate(invalid="ignore", divide="ignore"):
            values = (self.total / self.defined)[counted]
            parts = {name: (above[counted], below[counted]) for name, (above, below) in self.parts.items()}
            score_missing(values, parts, self.metrics, protocol, self.rows.n_relevant[counted] == 0)
            weight = np.where(np.isnan(values), 0.0, self.defined[counted])
            group, n_groups = self.group[counted], self.group.max() + 1
            sums = (group_sums(each, group, n_groups)[0] for each in (np.nan_to_num(values) * weight, weight))
            of_group = np.divide(*sums)
            there = ~np.isnan(of_group)
            means: Floats = np.where(there, of_group, 0.0).sum(axis=0) / there.sum(axis=0)
            means[self.pooled] = [above.sum() / below.sum() for above, below in parts.values()]
        return means


def all_sums(
    judged: Judged,
    hits: Content,
    metrics: Sequence[Metric],
    groupings: Mapping[tuple[str, ...], Ints],
    recent: Recent,
) -> dict[tuple[str, ...], KindSums]:
    """The sums for each way to group the queries; every value is computed once."""
    if not groupings:
        return {}
    # Whoever counts under any protocol: with no_truth=judged also who has neither a list nor a relevant item.
    counted = who_counts(judged, EVERYBODY, {}) | judged.has_nonrelevant
    kind = 4 * (judged.n_relevant > 0) + 2 * judged.answered + judged.has_nonrelevant
    rows: dict[tuple[str, ...], tuple[Ints, Ints]] = {}
    for over, group in groupings.items():
        codes, of_counted = np.unique((8 * group + kind)[counted], return_inverse=True)
        rows[over] = codes, np.full(len(counted), -1)
        rows[over][1][counted] = of_counted
    sums: dict[tuple[str, ...], list[tuple[Floats, Floats]]] = {over: [] for over in groupings}
    parts: dict[tuple[str, ...], dict[str, Any]] = {over: {} for over in groupings}
    graded = dataclasses.replace(judged.graded or judged, of_hits={}, of_truth=recent.of_truth(hits[-2]))
    plain = graded if judged.graded is None else dataclasses.replace(judged, of_hits={})
    plainest = [metric.plainest(graded if metric.by_grade else plain) for metric in metrics]
    measured = list(dict.fromkeys(plainest))
    for by_grade, alike in itertools.groupby(measured, lambda metric: metric.by_grade):
        # Metrics of grades may see the same under many protocols.
        seen, of = (graded, hits[-2:]) if by_grade else (plain, hits[:2])
        of_kind = tuple(alike)
        for first in range(0, len(of_kind), AT_ONCE):
            values, sides = recent.measured(seen, of, of_kind[first : first + AT_ONCE])
            for over, (codes, row) in rows.items():
                sums[over].append(group_sums(values, row, len(codes)))
                parts[over] |= {
                    name: tuple(group_sums(side[:, None], row, len(codes))[0][:, 0] for side in both)
                    for name, both in sides.items()
                }
    first_column = dict(zip(measured, np.cumsum([0, *(len(metric.cutoffs) for metric in measured)]), strict=False))
    column = np.concatenate([first_column[metric] + np.arange(len(metric.cutoffs)) for metric in plainest])
    result = {}
    for over, (codes, _) in rows.items():
        total, defined = (np.hstack(blocks)[:, column] for blocks in zip(*sums[over], strict=True))
        result[over] = KindSums(metrics, _queries(codes % 8), codes // 8, total, defined, parts[over])
    return result


def _measured(judged: Judged, metrics: Sequence[Metric], counted: Bools) -> tuple[Floats, dict[str, Any]]:
    """Values and parts; NaN for a metric that does not support the chosen ties."""
    fit = [metric for metric in metrics if metric.averages or not judged.averaged]
    measured, parts = values_of(judged, fit, EVERYBODY, counted)
    if len(fit) == len(metrics):
        return measured, parts
    fits = [metric.averages for metric in metrics for _ in metric.cutoffs]
    values = np.full((len(measured), len(fits)), np.nan, order="F")
    values[:, fits] = measured
    nothing = np.zeros(len(measured))
    names = [str(one) for metric in metrics if is_pooled(metric) for one in metric.split()]
    return values, {name: parts.get(name, (nothing, nothing)) for name in names}


def _queries(kind: Ints) -> Judged:
    """A query without hits of each kind."""
    return dataclasses.replace(
        Judged.of_nobody(0, None),
        n_relevant=kind // 4,
        n_listed=kind // 2 % 2,
        answered=kind // 2 % 2 > 0,
        grades=np.ones(int((kind // 4).sum())),
        n_nonrelevant=kind % 2,
        nonrelevant_above=np.empty(0, np.int64),
    )
