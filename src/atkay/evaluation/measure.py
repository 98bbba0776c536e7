"""Measure: the values of judged queries, and which queries count. NumPy only."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from atkay.aggregates import MEAN, Aggregate
from atkay.core.kernels import assign, divide
from atkay.core.lists import in_threads, ranges
from atkay.core.moments import divides
from atkay.core.types import QUICKSORT_LENGTH, Bools, Floats, Ints, Slicing
from atkay.errors import PopulationError, ProtocolError, number_of, who
from atkay.evaluation.judge import judge
from atkay.evaluation.part import Part
from atkay.judged.ties import ties_of
from atkay.metrics.metric import Metric, Ratio, RunMetric, is_pooled, runs_of
from atkay.tables import FILTERS
from atkay.text.phrases import argument

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from atkay.core.fingerprint import Fingerprint
    from atkay.evaluation.finish import Setting
    from atkay.evaluation.request import Request
    from atkay.inputs.coding.align import Aligned
    from atkay.judged.judged import Judged
    from atkay.protocol import Protocol
    from atkay.results.population import Population
    from atkay.results.result import Segment

QUERIES_PER_BLOCK = 1 << 20
"""Queries per block when measuring hits, to limit the memory of intermediate arrays."""

LISTS_PER_BLOCK = 1 << 14
"""Queries per block when measuring whole lists: intermediate arrays stay in the cache."""


def measure(
    judged: Judged,
    rows: Population,
    request: Request,
    *,
    ids: Mapping[str, Any],
    slicings: Sequence[Slicing] = (),
    present: Bools | None = None,
) -> Part:
    """The values of the queries that count; ``ids`` and ``slicings`` have an entry per query.

    ``rows`` tells what became of the listed rows, ``present`` which queries count under any protocol: a segment of
    none of these has no numbers.
    """
    metrics, protocol, sampled = request.metrics, request.protocol, request.sampled
    counted = who_counts(judged, protocol, ids)
    by_query = [metric for metric in metrics if not isinstance(metric, RunMetric)]
    values, ratios = values_of(judged, by_query, protocol, counted)
    if sampled is not None and sampled.estimator != "none":
        values, ratios = sampled.of_queries(judged, by_query, counted, ids), {}
    of_run, kept = [metric for metric in metrics if isinstance(metric, RunMetric)], runs_of(metrics)
    states: dict[Segment, Mapping[str, Ints]] = {}
    state_users: dict[Segment, Mapping[str, int]] = {}
    if kept:
        everybody = np.ones_like(counted)
        members: list[tuple[Segment, Bools]] = [(None, everybody)]
        members += [
            ((slicing.name, segment), slicing.code == code)
            for slicing in slicings
            for code, segment in enumerate(slicing.segments)
        ]
        for segment, queries in members:
            if segment is None or (queries & (counted if present is None else present)).any():
                chosen = judged.where(queries & counted)
                states[segment] = {str(metric): metric.state(chosen) for metric in kept}
                state_users[segment] = {
                    str(one): users
                    for metric in of_run
                    for one, users in zip(metric.split(), metric.users(chosen).tolist(), strict=True)
                }
    chosen_rows = np.flatnonzero(counted)
    part_ids = dict(ids) if counted.all() else {name: column[chosen_rows] for name, column in ids.items()}
    names = tuple(name for metric in by_query for name in metric.numbers)
    aggregates = _aggregates(protocol, by_query, names, values, ratios, part_ids)
    return Part(
        rows=chosen_rows,
        ids=part_ids,
        names=names,
        values=values,
        ratios=ratios,
        aggregates=aggregates,
        population=_population(judged, counted, rows, decided(judged, metrics, protocol.depth) & counted),
        states=states,
        state_users=state_users,
    )


def _aggregates(
    protocol: Protocol,
    metrics: Sequence[Metric],
    names: Sequence[str],
    values: Floats,
    ratios: Mapping[str, tuple[Floats, Floats]],
    ids: Mapping[str, Any],
) -> dict[str, Aggregate]:
    """How the users' values become one number, where that is no mean; refused where the values have no such number."""
    aggregate = Aggregate.of(protocol.aggregate)
    if aggregate == MEAN:
        return {}
    if ratios:
        pooled = next(each for each in metrics if isinstance(each, Ratio) and is_pooled(each))
        raise ProtocolError(
            f"{pooled} sums users before it divides, so {argument('aggregate', str(aggregate))} has no values to "
            f"aggregate. Write '{replace(pooled, average='users')}', or leave out the aggregate."
        )
    if aggregate.name == "worst" and (undirected := [each for each in metrics if each.better == "neither"]):
        raise ProtocolError(
            f"{undirected[0]} has no direction, so no users are its worst. Choose "
            f"{argument('aggregate', 'quantile(q=0.1)')} or another one, or leave the metric out."
        )
    if aggregate.logarithmic and (negative := values < 0).any():
        row, at = np.argwhere(negative)[0]
        raise ProtocolError(
            f"{names[at]} is {values[row, at]:g} for {who(ids, int(row))}, and a geometric mean needs values from 0. "
            "Choose another aggregate, or leave the metric out."
        )
    return dict.fromkeys(names, aggregate)


