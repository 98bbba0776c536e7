"""Finish: the result of all parts, and what there is to warn of."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from atkay.core.types import QUICKSORT_LENGTH, Clusters, Slicing
from atkay.errors import (
    ColumnError,
    InputError,
    OverlapWarning,
    PopulationError,
    RelevanceWarning,
    SampledWarning,
    SkippedWarning,
    TiesWarning,
    listing,
    number_of,
    warn,
    who,
)
from atkay.evaluation.part import Part, join
from atkay.evaluation.request import Request
from atkay.inputs.paths import is_there
from atkay.judged.judged import Judged
from atkay.metrics.metric import RunMetric
from atkay.results.population import Population
from atkay.results.result import Result
from atkay.tables import FILTERS
from atkay.text.phrases import argument, columns_argument
from atkay.words import words_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from atkay.core.types import Ints
    from atkay.inputs.coding.align import Codes
    from atkay.inputs.coding.grades import Grades
    from atkay.inputs.table import Table
    from atkay.metrics.metric import Metric
    from atkay.protocol import Protocol
    from atkay.results.measured import Measured
    from atkay.results.sample_users import Examples

TIE_WARNING_SHARE = 0.01
"""Warn when ties decide more than this share of lists."""

WITHOUT_COLUMNS = ("a dict", "lists", "an array", "a sparse matrix")
"""What tables are called that have no names of columns."""


@dataclass(frozen=True, eq=False)
class Setting:
    """What all parts share: the protocol, which describes its tables, what is known of items, and the tables.

    Of the tables that are divided into parts a few rows are enough, for types and messages.
    """

    protocol: Protocol
    items: Judged
    """No query, and what is known of items."""
    codes: Codes | None = None
    tables: Mapping[str, Table] = field(default_factory=dict)
    columns: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Which column was taken for what, by table."""
    fingerprint: Mapping[str, str] = field(default_factory=dict)
    """What tells tables apart that no part has."""
    readings: tuple[str, ...] = ()
    grades: Grades | None = None
    """The grades of the truth, where no part knows them."""
    engine: str | None = None
    first_rank: int | None = None
    """From where the ranks of all lists are numbered, where no part knows."""
    whole: tuple[str, ...] = ()
    """Of exclude and candidates, what every part has whole."""

    @classmethod
    def of(cls, request: Request, codes: Codes, tables: Mapping[str, Table]) -> Setting:
        """What tables say that were read."""
        from atkay.inputs.read import check_threshold

        for protocol in request.protocols[1:]:
            check_threshold(tables["truth"], protocol.min_relevance)
        names = {name for metric in request.metrics for name in metric.numbers}
        if clash := set(tables["truth"].key) & names:
            raise ColumnError(f"truth: the column {listing(clash)} has the name of a requested metric. Rename it.")
        described: dict[str, Any] = {name: tables[name].described for name in FILTERS if name in tables}
        return cls(
            protocol=request.protocol.with_fields(**described),
            items=Judged.of_nobody(codes.items.size, None if codes.side is None else codes.side.of_items),
            codes=codes,
            tables=tables,
            columns={name: table.used for name, table in tables.items()},
        )


