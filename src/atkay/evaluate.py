"""Evaluate: lists against truth, through the stages, to a result."""

from __future__ import annotations

import warnings
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from atkay.arrays import Bools, Floats, Ints
from atkay.errors import (
    ColumnError,
    InputError,
    PopulationError,
    ProtocolError,
    SampledWarning,
    SideError,
    TiesWarning,
    listing,
    number_of,
    who,
)
from atkay.expected import groups
from atkay.lists import in_threads, mask, ranges
from atkay.metrics.base import Metric, Ratio, RunMetric, parse_all, separate
from atkay.metrics.base import metrics as metric_catalogue
from atkay.metrics.dcg import DCG
from atkay.protocol import Described, Protocol
from atkay.result import Population, Result, Slicing
from atkay.side import ASKS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from atkay.align import Aligned
    from atkay.columns import Columns
    from atkay.judge import Counts
    from atkay.judged import Judged
    from atkay.sampling import Sampled
    from atkay.tables import Table

DECIDED = 0.01
"""From so large a share of lists on that ties decide, it is said."""

QUERIES = 1 << 14
"""Queries that are measured in one go: what lies in between then stays in the cache."""

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
    baseline: Any = None,
    sampled: Sampled | None = None,
    dialect: str | None = None,
    protocol: Protocol | None = None,
    **fields: Any,
) -> Result:
    """Hold ranked lists against held-out truth.

    Parameters
    ----------
    recs
        The lists: a table with a row per user and item and, where the rows are not in order, a ``rank`` or a ``score``
        (Polars, pandas, Arrow); ``{user: [items]}`` or ``{user: {item: score}}``; an array of users x k items, in which
        -1 fills up short lists; a SciPy sparse matrix of scores; or the path of a file (CSV, TSV, Parquet, Arrow, JSON
        Lines, TREC run).
    truth
        What is relevant, in any of these forms; a grade may stand where the lists have a score (TREC qrels included).
    metrics
        Specs such as ``"ndcg@10"`` or ``"map(per=hits)@5,10"``, or metrics such as ``NDCG(k=10)``; left out with a
        dialect, those of the usual six that the library has under one protocol.
    columns
        The names of the columns, where they are not found by themselves.
    slices
        A table that gives each user a segment, or ``{user: segment}``: every metric is also taken per segment.
    train, catalog, features, baseline
        What some metrics need besides: the interactions that the models learned from (users and items); all items; a
        table, or ``{item: ...}``, with categories or numbers of items; the lists of a primitive recommender, or one
        list that it shows to everybody.
    sampled
        Where the lists rank one relevant item among sampled ones and not among all: ``Sampled(catalog_size=n,
        negatives=m)``. The result says so, and can be an estimate for the whole catalogue.
    dialect
        The name of a library, such as "ranx": metrics and protocol then mean what they mean there, as far as nothing
        else is said, and its own names of metrics work, too. ``atkay.dialects()`` lists them.
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
    from atkay.examples import choose
    from atkay.tables import read_tables

    asked = understand(metrics, dialect, protocol, fields)
    if sampled is not None:
        check_sampled(sampled, asked.metrics)
    beside = {"train": train, "catalog": catalog, "features": features, "baseline": baseline}
    check_needs(asked.metrics, {name for name, table in beside.items() if table is not None})
    tables = read_tables({"recs": recs, "truth": truth, **beside, "slices": slices}, asked.protocol, columns)
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
        from atkay.dialects.base import dialect as named

        spoken = named(dialect)
        specs = separate(spoken.having(USUAL, protocol, fields or {}) if metrics is USUAL else metrics)
        meant = spoken.speak(specs)
        names, metrics = {name: str(metric) for name, metric in meant.items()}, list(meant.values())
    asked = parse_all(metrics)
    if protocol is not None and not isinstance(protocol, Protocol):
        raise ProtocolError(f"evaluate: protocol is a Protocol(...), given was {protocol!r}.")
    fields = fields or {}
    rules = spoken.settle(protocol, fields, specs) if spoken else (protocol or Protocol()).with_fields(**fields)
    return Asked(asked, rules, names, None if spoken is None else f"{spoken.library} {spoken.version}")


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
    from atkay.align import align_tables
    from atkay.judge import judge
    from atkay.slicing import group_queries, slice_queries

    check_names(tables["truth"], metrics)
    rules = describe(protocol, tables)
    aligned = align_tables(tables, rules, pairs=any("pairs" in metric.needs for metric in metrics))
    groups = group_queries(aligned, rules.groups)
    judged, counts, fingerprint = judge(aligned, rules)
    about = {
        "ids": aligned.ids,
        "counts": counts,
        "groups": None if groups is None else groups.code,
        "slicings": slice_queries(aligned, tables.get("slices"), groups),
        "columns": {name: table.used for name, table in tables.items()},
        "fingerprint": fingerprint,
    }
    return Gathered(aligned, judged, rules, about)


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
) -> Result:
    """A result out of judged lists, wherever they were judged; needs NumPy alone.

    ``ids``, ``groups`` (-1 for none) and ``slicings`` have an entry per query.
    """
    counted = who_counts(judged, protocol, ids)
    if groups is not None and (lost := counted & (groups < 0)).any():
        columns_of_groups = listing(protocol.groups)
        raise InputError(
            f"average_over: {who(ids, int(np.argmax(lost)))} has no {columns_of_groups} in the truth. Fill it in; or "
            "make it a part of the query with columns=Columns(user=(...)); or skip such queries."
        )
    if protocol.ties in ("expected", "together") and (without := [each for each in metrics if not each.averages]):
        raise ProtocolError(
            f"{without[0]} has no closed form for ties='{protocol.ties}'; {listing(_averaging())} have. Choose "
            "ties='random', or leave the metric out."
        )
    n_decided = decided(judged.where(counted), metrics)
    if protocol.ties == "given" and n_decided > DECIDED * counted.sum():
        warnings.warn(
            f"the order of equal scores decides {n_decided:,} of {counted.sum():,} lists, and ties='given' takes the "
            "order of the rows. A model that scores everything alike can look good by luck. Choose ties='expected' "
            "for the average over all orders, or another word.",
            TiesWarning,
            stacklevel=3,
        )
    by_query = [metric for metric in metrics if not isinstance(metric, RunMetric)]
    values, parts = measure(judged, by_query, protocol, counted)
    if sampled is not None:
        warnings.warn(
            f"these are {sampled.words}. Such numbers do not compare with others, and can put models in another order "
            "than the whole catalogue would.",
            SampledWarning,
            stacklevel=3,
        )
        if sampled.estimator != "none":
            values, parts = sampled.of_queries(judged, by_query, counted, ids), {}
    rows = np.flatnonzero(counted)
    of_run = [metric for metric in metrics if isinstance(metric, RunMetric)]
    return Result(
        metrics=tuple(metrics),
        query_values=values,
        ids={name: column[rows] for name, column in ids.items()},
        population=replace(_population(judged, counted, counts), tie_decided=n_decided),
        protocol=protocol,
        parts=parts,
        groups=None if groups is None else groups[rows],
        slicings=tuple(replace(slicing, code=slicing.code[rows]) for slicing in slicings),
        columns=columns or {},
        fingerprint=fingerprint or {},
        sampled=sampled,
        names=names or {},
        dialect=dialect,
        whole=measure_run(judged.where(counted), of_run) if of_run else {},
        whole_of={
            (slicing.name, segment): measure_run(judged.where(counted & (slicing.code == code)), of_run)
            for slicing in (slicings if of_run else ())
            for code, segment in enumerate(slicing.segments)
            if (counted & (slicing.code == code)).any()
        },
    )


def check_sampled(sampled: object, metrics: Sequence[Metric]) -> None:
    """An estimate is of one user's rank: other numbers have none."""
    from atkay.sampling import Sampled, check_of_rank

    if not isinstance(sampled, Sampled):
        raise ProtocolError(f"evaluate: sampled is Sampled(catalog_size=..., negatives=...), given was {sampled!r}.")
    for metric in metrics if sampled.estimator != "none" else ():
        check_of_rank(metric)