def measure_all(
    request: Request,
    judge_as: Callable[[Protocol], tuple[Judged, Population]],
    *,
    ids: Mapping[str, Any],
    slicings: Sequence[Slicing] = (),
) -> tuple[Part, Judged]:
    """The queries judged and measured under each protocol of the request; and what the main one finds."""
    if not request.apart:
        judged, rows = judge_as(request.protocol)
        return measure(judged, rows, request, ids=ids, slicings=slicings), judged
    each = [(one, *judge_as(one.protocol)) for one in request.by_protocol()]
    counted = [who_counts(judged, one.protocol, ids) for one, judged, _ in each]
    by_ties = [
        decided(judged, one.metrics, one.protocol.depth) & here
        for (one, judged, _), here in zip(each, counted, strict=True)
    ]
    long = [ties & (judged.n_listed >= QUICKSORT_LENGTH) for (_, judged, _), ties in zip(each, by_ties, strict=True)]
    present = np.logical_or.reduce(counted)
    parts = [measure(judged, rows, one, ids=ids, slicings=slicings, present=present) for one, judged, rows in each]
    population = replace(
        parts[0].population,
        evaluated=int(np.count_nonzero(present)),
        tie_decided=int(np.count_nonzero(np.logical_or.reduce(by_ties))),
        tie_decided_long=int(np.count_nonzero(np.logical_or.reduce(long))),
    )
    return _side_by_side(request, parts, ids, population), each[0][1]


def _side_by_side(request: Request, parts: Sequence[Part], ids: Mapping[str, Any], population: Population) -> Part:
    """The numbers of the same queries under several protocols; who does not count in a number has no value there."""
    rows = np.unique(np.concatenate([part.rows for part in parts]))
    of_users = [metric for metric in request.metrics if not isinstance(metric, RunMetric)]
    names = tuple(name for metric in of_users for name in metric.numbers)
    values = np.full((len(names), len(rows)), np.nan).T
    ratios: dict[str, tuple[Floats, Floats]] = {}
    states: dict[Segment, dict[str, Ints]] = {}
    state_users: dict[Segment, dict[str, int]] = {}
    aggregates: dict[str, Aggregate] = {}
    for part in parts:
        aggregates |= part.aggregates
        place = np.searchsorted(rows, part.rows)
        for name, column in zip(part.names, part.values.T, strict=True):
            values[place, names.index(name)] = column
        for name, (numerator, denominator) in part.ratios.items():
            ratios[name] = np.zeros(len(rows)), np.zeros(len(rows))
            ratios[name][0][place], ratios[name][1][place] = numerator, denominator
        for segment, of_segment in part.states.items():
            states.setdefault(segment, {}).update(of_segment)
            state_users.setdefault(segment, {}).update(part.state_users[segment])
    return Part(
        rows=rows,
        ids={name: column[rows] for name, column in ids.items()},
        names=names,
        values=values,
        ratios=ratios,
        aggregates=aggregates,
        population=population,
        states=states,
        state_users=state_users,
    )