def finish(
    request: Request,
    setting: Setting,
    parts: Sequence[Part],
    examples: Examples | Callable[..., Examples] | None = None,
    again: Callable[[], Sequence[Measured]] | None = None,
) -> Result:
    """The result of all parts; ``examples`` are a few users in full, or what chooses them.

    ``again`` judges the same lists once more.
    """
    part, protocol = join(parts), setting.protocol
    if setting.codes is not None and part.common is not None:
        from atkay.inputs.coding.shared import check_shared

        listed = part.population.listed - part.population.unknown
        tables = setting.tables
        check_shared(part.common, setting.codes, tables["recs"], tables["truth"], listed, request.metrics)
    if not part.population.evaluated:
        raise PopulationError(
            "no user to evaluate: no user has both a list and a relevant item. Are all grades "
            + (
                "0 or below?"
                if protocol.min_relevance is None
                else f"below {argument('min_relevance', protocol.min_relevance)}?"
            )
        )
    if part.weights is not None and not (part.weights > 0).any():
        raise InputError("all weights are 0", advice="Give at least one user a weight above 0.", table="weights")
    groups, slicings = _groups_and_slicings(setting, part)
    _warn(request, protocol, part.population)
    _warn_of_ratings(request, setting.grades if part.common is None else part.common.grades)
    whole = {segment: _of_run(request.metrics, states, setting.items) for segment, states in part.states.items()}
    return Result(
        metrics=request.metrics,
        query_values=part.values,
        ids=part.ids,
        population=part.population,
        protocol=protocol,
        ratios=part.ratios,
        groups=groups,
        slicings=slicings,
        columns=setting.columns,
        fingerprint={**setting.fingerprint, **{name: str(each) for name, each in part.fingerprints.items()}},
        sources={
            name: str(Path(each).absolute())
            for name, each in request.tables.items()
            if isinstance(each, str | os.PathLike) and is_there(each)
        },
        whole=whole.pop(None, {}),
        whole_of={segment: numbers for segment, numbers in whole.items() if segment is not None},
        whole_users=part.state_users,
        weights=part.weights,
        clusters=_clusters(part),
        sums=part.sums,
        dialect=request.dialect,
        names=request.names,
        apart={
            str(number): rules.with_fields(exclude=protocol.exclude, candidates=protocol.candidates)
            for number, rules in request.apart.items()
        },
        sampled=request.sampled,
        examples=examples,
        again=again,
        readings=setting.readings or _readings(request, setting, part),
        engine=setting.engine,
        named={name: repr(each) for name in ("columns", "cluster") if (each := getattr(request, name)) is not None},
    )


def _clusters(part: Part) -> Clusters | None:
    """The cluster of each row."""
    if part.clusters is None:
        return None
    from atkay.inputs.coding.segments import Groups

    return Clusters(part.clusters.columns[0], Groups.of(part.clusters).code)


def _groups_and_slicings(setting: Setting, part: Part) -> tuple[Ints | None, tuple[Slicing, ...]]:
    """The group of each row, and its segment in each slicing."""
    slices = setting.tables.get("slices")
    if part.groups is None and slices is None:
        return None, ()
    import polars as pl

    from atkay.inputs.coding.segments import Groups, slice_queries

    groups = None if part.groups is None else Groups.of(part.groups)
    if groups is not None and (groups.code < 0).any():
        raise InputError(
            f"average_over: {who(part.ids, int(np.argmax(groups.code < 0)))} has no {listing(setting.protocol.groups)} "
            f"in the truth. Fill it in; or make it a part of the query with {columns_argument(user=(...,))}; or skip "
            "such queries."
        )
    slicings: tuple[Slicing, ...] = ()
    if slices is not None and part.sums is None:
        slicings, _ = slice_queries(pl.DataFrame(dict(part.ids)), slices, groups)
    elif slices is not None and slices.extra is not None:
        segments = [column.drop_nulls().unique().sort() for column in slices.extra.get_columns()]
        slicings = tuple(Slicing(each.name, [*each, None], np.empty(0, np.int64)) for each in segments)
    return None if groups is None else groups.code, slicings


def _of_run(metrics: Sequence[Metric], states: Mapping[str, Ints], items: Judged) -> dict[str, float]:
    """The numbers of the whole run from their states."""
    numbers: dict[str, float] = {}
    for metric in metrics:
        if isinstance(metric, RunMetric):
            of_metric = metric.finish(states[str(metric)], items)
            numbers |= dict(zip(map(str, metric.split()), of_metric.tolist(), strict=True))
    return numbers


