"""Evaluate: lists against truth, through the stages, to a result."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from atkay.core.types import LONG, Ints, Slicing
from atkay.errors import (
    ColumnError,
    InputError,
    OverlapWarning,
    ProtocolError,
    SampledWarning,
    SideError,
    TiesWarning,
    listing,
    number_of,
    shown,
    warn,
    who,
)
from atkay.evaluation.measure import Tally, check_anybody, finish_run, tally, who_counts
from atkay.judged.side import ASKS
from atkay.metrics.metric import Metric, list_metrics, parse_all, separate
from atkay.protocol import Described, Protocol
from atkay.results.result import Population, Result

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Mapping, Sequence

    from atkay.evaluation.judge import Counts
    from atkay.inputs.coding.align import Aligned
    from atkay.inputs.coding.common import Common
    from atkay.inputs.columns import Columns
    from atkay.inputs.read import Table
    from atkay.judged.judged import Judged
    from atkay.judged.side import Side
    from atkay.metrics.sampled import Sampled

DECIDED = 0.01
"""From so large a share of lists on that ties decide, it is said."""

WITHOUT_COLUMNS = ("a dict", "lists", "an array", "a sparse matrix")
"""What tables are called that have no names of columns."""

USUAL = ("ndcg@10", "map@10", "mrr@10", "recall@10", "precision@10", "hit@10")


def evaluate(
    recs: Any,
    truth: Any,
    metrics: str | Metric | Iterable[str | Metric] = USUAL,
    *,
    columns: Columns | Mapping[str, Columns] | None = None,
    slices: Any = None,
    train: Any = None,
    catalog: Any = None,
    features: Any = None,
    reference: Any = None,
    sampled: Sampled | None = None,
    dialect: str | None = None,
    memory: str | int | None = None,
    resume: bool = False,
    spill: str | os.PathLike[str] | None = None,
    protocol: Protocol | None = None,
    **fields: Any,
) -> Result:
    """Hold ranked lists against held-out truth.

    Parameters
    ----------
    recs
        The lists: a table with a row per user and item and, where the rows are not in order, a ``rank`` or a ``score``
        (Polars, pandas, Arrow); ``{user: [items]}`` or ``{user: {item: score}}``; an array of users x k items, in which
        -1 fills up short lists; a SciPy sparse matrix of scores; the path of a file (CSV, TSV, Parquet, Arrow, JSON
        Lines, TREC run), of a folder of files, or of several: ``"recs/*.parquet"``; or a Spark frame, which is judged
        in its cluster (docs/spark.md).
    truth
        What is relevant, in any of these forms; a grade may stand where the lists have a score (TREC qrels included).
    metrics
        Specs such as ``"ndcg@10"`` or ``"map(per=hits)@5,10"``, or metrics such as ``NDCG(k=10)``; left out with a
        dialect, those of the usual six that the library has under one protocol.
    columns
        The names of the columns, where they are not found by themselves.
    slices
        A table that gives each user a segment, or ``{user: segment}``: every metric is also taken per segment.
    train, catalog, features, reference
        What some metrics need besides: the interactions that the models learned from (users and items); all items; a
        table, or ``{item: ...}``, with categories or numbers of items; the lists of a reference recommender, or one
        list that it shows to everybody.
    sampled
        Where the lists rank one relevant item among sampled ones and not among all: ``Sampled(catalog_size=n,
        negatives=m)``. The result says so, and can be an estimate for the whole catalogue.
    dialect
        The name of a library, such as "ranx": metrics and protocol then mean what they mean there, as far as nothing
        else is said, and its own names of metrics work, too. ``atkay.list_dialects()`` lists them.
    memory
        About how much may be used, such as "2GB", for files that do not fit: users are then dealt out to parts, judged
        one part after the other, and the result is the same. Lists, truth, ``exclude`` and ``candidates`` may be
        larger than memory where they are files or Polars lazy frames; everything else is read whole, and so is what
        was given as something else. Values per user stay in memory, 8 bytes for each number.
    resume, spill
        With ``memory``: go on where the same evaluation was killed; the folder in which parts are kept on the way, by
        default the system's for temporary files. What is written there is removed afterwards, even after an error or
        Ctrl-C.
    protocol, **fields
        Who counts, and how lists are read: the fields of :class:`Protocol`, as a whole or one by one.

    Examples
    --------
    >>> recs = {"ann": ["tea", "milk", "rye"], "bob": ["jam", "tea"]}
    >>> truth = {"ann": ["tea", "rye"], "bob": ["oat", "jam"], "cat": ["tea"]}
    >>> result = atkay.evaluate(recs, truth, ["precision@2", "recall@2"])
    >>> round(result["recall@2"], 4)
    0.3333
    >>> result.population.without_list
    1
    """
    from atkay.inputs.kinds import is_spark
    from atkay.inputs.read import read_tables
    from atkay.results.sample_users import choose

    asked = understand(metrics, dialect, protocol, fields)
    if sampled is not None:
        check_sampled(sampled, asked.metrics)
    beside = {"train": train, "catalog": catalog, "features": features, "reference": reference}
    check_needs(asked.metrics, {name for name, table in beside.items() if table is not None})
    given = {"recs": recs, "truth": truth, **beside, "slices": slices}
    if is_spark(recs):
        from atkay.engines.spark.spark import evaluate_frames

        if memory is not None or resume or spill is not None:
            raise ProtocolError("evaluate: memory=, resume= and spill= are for files. Spark's own settings hold here.")
        return evaluate_frames(given, asked, columns, sampled)
    if memory is not None:
        from atkay.engines.files.files import evaluate_files

        return evaluate_files(given, asked, columns, sampled, memory=memory, resume=resume, spill=spill)
    if resume or spill is not None:
        raise ProtocolError(
            "evaluate: resume= and spill= are for files that are larger than memory: pass memory='2GB'."
        )
    tables = read_tables(given, asked.protocol, columns)
    found = gather(tables, asked.metrics, asked.protocol)
    result = conclude(
        found.judged,
        asked.metrics,
        found.protocol,
        **found.about,
        sampled=sampled,
        names=asked.names,
        dialect=asked.dialect,
    )
    counted = who_counts(found.judged, found.protocol, found.aligned.ids)
    return replace(result, examples=choose(found.aligned, found.judged, counted))


class Asked(NamedTuple):
    """What is asked for: the metrics and the protocol, and where a dialect was spoken, its name and its names."""

    metrics: tuple[Metric, ...]
    protocol: Protocol
    names: Mapping[str, str]
    dialect: str | None


def understand(
    metrics: str | Metric | Iterable[str | Metric],
    dialect: str | None = None,
    protocol: Protocol | None = None,
    fields: Mapping[str, Any] | None = None,
) -> Asked:
    """What the words of a call mean, before anything is read."""
    names: dict[str, str] = {}
    specs: list[str | Metric] = []
    spoken = None
    if dialect is not None:
        from atkay.dialects.dialect import dialect as named

        spoken = named(dialect)
        specs = separate(spoken.having(USUAL, protocol, fields or {}) if metrics is USUAL else metrics)
        meant = spoken.speak(specs)
        names, metrics = {name: str(metric) for name, metric in meant.items()}, list(meant.values())
    asked = parse_all(metrics)
    if protocol is not None and not isinstance(protocol, Protocol):
        raise ProtocolError(f"evaluate: protocol is a Protocol(...), given was {shown(protocol)}.")
    fields = fields or {}
    rules = spoken.settle(protocol, fields, specs) if spoken else (protocol or Protocol()).with_fields(**fields)
    return Asked(asked, rules, names, None if spoken is None else spoken.title)


@dataclass(frozen=True, eq=False)
class Gathered:
    """Tables that were aligned and judged as the protocol says; ``about`` is what :func:`conclude` takes besides.

    The protocol describes its tables, which are in ``aligned``.
    """

    aligned: Aligned
    judged: Judged
    protocol: Protocol
    about: Mapping[str, Any]


def gather(tables: Mapping[str, Table], metrics: Sequence[Metric], protocol: Protocol) -> Gathered:
    """Align and judge what was read."""
    from atkay.evaluation.judge import judge
    from atkay.inputs.coding.align import align_tables
    from atkay.inputs.coding.segments import group_queries, slice_queries

    check_names(tables["truth"], metrics)
    rules = describe(protocol, tables)
    aligned = align_tables(tables, rules, metrics=metrics)
    groups = group_queries(aligned, rules.groups)
    judged, counts, marks = judge(aligned, rules)
    about = {
        "ids": aligned.ids,
        "counts": counts,
        "groups": None if groups is None else groups.code,
        "slicings": slice_queries(aligned.queries, tables.get("slices"), groups),
        "columns": {name: table.used for name, table in tables.items()},
        "fingerprint": {name: str(mark) for name, mark in marks.items()},
        "readings": readings(tables, aligned.common, aligned.side),
    }
    return Gathered(aligned, judged, rules, about)


def readings(tables: Mapping[str, Table], common: Common | None, side: Side | None) -> tuple[str, ...]:
    """Which columns decided the order of the lists, the grades and the categories, where that could be otherwise."""
    found = []
    for name in ("recs", "reference"):
        used = tables[name].used if name in tables else {}
        column = used.get("rank", used.get("score"))
        if column is not None and (len({"rank", "score"} & {*used}) > 1 or column.lower() not in ("rank", "score")):
            found.append(f"{name} ordered by the column '{column}'")
    if common is not None and common.grades is not None and common.grades[2]:
        truth = tables["truth"]
        where = "its values" if truth.label in WITHOUT_COLUMNS else f"the column '{truth.used['relevance']}'"
        found.append(f"truth graded by {where}: {common.grades[0]:g} to {common.grades[1]:g}")
    return (*found, *(() if side is None or side.features is None else side.features.readings))


def check_names(truth: Table, metrics: Sequence[Metric]) -> None:
    """No column of the query's key has the name of a number, which would stand next to it."""
    clash = set(truth.key) & {str(one) for metric in metrics for one in metric.split()}
    if clash:
        raise ColumnError(f"truth: the column {listing(clash)} has the name of a metric that is asked for. Rename it.")