def measure_aligned(
    request: Request, setting: Setting, align: Callable[[Protocol], Aligned]
) -> tuple[Part, Judged, Aligned]:
    """The part of aligned queries, and what it was measured on; scores are aligned in the protocol's precision."""
    from atkay.inputs.coding.segments import cluster_queries, group_queries, slice_queries, weigh_queries

    aligned = align(request.protocol)
    groups = group_queries(aligned, request.protocol.groups)
    slicings, segmented = slice_queries(aligned.queries, setting.tables.get("slices"), groups)
    fingerprints: dict[str, Fingerprint] = {}

    def judge_as(protocol: Protocol) -> tuple[Judged, Population]:
        same = protocol.scores == request.protocol.scores
        settled = judge(aligned if same else align(protocol), protocol)
        fingerprints.update(fingerprints or settled.fingerprints())
        return settled.judged, settled.rows

    part, judged = measure_all(request, judge_as, ids=aligned.ids, slicings=slicings)
    assert aligned.common is not None
    divided = {name for name in FILTERS if name not in setting.whole}
    users = {name: replace(each, whole=name not in divided) for name, each in aligned.common.users.items()}
    weights, weighed = weigh_queries(aligned.queries, setting.tables.get("weights"), groups, part.rows)
    clusters, clustered = cluster_queries(aligned, setting.tables.get("cluster"), request.cluster, groups, part.rows)
    of_users = {"slices": segmented, "weights": weighed, "cluster": clustered}
    users |= {name: shared for name, shared in of_users.items() if shared is not None}
    common = replace(aligned.common, users=users)
    groups_of_rows = None if groups is None else groups.ids[part.rows]
    of_rows: dict[str, Any] = {"groups": groups_of_rows, "weights": weights, "clusters": clusters}
    return replace(part, **of_rows, fingerprints=fingerprints, common=common), judged, aligned


def measure_tables(request: Request, setting: Setting, tables: Mapping[str, Any]) -> Part:
    """Some of the users, read, aligned and measured."""
    from atkay.inputs.coding.align import align_tables
    from atkay.inputs.read import read_tables

    read = read_tables(
        tables,
        request.protocol,
        request.columns,
        part=True,
        by_score=request.by_score,
        cluster=request.cluster,
        subtopics=request.subtopics,
    )
    read["recs"] = replace(read["recs"], first_rank=setting.first_rank)
    return measure_aligned(request, setting, lambda protocol: align_tables(read, protocol, setting.codes))[0]


def who_counts(judged: Judged, protocol: Protocol, ids: Mapping[str, Any]) -> Bools:
    """The queries that enter the means."""
    truth, answered = judged.n_relevant > 0, judged.answered
    missing = {"no_recs": truth & ~answered, "no_truth": answered & ~truth}
    what = {"no_recs": "with truth but no list", "no_truth": "with a list but no relevant item"}
    counted = truth & answered
    for name, queries in missing.items():
        word = getattr(protocol, name)
        if word == "error" and queries.any():
            raise PopulationError(
                f"{number_of(int(queries.sum()), 'user')} {what[name]}, {who(ids, int(np.argmax(queries)))} for "
                f"example; the protocol says {argument(name, 'error')}. Fix the data, or choose "
                f"{argument(name, 'zero')} or 'skip'."
            )
        if word in ("zero", "one"):
            counted = counted | queries
        if word == "judged":
            # Without a list, too, where such users count at all.
            without_truth = queries | (~truth & (protocol.no_recs == "zero"))
            counted = counted | (without_truth & judged.has_nonrelevant)
    return counted


def decided(judged: Judged, metrics: Sequence[Metric], depth: int | None = None) -> Bools:
    """Which lists depend on the order of equal scores; ``depth`` is that of the protocol.

    For metrics of hits, where items of different relevance have the same score and one may come before the cutoff;
    for metrics of whole lists, where a cutoff goes through equal scores. Where it matters which item stands first, the
    other equal scores above the cutoff decide, too. A depth is a cutoff of all metrics that look as deep.
    """
    lists = np.zeros(judged.n_queries, bool)
    if judged.uncut is not None:
        assert depth is not None
        lists |= _decided(judged.uncut, metrics, depth)
    return lists if judged.tied is None else lists | _decided(judged, metrics)


def _decided(judged: Judged, metrics: Sequence[Metric], depth: int | None = None) -> Bools:
    """The same for ties that the depth cuts, or for all where there is none."""
    lists = np.zeros(judged.n_queries, bool)

    def cut(t: Ints, n: Ints) -> Bools | bool:
        return depth is None or (t < depth) & (depth < t + n)

    for seen in (judged, *(() if judged.graded is None else (judged.graded,))):
        of_hits = [metric for metric in metrics if metric.needs_truth and (metric.by_grade or seen is judged)]
        t, n, r, _, first = ties_of(seen)
        mixed = (r < n) | (seen.grade != seen.grade[first])
        lists[seen.query[mixed & (t < _deepest(of_hits)) & cut(t, n)]] = True
        lists[seen.query[(n > 1) & (t < _deepest(each for each in of_hits if each.by_item)) & cut(t, n)]] = True
    if judged.level is not None:
        of_lists = [metric for metric in metrics if not (metric.needs_truth or metric.by_length)]
        cuts = [k if depth is None else depth for metric in of_lists for k in metric.cutoffs if k >= (depth or 0)]
        place, by_item = judged.level.item, _deepest(metric for metric in of_lists if metric.by_item)
        lists[judged.level.owner()[np.isin(place, cuts) | ((place <= by_item) & (depth is None))]] = True
    return lists