def _readings(request: Request, setting: Setting, part: Part) -> tuple[str, ...]:
    """Which columns of how many rows were read, and what decided the order of the lists, the grades and categories."""
    messages, common = [_tables_read(setting, {} if part.common is None else part.common.rows)], part.common
    messages += dict.fromkeys(words for table in setting.tables.values() for words in table.readings)
    for name in ("recs", "reference"):
        used = setting.columns.get(name, {})
        column = used.get("rank", used.get("score"))
        if {"rank", "score"} <= {*used} and name == "recs" and setting.protocol.trait("ties", "over_rank"):
            messages.append(f"recs ordered by column '{used['score']}', not by '{column}'")
            continue
        ranks = None if column is None or name not in setting.tables else setting.tables[name].rank
        lowest = setting.first_rank if name == "recs" else None
        lowest = ranks.min() if lowest is None and ranks is not None else lowest  # type: ignore[assignment]  # an integer
        first = ", numbered from 0" if lowest == 0 else ""
        if column is not None and (first or len({"rank", "score"} & {*used}) > 1):
            messages.append(f"{name} ordered by column '{column}'{first}")
    if common is not None and common.grades is not None and common.grades.graded:
        truth = setting.tables["truth"]
        where = "the values of truth" if truth.label in WITHOUT_COLUMNS else f"'{truth.used['relevance']}'"
        grades = read_grades(where, common.grades, setting.protocol)
        messages.append("; ".join([grades, *_use_of_grades(request, common.grades.low)]))
    messages += [
        f"{each.name.replace('_', ' ')} {each.finish(part.states[None][str(each)], setting.items)[0]:,.1f} of "
        f"{number_of(part.population.relevant, 'relevant item')} ({each.define().words})"
        for each in dict.fromkeys(one for metric in request.metrics for one in metric.beside)
    ]
    side = setting.items.side
    return (*filter(None, messages), *(() if side is None or side.features is None else side.features.readings))


def _tables_read(setting: Setting, rows: Mapping[str, int]) -> str:
    """Which columns lists and truth were read from, where these have columns, and how many rows."""
    parts = []
    for name in ("recs", "truth"):
        used, table = setting.columns.get(name), setting.tables.get(name)
        if used and table is not None and table.label not in WITHOUT_COLUMNS:
            roles = {column: "grade" if role == "relevance" else role.split()[0] for role, column in used.items()}
            columns = ", ".join(role if role == column else f"{role} '{column}'" for column, role in roles.items())
            parts.append(f"{name}: {columns}" + (f" ({number_of(rows[name], 'row')})" if name in rows else ""))
    return "; ".join(parts)


def _use_of_grades(request: Request, lowest: float) -> list[str]:
    """From which grade an item is relevant, and what grades are worth, where that is the same for all metrics."""
    words = []
    thresholds = {each.min_relevance for each in request.protocols}
    if len(thresholds) == 1:
        least = thresholds.pop()
        least = max(lowest, 0.0) or None if least is None else least
        words.append("relevant above 0" if least is None else f"relevant from {least:g}")
    worths = {
        words_of(each).get(chosen := getattr(metric, each.name), chosen)
        for metric in request.metrics
        for each in fields(metric)
        if each.name == "gain" and words_of(each)
    }
    return [*words, *(f"gain {worth}" for worth in worths if len(worths) == 1)]


def read_grades(where: str, grades: Grades, protocol: Protocol) -> str:
    """Which grades there are, and what those below 0 mean."""
    below = {"irrelevant": "not relevant", "unjudged": "not judged"}.get(protocol.negative, "")
    return f"grades {grades.low:g} to {grades.high:g} from {where}" + (f"; below 0: {below}" if grades.low < 0 else "")