def decided(judged: Judged, metrics: Sequence[Metric]) -> int:
    """How many lists depend on the order of equal scores.

    For metrics of hits, where items of different relevance have the same score and one may come before the cutoff;
    for metrics of whole lists, where a cutoff goes through equal scores.
    """
    if judged.tied is None:
        return 0
    depth = max((k for metric in metrics if metric.needs_truth for k in metric.cutoffs), default=0)
    t, n, r, _, first = groups(judged)
    mixed = (r < n) | (judged.grade != judged.grade[first])
    lists = mask(judged.query[mixed & (t < depth)], judged.n_queries)
    cuts = [k for metric in metrics if not metric.needs_truth for k in metric.cutoffs]
    if judged.level is not None and cuts:
        lists[judged.level.owner()[np.isin(judged.level.item, cuts)]] = True
    return int(np.count_nonzero(lists))


def _averaging() -> list[str]:
    return [name for name, cls in sorted(metric_catalogue().items()) if cls.averages]


def check_needs(metrics: Sequence[Metric], given: Iterable[str]) -> None:
    """Every metric has what it needs besides lists and truth."""
    for metric in metrics:
        needed = ["train" if name == "pairs" else name for name in metric.needs]
        if missing := [name for name in needed if name not in given]:
            raise SideError(f"{metric} needs {missing[0]}=: {ASKS[missing[0]]}. Pass evaluate(..., {missing[0]}=...).")


def measure_run(judged: Judged, metrics: Sequence[RunMetric]) -> dict[str, float]:
    """The numbers of the whole run."""
    found: dict[str, float] = {}
    for metric in metrics:
        numbers = metric.finish(metric.state(judged), judged)
        found |= dict(zip(map(str, metric.split()), numbers.tolist(), strict=True))
    return found


