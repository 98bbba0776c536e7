"""Measure: the values of judged queries, and whom they count. NumPy and nothing else."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from atkay.core.lists import in_threads, ranges
from atkay.core.moments import Moments, Sums, divides, sum_up
from atkay.core.types import LONG, Bools, Floats, Ints, Slicing
from atkay.errors import PopulationError, RowsError, number_of, who
from atkay.judged.ties import groups
from atkay.metrics.dcg import DCG
from atkay.metrics.metric import Metric, Ratio, RunMetric, is_pooled
from atkay.results.result import Population, Segment
from atkay.results.summary import units

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from atkay.evaluation.judge import Counts
    from atkay.judged.judged import Judged
    from atkay.metrics.sampled import Sampled
    from atkay.protocol import Protocol

K = TypeVar("K")
T = TypeVar("T")
N = TypeVar("N", Ints, int)

QUERIES = 1 << 14
"""Queries that are measured in one go: what lies in between then stays in the cache."""


@dataclass(frozen=True, eq=False)
class Tally:
    """What was measured of some queries; tallies of different queries make that of all of them.

    A row per counted query: ``rows`` tells which ones these are, ``values`` has a column for each of the ``names`` and
    ``parts`` numerators and denominators where they are pooled. ``states`` are those of the metrics of the whole run,
    which add up, for everybody and for each segment, and ``whole_users`` says how many users count in each of their
    numbers. Where it is :meth:`summed`, there are ``sums`` and no rows.
    """

    rows: Ints
    names: tuple[str, ...]
    values: Floats
    parts: Mapping[str, tuple[Floats, Floats]]
    population: Population
    states: Mapping[Segment, Mapping[str, Ints]] = field(default_factory=dict)
    whole_users: Mapping[Segment, Mapping[str, int]] = field(default_factory=dict)
    sums: Mapping[Segment, Sums] | None = None

    def summed(self, *, groups: Ints | None = None, slicings: Sequence[Slicing] = ()) -> Tally:
        """The same with exact sums in the place of rows.

        ``groups`` and ``slicings`` have an entry per query, as :func:`tally` takes them. All queries of one group are
        in this tally.
        """
        every = None if groups is None else groups[self.rows]
        found: dict[Segment, Sums] = {None: self._sums(every, None)}
        for slicing in slicings:
            code = slicing.code[self.rows]
            for at in np.unique(code).tolist():
                found[slicing.name, slicing.segments[at]] = self._sums(every, np.flatnonzero(code == at))
        return replace(self, rows=self.rows[:0], values=self.values[:0], parts={}, sums=found)

    def _sums(self, groups: Ints | None, rows: Ints | None) -> Sums:
        found = dict(units(self.names, self.values, self.parts, groups, rows))
        plain = {name: unit for name, unit in found.items() if not isinstance(unit, tuple)}
        pairs = {name: unit for name, unit in found.items() if isinstance(unit, tuple)}
        sums: dict[str, Moments] = {}
        if plain:
            sums |= sum_up(list(plain), np.array(list(plain.values())).T)
        if pairs:
            sums |= sum_up(list(pairs), *(np.array(side).T for side in zip(*pairs.values(), strict=True)))
        return Sums(len(self.rows) if rows is None else len(rows), {name: sums[name] for name in self.names})

    def merge(self, other: Tally) -> Tally:
        """The tally of both parts' queries, which are different ones; both are summed."""
        if self.sums is None or other.sums is None:
            raise RowsError("tallies merge once they are summed: call summed() on both.")
        sums = _merged(self.sums, other.sums, lambda one, two: one.merge(two))
        return replace(
            self,
            population=self.population.merge(other.population),
            sums=sums,
            states=add_up(self.states, other.states),
            whole_users=add_up(self.whole_users, other.whole_users),
        )


def add_up(one: Mapping[Segment, Mapping[str, N]], other: Mapping[Segment, Mapping[str, N]]) -> Any:
    """States, or counts of users, of both parts."""
    return _merged(one, other, lambda here, there: {name: found + there[name] for name, found in here.items()})


def _merged(one: Mapping[K, T], other: Mapping[K, T], merge: Callable[[T, T], T]) -> dict[K, T]:
    """What either side has, and what both have as one."""
    both = {key: merge(found, other[key]) if key in other else found for key, found in one.items()}
    return both | {key: found for key, found in other.items() if key not in one}


def tally(
    judged: Judged,
    metrics: Sequence[Metric],
    protocol: Protocol,
    *,
    ids: Mapping[str, Any],
    counts: Counts,
    slicings: Sequence[Slicing] = (),
    sampled: Sampled | None = None,
) -> Tally:
    """Measure the queries that count; ``ids`` and ``slicings`` have an entry per query."""
    counted = who_counts(judged, protocol, ids)
    by_query = [metric for metric in metrics if not isinstance(metric, RunMetric)]
    values, parts = measure(judged, by_query, protocol, counted)
    if sampled is not None and sampled.estimator != "none":
        values, parts = sampled.of_queries(judged, by_query, counted, ids), {}
    of_run = [metric for metric in metrics if isinstance(metric, RunMetric)]
    states: dict[Segment, Mapping[str, Ints]] = {}
    whole_users: dict[Segment, Mapping[str, int]] = {}
    if of_run:
        # dcg_zero counts users without a list in dcg and ndcg alone, and neither is a metric of the whole run.
        listed = judged.answered if protocol.no_recs == "dcg_zero" else np.ones_like(counted)
        members = [(None, counted)] + [
            ((slicing.name, segment), counted & (slicing.code == code))
            for slicing in slicings
            for code, segment in enumerate(slicing.segments)
        ]
        for segment, queries in members:
            if segment is None or queries.any():
                chosen = judged.where(queries & listed)
                states[segment] = {str(metric): metric.state(chosen) for metric in of_run}
                whole_users[segment] = {
                    str(one): users
                    for metric in of_run
                    for one, users in zip(metric.split(), metric.users(chosen).tolist(), strict=True)
                }
    return Tally(
        rows=np.flatnonzero(counted),
        names=tuple(str(one) for metric in by_query for one in metric.split()),
        values=values,
        parts=parts,
        population=_population(judged, counted, counts, decided(judged, metrics) & counted),
        states=states,
        whole_users=whole_users,
    )


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
    return counted