def describe(protocol: Protocol, tables: Mapping[str, Table]) -> Protocol:
    """The protocol as a result keeps it: of its tables, how many rows of what."""
    return protocol.with_fields(
        **{
            name: Described(f"{number_of(len(tables[name]), 'row')} of {tables[name].label}")
            for name in ("exclude", "candidates")
            if name in tables
        }
    )


def conclude(
    judged: Judged,
    metrics: Sequence[Metric],
    protocol: Protocol,
    *,
    ids: Mapping[str, Any],
    counts: Counts,
    groups: Ints | None = None,
    slicings: Sequence[Slicing] = (),
    columns: Mapping[str, Mapping[str, str]] | None = None,
    fingerprint: Mapping[str, str] | None = None,
    sampled: Sampled | None = None,
    names: Mapping[str, str] | None = None,
    dialect: str | None = None,
    readings: tuple[str, ...] = (),
) -> Result:
    """A result out of judged lists, wherever they were judged; needs NumPy alone.

    ``ids``, ``groups`` (-1 for none) and ``slicings`` have an entry per query.
    """
    check_averages(metrics, protocol)
    part = tally(judged, metrics, protocol, ids=ids, counts=counts, slicings=slicings, sampled=sampled)
    return finish(
        part,
        metrics,
        protocol,
        judged,
        ids={name: column[part.rows] for name, column in ids.items()},
        groups=None if groups is None else groups[part.rows],
        slicings=tuple(replace(slicing, code=slicing.code[part.rows]) for slicing in slicings),
        columns=columns or {},
        fingerprint=fingerprint or {},
        sampled=sampled,
        names=names or {},
        dialect=dialect,
        readings=readings,
    )