def who_counts(judged: Judged, protocol: Protocol, ids: Mapping[str, Any]) -> Bools:
    """The queries that enter the means."""
    truth, answered = judged.n_relevant > 0, judged.answered
    missing = {"no_recs": truth & ~answered, "no_truth": answered & ~truth}
    what = {"no_recs": "with truth and no list", "no_truth": "with a list and no relevant item"}
    counted = truth & answered
    for name, queries in missing.items():
        word = getattr(protocol, name)
        if word == "error" and queries.any():
            raise PopulationError(
                f"{number_of(int(queries.sum()), 'user')} {what[name]}, {who(ids, int(np.argmax(queries)))} for "
                f"example, and the protocol says {name}='error'. Mend the data, or choose {name}='zero' or 'skip'."
            )
        if word in ("zero", "one", "dcg_zero"):
            counted = counted | queries
        if word == "judged":
            # Without a list, too, where such users count at all.
            asked = queries | (~truth & (protocol.no_recs == "zero"))
            counted = counted | (asked & (judged.nonrelevant[0] > 0))
    if not counted.any():
        raise PopulationError(
            "no user is left to evaluate: nobody has both a list and a relevant item. Are all grades "
            + ("0?" if protocol.min_relevance is None else f"below min_relevance={protocol.min_relevance:g}?")
        )
    return counted


def measure(
    judged: Judged, metrics: Sequence[Metric], protocol: Protocol, counted: Bools
) -> tuple[Floats, dict[str, tuple[Floats, Floats]]]:
    """The values of the counted queries, and numerators and denominators where they are pooled."""
    lost, place = (judged.n_relevant == 0)[counted], np.concatenate(([0], np.cumsum(counted)))
    column = np.cumsum([0, *(len(metric.cutoffs) for metric in metrics)])
    values = np.empty((column[-1], place[-1])).T  # a number's values lie together
    ratios = [metric for metric in metrics if isinstance(metric, Ratio) and is_pooled(metric)]

    def of_block(block: tuple[int, int]) -> list[tuple[Floats, Floats]]:
        part, here = judged.part(*block), counted[slice(*block)]
        chosen = slice(None) if here.all() else here
        for metric, first, last in zip(metrics, column[:-1], column[1:], strict=True):
            of_queries = metric.values(part.above_zero if metric.by_score else part)
            values[place[block[0]] : place[block[1]], first:last] = of_queries[chosen]
        sides = (metric.parts(part.above_zero if metric.by_score else part) for metric in ratios)
        return [(above[chosen], below[chosen]) for above, below in sides]

    blocks = in_threads(of_block, ranges(judged.n_queries, QUERIES))
    parts: dict[str, tuple[Floats, Floats]] = {}
    for metric, of_metric in zip(ratios, zip(*blocks, strict=True), strict=False):
        above, below = (np.concatenate(side) for side in zip(*of_metric, strict=True))
        parts |= {str(one): (above[:, at], below[:, at]) for at, one in enumerate(metric.split())}
    score_missing(values, parts, metrics, protocol, lost, ~judged.answered[counted])
    return values, parts


def is_pooled(metric: Metric) -> bool:
    """Whether users' numerators and denominators are summed before dividing."""
    return isinstance(metric, Ratio) and metric.average == "pooled"


def score_missing(
    values: Floats,
    parts: Mapping[str, tuple[Floats, Floats]],
    metrics: Sequence[Metric],
    protocol: Protocol,
    lost: Bools,
    unanswered: Bools,
) -> None:
    """Give users without truth (``lost``) or without a list what the protocol gives them, in place."""
    width = [len(metric.cutoffs) for metric in metrics]
    for metric in metrics:
        for above, below in (parts[str(one)] for one in (metric.split() if is_pooled(metric) else ())):
            if protocol.no_truth == "one" and metric.needs_truth:
                above[lost] = below[lost]
            if protocol.no_recs == "dcg_zero":
                above[unanswered], below[unanswered] = 0.0, 0.0
    if lost.any():
        about_truth = np.repeat(np.array([metric.needs_truth for metric in metrics], bool), width)
        values[np.ix_(lost, about_truth)] = 1.0 if protocol.no_truth == "one" else 0.0
    if protocol.no_recs == "dcg_zero":
        others = np.repeat([not isinstance(metric, DCG) for metric in metrics], width)
        values[np.ix_(unanswered, others)] = np.nan


def _population(judged: Judged, counted: Bools, counts: Counts) -> Population:
    truth, answered = judged.n_relevant > 0, judged.answered
    return Population(
        evaluated=int(counted.sum()),
        without_list=int((truth & ~answered).sum()),
        without_truth=int((answered & ~truth).sum()),
        emptied=int((answered & (judged.n_listed == 0)).sum()),
        relevant=int(judged.n_relevant.sum()),
        hits=len(judged.query),
        **asdict(counts),
    )