def check_anybody(evaluated: int, protocol: Protocol) -> None:
    """Somebody is left to take a mean of."""
    if not evaluated:
        raise PopulationError(
            "no user is left to evaluate: nobody has both a list and a relevant item. Are all grades "
            + ("0?" if protocol.min_relevance is None else f"below min_relevance={protocol.min_relevance:g}?")
        )


def decided(judged: Judged, metrics: Sequence[Metric]) -> Bools:
    """Which lists depend on the order of equal scores.

    For metrics of hits, where items of different relevance have the same score and one may come before the cutoff;
    for metrics of whole lists, where a cutoff goes through equal scores. Where it matters which item stands first, the
    other equal scores above the cutoff decide, too.
    """
    lists = np.zeros(judged.n_queries, bool)
    if judged.tied is None:
        return lists
    for seen in (judged, *(() if judged.graded is None else (judged.graded,))):
        of_hits = [metric for metric in metrics if metric.needs_truth and (metric.by_grade or seen is judged)]
        t, n, r, _, first = groups(seen)
        mixed = (r < n) | (seen.grade != seen.grade[first])
        lists[seen.query[mixed & (t < _deepest(of_hits))]] = True
        t, n = seen.ties
        lists[seen.query[(n > 1) & (t < _deepest(metric for metric in of_hits if metric.by_item))]] = True
    if judged.level is not None:
        of_lists = [metric for metric in metrics if not (metric.needs_truth or metric.by_length)]
        cuts = [k for metric in of_lists for k in metric.cutoffs]
        place, depth = judged.level.item, _deepest(metric for metric in of_lists if metric.by_item)
        lists[judged.level.owner()[np.isin(place, cuts) | (place <= depth)]] = True
    return lists


def _deepest(metrics: Iterable[Metric]) -> int:
    """The deepest cutoff, 0 where there is no metric."""
    return max((k for metric in metrics for k in metric.cutoffs), default=0)


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
            of_queries = metric.values(metric.view(part))
            values[place[block[0]] : place[block[1]], first:last] = of_queries[chosen]
        sides = (metric.parts(metric.view(part)) for metric in ratios)
        return [(above[chosen], below[chosen]) for above, below in sides]

    blocks = in_threads(of_block, ranges(judged.n_queries, QUERIES))
    parts: dict[str, tuple[Floats, Floats]] = {}
    for metric, of_metric in zip(ratios, zip(*blocks, strict=True), strict=False):
        above, below = (np.concatenate(side) for side in zip(*of_metric, strict=True))
        parts |= {str(one): (above[:, at], below[:, at]) for at, one in enumerate(metric.split())}
    score_missing(values, parts, metrics, protocol, lost, ~judged.answered[counted])
    return values, parts


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
    if lost.any():
        best = protocol.no_truth == "one"
        # What counts grades has seen those below min_relevance where these are gains, and scores 0 by itself else.
        about_truth = [metric.needs_truth and (best or not metric.by_grade) for metric in metrics]
        values[np.ix_(lost, np.repeat(np.array(about_truth, bool), width))] = 1.0 if best else 0.0
    if protocol.no_recs == "dcg_zero":
        others = np.repeat(np.array([not isinstance(metric, DCG) for metric in metrics], bool), width)
        values[np.ix_(unanswered, others)] = np.nan
    for metric, first in zip(metrics, np.cumsum([0, *width]), strict=False):
        for at, one in enumerate(metric.split() if is_pooled(metric) else ()):
            above, below = parts[str(one)]
            if protocol.no_truth == "one" and metric.needs_truth:
                above[lost] = below[lost]
            if protocol.no_recs == "dcg_zero":
                above[unanswered], below[unanswered] = 0.0, 0.0
            values[~divides(below), first + at] = np.nan


def finish_run(metrics: Sequence[Metric], states: Mapping[str, Ints], items: Judged) -> dict[str, float]:
    """The numbers of the whole run from their states; ``items`` knows what is known of items."""
    found: dict[str, float] = {}
    for metric in metrics:
        if isinstance(metric, RunMetric):
            numbers = metric.finish(states[str(metric)], items)
            found |= dict(zip(map(str, metric.split()), numbers.tolist(), strict=True))
    return found


def _population(judged: Judged, counted: Bools, counts: Counts, by_ties: Bools) -> Population:
    truth, answered = judged.n_relevant > 0, judged.answered
    return Population(
        evaluated=int(counted.sum()),
        without_list=int((truth & ~answered).sum()),
        without_truth=int((answered & ~truth).sum()),
        emptied=int((answered & (judged.n_listed == 0)).sum()),
        relevant=int(judged.n_relevant.sum()),
        hits=len(judged.query),
        tie_decided=int(np.count_nonzero(by_ties)),
        tie_decided_long=int(np.count_nonzero(by_ties & (judged.n_listed >= LONG))),
        **asdict(counts),
    )