def _deepest(metrics: Iterable[Metric]) -> int:
    """The deepest cutoff, 0 where there is no metric."""
    return max((k for metric in metrics for k in metric.cutoffs), default=0)


def values_of(
    judged: Judged, metrics: Sequence[Metric], protocol: Protocol, counted: Bools
) -> tuple[Floats, dict[str, tuple[Floats, Floats]]]:
    """The values of the counted queries, and numerators and denominators where they are pooled."""
    lost, place = (judged.n_relevant == 0)[counted], np.concatenate(([0], np.cumsum(counted)))
    column = np.cumsum([0, *(len(metric.cutoffs) for metric in metrics)])
    values = np.empty((column[-1], place[-1])).T  # a number's values lie together
    pooled = [metric for metric in metrics if isinstance(metric, Ratio) and is_pooled(metric)]
    ratios = {str(one): (np.empty(place[-1]), np.empty(place[-1])) for metric in pooled for one in metric.split()}

    def of_block(block: tuple[int, int], *, lists: bool) -> None:
        part = judged if block == (0, judged.n_queries) else judged.part(*block)
        here = counted[slice(*block)]
        whole = bool(here.all())
        chosen = slice(None) if whole else here
        for metric, first, last in zip(metrics, column[:-1], column[1:], strict=True):
            if metric.reads_lists == lists:
                view, target = metric.view(part), values[place[block[0]] : place[block[1]], first:last]
                sides = metric.sides(view) if whole else None
                if sides is None:
                    assign(target, metric.values(view)[chosen])
                else:
                    divide(*sides, out=target)
        for metric in pooled:
            if metric.reads_lists == lists:
                for one, *pooled_sides in zip(
                    metric.split(), *(side.T for side in metric.ratio(metric.view(part))), strict=True
                ):
                    for out, of_queries in zip(ratios[str(one)], pooled_sides, strict=True):
                        out[place[block[0]] : place[block[1]]] = of_queries[chosen]

    for block in ranges(judged.n_queries, QUERIES_PER_BLOCK):
        of_block(block, lists=False)
    if any(metric.reads_lists for metric in metrics):
        in_threads(lambda block: of_block(block, lists=True), ranges(judged.n_queries, LISTS_PER_BLOCK))
    score_missing(values, ratios, metrics, protocol, lost)
    return values, ratios


def score_missing(
    values: Floats,
    ratios: Mapping[str, tuple[Floats, Floats]],
    metrics: Sequence[Metric],
    protocol: Protocol,
    lost: Bools,
) -> None:
    """Give users without truth (``lost``) what the protocol gives them, in place.

    Where lower is better they have no value: 0 would be the best, and there is no worst mean rank.
    """
    width = [len(metric.cutoffs) for metric in metrics]
    best, lower = protocol.no_truth == "one", [metric.better == "lower" for metric in metrics]
    # What counts grades has seen those below min_relevance where these are gains, and scores 0 by itself else.
    about_truth = [metric.needs_truth and (best or not metric.by_grade) for metric in metrics]
    if lost.any():
        value = np.where(lower, np.nan, float(best))
        of_columns = np.repeat(np.array(about_truth, bool), width)
        values[np.ix_(lost, of_columns)] = np.repeat(value, width)[of_columns]
    for metric, scored, low, first in zip(metrics, about_truth, lower, np.cumsum([0, *width]), strict=False):
        for at, one in enumerate(metric.split() if is_pooled(metric) else ()):
            numerator, denominator = ratios[str(one)]
            if scored and low:
                denominator[lost] = 0.0
            if scored:
                numerator[lost] = denominator[lost] if best else 0.0
            values[~divides(denominator), first + at] = np.nan


def _population(judged: Judged, counted: Bools, rows: Population, by_ties: Bools) -> Population:
    truth, answered = judged.n_relevant > 0, judged.answered
    return replace(
        rows,
        evaluated=int(np.count_nonzero(counted)),
        without_list=int(np.count_nonzero(truth & ~answered)),
        without_truth=int(np.count_nonzero(answered & ~truth)),
        emptied=int(np.count_nonzero(answered & (judged.n_listed == 0))),
        relevant=int(judged.n_relevant.sum()),
        hits=len(judged.query),
        tie_decided=int(np.count_nonzero(by_ties)),
        tie_decided_long=int(np.count_nonzero(by_ties & (judged.n_listed >= QUICKSORT_LENGTH))),
    )