def finish(found: Tally, metrics: Sequence[Metric], protocol: Protocol, items: Judged, **about: Any) -> Result:
    """A result out of what was measured; ``items`` knows what is known of items, ``about`` has a row per value."""
    population, groups, sampled = found.population, about["groups"], about["sampled"]
    check_anybody(population.evaluated, protocol)
    if groups is not None and (groups < 0).any():
        raise InputError(
            f"average_over: {who(about['ids'], int(np.argmax(groups < 0)))} has no {listing(protocol.groups)} in the "
            "truth. Fill it in; or make it a part of the query with columns=Columns(user=(...)); or skip such queries."
        )
    if (dialect := about.get("dialect")) and (message := _unstable(dialect, metrics, protocol, population)):
        warn(message, TiesWarning)
    elif protocol.ties == "given" and population.tie_decided > DECIDED * population.evaluated:
        averages = all(metric.averages for metric in metrics)
        warn(
            f"the order of equal scores decides {population.tie_decided:,} of {population.evaluated:,} lists, and "
            "ties='given' keeps the order of the input. A model that scores everything alike can look good by luck. "
            + (
                "Choose ties='expected' for the average over all orders, or another word."
                if averages
                else "Choose another word for ties."
            ),
            TiesWarning,
        )
    taken_out = {
        "exclude": population.excluded,
        "candidates": population.outside,
        "unjudged='drop'": population.unjudged,
    }
    if population.listed and population.listed == population.duplicated + sum(taken_out.values()):
        why = ", ".join(f"{count:,} by {name}" for name, count in taken_out.items() if count)
        warn(
            f"every list is empty: all {number_of(population.listed, 'listed item')} were taken out ({why}).",
            OverlapWarning,
        )
    elif not population.hits and population.listed > population.unknown and any(m.needs_truth for m in metrics):
        warn(
            f"no list has a hit: none of {number_of(population.listed, 'listed item')} is relevant for its user.",
            OverlapWarning,
        )
    if sampled is not None:
        warn(
            f"these are {sampled.words}. Such numbers do not compare with others, and can put models in another order "
            "than the whole catalogue would.",
            SampledWarning,
        )
    whole = {segment: finish_run(metrics, states, items) for segment, states in found.states.items()}
    return Result(
        metrics=tuple(metrics),
        query_values=found.values,
        parts=found.parts,
        sums=found.sums,
        population=population,
        protocol=protocol,
        whole=whole.pop(None, {}),
        whole_of={segment: numbers for segment, numbers in whole.items() if segment is not None},
        whole_users=found.whole_users,
        **about,
    )