def _warn(request: Request, protocol: Protocol, population: Population) -> None:
    """Warn where a number is right and may mislead."""
    metrics = request.metrics
    if message := _unstable(request, protocol, population):
        warn(message, TiesWarning)
    elif any(each.ties == "given" for each in request.protocols) and (
        population.tie_decided > TIE_WARNING_SHARE * population.evaluated
    ):
        averages = all(metric.averages for metric in metrics)
        warn(
            f"the order of equal scores decides {population.tie_decided:,} of {population.evaluated:,} lists, and "
            f"{argument('ties', 'given')} keeps the input order. A model that gives every item the same score "
            f"can look good by luck. "
            + (
                f"Choose {argument('ties', 'expected')} for the average over all orders, or another value."
                if averages
                else "Choose another value for ties."
            ),
            TiesWarning,
        )
    taken_out = {
        "exclude": population.excluded,
        "candidates": population.outside,
        argument("unjudged", "drop"): population.unjudged,
    }
    if population.listed and population.listed == population.duplicated + sum(taken_out.values()):
        why = ", ".join(f"{count:,} by {name}" for name, count in taken_out.items() if count)
        warn(
            f"every list is empty: all {number_of(population.listed, 'listed item')} were removed ({why}).",
            OverlapWarning,
        )
    elif not population.hits and population.listed > population.unknown and any(m.needs_truth for m in metrics):
        warn(
            f"no list has a hit: none of {number_of(population.listed, 'listed item')} is relevant to its user.",
            OverlapWarning,
        )
    reading = " and ".join(dict.fromkeys(metric.name for metric in metrics if metric.reads_scores))
    if reading and protocol.no_truth == "skip" and population.without_truth:
        warn(
            f"{number_of(population.without_truth, 'user')} without a relevant item left out: where the truth grades "
            f"all of a user's items 0, {reading} should count these predictions, too. Pass "
            f"{argument('no_truth', 'zero')} to count such users, or 'judged' for those that the truth grades.",
            SkippedWarning,
        )
    if request.sampled is not None:
        warn(
            f"these are {request.sampled.words}. They cannot be compared with full-catalogue metrics and can "
            f"rank models "
            "differently.",
            SampledWarning,
        )


def _warn_of_ratings(request: Request, grades: Grades | None) -> None:
    """Warn where grades look like star ratings, and it was not said from which on an item is relevant."""
    poor = None if grades is None else grades.poor()
    concerned = [each for each in request.by_protocol() if any(metric.needs_truth for metric in each.metrics)]
    if grades is None or poor is None or all(each.protocol.min_relevance is not None for each in concerned):
        return
    values = [f"{value:g}" for value in poor.values]
    rated = " and ".join(values) if len(values) < 3 else f"{values[0]} to {values[-1]}"
    warn(
        f"truth: the grades {grades.low:g} to {grades.high:g} look like star ratings, and every rated item counts as "
        f"relevant, also the {poor.rated:,} ({100 * poor.rated / poor.of:.2g} %) rated {rated}. Pass "
        f"{argument('min_relevance', poor.liked)} to count liked items alone, or "
        f"{argument('min_relevance', grades.low)} to say that all count.",
        RelevanceWarning,
    )


def _unstable(request: Request, protocol: Protocol, population: Population) -> str:
    """What to say where the order of equal scores in the library is not that of the protocol; nothing elsewhere."""
    if request.dialect is None or protocol.ties == "together":
        return ""
    from atkay.dialects.dialect import list_dialects

    spoken = next((each for each in list_dialects().values() if each.title == request.dialect), None)
    if spoken is None or spoken.unstable is None or all(metric.name in spoken.stable for metric in request.metrics):
        return ""
    long = spoken.unstable >= QUICKSORT_LENGTH
    lists = population.tie_decided_long if long else population.tie_decided
    if not lists:
        return ""
    size = f" with {QUICKSORT_LENGTH} items or more" if long else ""
    return (
        f"the order of equal scores decides {number_of(lists, 'list')}{size}, and {spoken.library} sorts "
        f"such lists with an unstable sort: its numbers may differ from these. Make the scores distinct to compare."
    )