def _unstable(name: str, metrics: Sequence[Metric], protocol: Protocol, population: Population) -> str:
    """What to say where the order of equal scores in the library is not that of the protocol; nothing elsewhere."""
    from atkay.dialects.dialect import list_dialects

    spoken = next((each for each in list_dialects().values() if each.title == name), None)
    lengths = [] if spoken is None else [spoken.unstable[each.name] for each in metrics if each.name in spoken.unstable]
    if spoken is None or not lengths or protocol.ties == "together":
        return ""
    long = min(lengths) >= LONG
    lists = population.tie_decided_long if long else population.tie_decided
    if not lists:
        return ""
    size = f" with {LONG} items or more" if long else ""
    return (
        f"the order of equal scores decides {number_of(lists, 'list')}{size}, and {spoken.library} orders equal scores "
        "in such lists in a way of its own: its numbers may differ from these. Make the scores differ to compare."
    )


def check_sampled(sampled: object, metrics: Sequence[Metric]) -> None:
    """An estimate is of one user's rank: other numbers have none."""
    from atkay.metrics.sampled import Sampled, check_of_rank

    if not isinstance(sampled, Sampled):
        raise ProtocolError(
            f"evaluate: sampled is Sampled(catalog_size=..., negatives=...), given was {shown(sampled)}."
        )
    for metric in metrics if sampled.estimator != "none" else ():
        check_of_rank(metric)


def check_averages(metrics: Sequence[Metric], protocol: Protocol) -> None:
    """Every metric can be averaged over the orders of equal scores, where that is asked for."""
    if protocol.ties in ("expected", "together") and (without := [each for each in metrics if not each.averages]):
        raise ProtocolError(
            f"{without[0]} has no closed form for ties='{protocol.ties}'; {listing(_averaging())} have. Choose "
            "ties='random', or leave the metric out."
        )


def _averaging() -> list[str]:
    return [name for name, cls in sorted(list_metrics().items()) if cls.averages]


def check_needs(metrics: Sequence[Metric], given: Iterable[str]) -> None:
    """Every metric has what it needs besides lists and truth."""
    for metric in metrics:
        needed = ["train" if name == "pairs" else name for name in metric.needs]
        if missing := [name for name in needed if name not in given]:
            raise SideError(f"{metric} needs {missing[0]}=: {ASKS[missing[0]]}.")
