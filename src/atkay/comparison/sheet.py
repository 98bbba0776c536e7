"""Sheet: the values of several runs side by side, a row per query and a column per run."""

from __future__ import annotations

import dataclasses
import itertools
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from atkay.aggregates import MEAN, Aggregate
from atkay.core.forks import check_threads
from atkay.core.moments import divides
from atkay.core.types import Bools, Clusters, Floats, Ints, Slicing
from atkay.errors import IdError, InputError, ProtocolError, listing, who
from atkay.results.ordered import ordered_value
from atkay.results.summary import Summary, group_means, group_sums, linear, mean, scaled, summarise
from atkay.tables import FILTERS
from atkay.text.phrases import argument, columns_argument

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    import polars as pl

    from atkay.metrics.metric import Metric
    from atkay.results.result import Result

Pair = tuple[int, int]
"""Two runs by index: the second is compared with the first."""

ROUNDING_SHARE = 2.0**-40
"""A user's difference that is smaller than this share of the user's own values comes from rounding.

Values are results of short formulas, right to a few units in the last of 53 bits; what two lists can differ by is far
larger. So equality that exact arithmetic would find is found, and no other. Other users' values do not matter: one
user with very large values must not hide what the others differ by.
"""


@dataclass(frozen=True, eq=False)
class Differences:
    """The differences of two runs, unit by unit, and the most that rounding can have moved each of them.

    A difference within its rounding is 0.
    """

    values: Floats
    rounding: Floats

    @classmethod
    def of(cls, values: Floats, rounding: Floats) -> Differences:
        """Set differences that come from rounding to 0."""
        size = np.abs(values)
        return cls(np.where(size > rounding, values, 0.0), np.minimum(size, rounding))

    @property
    def moving(self) -> Differences:
        """The differences that are not 0."""
        chosen = self.values != 0
        return Differences(self.values[chosen], self.rounding[chosen])

    @cached_property
    def slack(self) -> float:
        """The most that rounding can have moved their sum, whatever their signs."""
        return float(self.rounding.sum())

    @cached_property
    def mean(self) -> float:
        """The mean; 0 where it comes from rounding."""
        return self.beyond_rounding(mean(self.values))

    def beyond_rounding(self, value: float) -> float:
        """The mean of the values, or 0 where it comes from rounding."""
        return 0.0 if abs(value) * len(self.values) <= self.slack else value

    @cached_property
    def alike(self) -> bool:
        """Whether all users differ by the same amount."""
        low, high = self.values - self.rounding, self.values + self.rounding
        return not len(low) or bool(low.max() <= high.min())


@dataclass(frozen=True, eq=False)
class Paired:
    """What one number is the mean of: a row per query, a column per run; NaN where it is undefined.

    ``there`` says which runs evaluate the query at all. Where the number is pooled, ``values`` are numerators and
    ``below`` the denominators. A unit is a query or, where there are groups, all queries of one ``group``; or all
    queries of one ``cluster``: a mean is then a ratio of sums over clusters.
    """

    metric: Metric
    values: Floats
    there: Bools
    below: Floats | None = None
    group: Ints | None = None
    aggregate: Aggregate = MEAN
    weight: Floats | None = None
    """How much each query counts; the same for all queries of a group."""
    cluster: Ints | None = None
    """Which queries depend on each other, where units are clusters; the same for all queries of a group."""
    relabelled: bool = False
    """Whether scores only have to show what relabelling the runs does, see :meth:`relabel`."""

    @property
    def all_runs(self) -> range:
        """The numbers of the runs."""
        return range(self.values.shape[1])

    @cached_property
    def complete(self) -> bool:
        """Whether every query has a value in every run."""
        return bool(self.known(self.all_runs).all())

    def known(self, runs: Sequence[int]) -> Bools:
        """The queries with a value in all of these runs or, where the number is pooled, something to divide by."""
        chosen = list(runs)
        known = ~np.isnan(self.values[:, chosen]) if self.below is None else divides(self.below[:, chosen])
        counts = True if self.weight is None else self.weight > 0
        return np.asarray(known.all(axis=1) & counts)

    def relabel(self) -> Paired:
        """The same for tests that give the runs of a unit other labels.

        Under other labels a weighted mean is that of other values with the same weights. The products of both show
        this exactly; the linear approximation (:meth:`scores`) is about the mean at hand.
        """
        return replace(self, relabelled=True) if self.is_ratio and self.below is None else self

    @property
    def is_ratio(self) -> bool:
        """Whether the number is a ratio of sums over the units, and no mean of their values."""
        return not (self.below is None and self.weight is None and self.cluster is None)

    @cached_property
    def by_user(self) -> Paired:
        """The same without clusters: what is of users, and not of what is independent."""
        return self if self.cluster is None else replace(self, cluster=None)

    def units(self, queries: Bools) -> Bools:
        """The units with any of these queries."""
        unit = self.group if self.cluster is None else self.cluster
        return queries if unit is None else np.bincount(unit, queries) > 0

    def defined(self, runs: Sequence[int]) -> Bools:
        """The units with a value in all of these runs."""
        return self.units(self.known(runs))

    def only(self, runs: Sequence[int]) -> Paired:
        """These runs alone, and the queries with a value in all of them."""
        known = self.known(runs)
        chosen = np.ix_(known, np.array(runs))
        return replace(
            self,
            values=self.values[chosen],
            there=self.there[chosen],
            below=None if self.below is None else self.below[chosen],
            weight=None if self.weight is None else self.weight[known],
            group=None if self.group is None else np.unique(self.group[known], return_inverse=True)[1],
            cluster=None if self.cluster is None else np.unique(self.cluster[known], return_inverse=True)[1],
        )

    def scores(self, runs: Sequence[int]) -> Floats:
        """Values of which the runs' numbers are the means, of the units that are defined in all of these runs.

        A unit's queries count where all of these runs have a value: runs are compared on the same queries.
        """
        return self._scores[:, list(runs)] if self.complete else self.only(runs)._scores

    def summaries(self, pair: Pair) -> tuple[Summary, Summary]:
        """The means and SDs of two runs' scores, of the units with a value in both."""
        if self.complete:
            return self._summaries[pair[0]], self._summaries[pair[1]]
        first, second = map(summarise, self.scores(pair).T)
        return first, second

    @cached_property
    def _summaries(self) -> list[Summary]:
        return list(map(summarise, self._scores.T))

    def rounding(self, runs: Sequence[int]) -> Floats:
        """The most that rounding can move the scores of each unit in these runs, see :data:`ROUNDING_SHARE`."""
        if not self.complete:
            part = self.only(runs)
            return part.rounding(part.all_runs)
        chosen = list(runs)
        if not (self.is_ratio or self.aggregate.logarithmic):
            largest = np.abs(self.values[:, chosen]).max(axis=1)
            return ROUNDING_SHARE * _merged(group_means, largest[:, None], self.group)[:, 0]
        above, below = (side[:, chosen] for side in self._sides)
        if not len(above):
            return np.zeros(0)
        # A share of a value is that share of 1 in its logarithm.
        above = np.abs(above) + below if self.aggregate.logarithmic else np.abs(above)
        above, below = self._by_cluster(above), self._by_cluster(below)
        if self.relabelled or not self.is_ratio:
            return np.asarray(ROUNDING_SHARE * np.abs(above).max(axis=1))
        total = below.sum(axis=0)
        ratio = np.abs(above.sum(axis=0) / total)
        # The terms of the linear approximation, see _scores.
        terms = np.maximum(np.maximum(np.abs(above), ratio * below) * (len(above) / total), ratio)
        return ROUNDING_SHARE * np.asarray(terms.max(axis=1))

    @cached_property
    def _scores(self) -> Floats:
        """The scores of all runs, where every query has a value in each.

        Those of a geometric mean are logarithms.

        A ratio of sums is no mean, nor is a weighted mean. Its linear approximation is (the delta method, as its
        interval in a result): r + (numerator - r · denominator) · n / sum of denominators, whose mean is r.
        """
        if not self.is_ratio:
            return scaled(_merged(group_means, self.values, self.group), self.aggregate)
        values, below = (self._by_cluster(side) for side in self._sides)
        if self.relabelled or not len(values):
            return values
        ratio = np.array([mean((above, under)) for above, under in zip(values.T, below.T, strict=True)])
        return linear(values, below, ratio)

    def _by_cluster(self, side: Floats) -> Floats:
        """The sums over the queries, or groups, of each cluster."""
        if self.cluster is None or not len(side):
            return side
        cluster = self.cluster
        if self.group is not None:
            cluster = cluster[np.unique(self.group, return_index=True)[1]]
        return _merged(group_sums, side, cluster)

    @cached_property
    def _sides(self) -> tuple[Floats, Floats]:
        """What is summed above and below the line: in a mean the values and ones, in a weighted one times weights."""
        if self.below is not None:
            above, below = (_merged(group_sums, side, self.group) for side in (self.values, self.below))
        else:
            above = scaled(_merged(group_means, self.values, self.group), self.aggregate)
            below = np.ones_like(above)
        weight = 1.0 if self.weight is None else _merged(group_means, self.weight[:, None], self.group)
        return weight * above, weight * below

    def difference(self, pair: Pair) -> Differences:
        """The second run less the first, of the units with a value in both."""
        plain = self.group is None and not (self.is_ratio or self.aggregate.logarithmic)
        if not (self.complete and plain):
            first, second = self.scores(pair).T
            return Differences.of(np.asarray(second - first), self.rounding(pair))
        first, second = (self._by_run[run] for run in pair)
        return Differences.of(second - first, ROUNDING_SHARE * np.maximum(np.abs(first), np.abs(second)))

    @cached_property
    def _by_run(self) -> Floats:
        """The values run by run: those of a run lie together."""
        return np.ascontiguousarray(self.values.T)

    def centred(self) -> tuple[Floats, Floats]:
        """The scores of the units with a value in every run, less what all runs share; and their rounding.

        The first run is subtracted before the mean is, so that large scores that are equal leave nothing behind.
        """
        scores, rounding = self.scores(self.all_runs), self.rounding(self.all_runs)
        apart = scores - scores[:, :1]
        widest = np.ptp(apart, axis=1)
        centred = np.where((widest > rounding)[:, None], apart - apart.mean(axis=1, keepdims=True), 0.0)
        return centred, np.minimum(widest, rounding)

    def apart(self, pair: Pair) -> float:
        """How far the two runs' aggregates are apart, of the units with a value in both; 0 where that is rounding."""
        first, second = (ordered_value(values, self.aggregate) for values in self.scores(pair).T)
        return 0.0 if abs(second - first) <= ROUNDING_SHARE * max(abs(first), abs(second)) else second - first

    def columns(self, pairs: Sequence[Pair]) -> tuple[Floats, Floats]:
        """Few columns, and how to combine them: their product has the differences of each pair, 0 where undefined.

        Where every run has all values, a column per run does for all pairs. What all runs share is taken off.
        """
        if self.complete:
            combine = np.zeros((self.values.shape[1], len(pairs)))
            for at, (one, other) in enumerate(pairs):
                combine[one, at], combine[other, at] = -1.0, 1.0
            return self.centred()[0], combine
        defined = [self.defined(pair) for pair in pairs]
        out = np.zeros((len(defined[0]), len(pairs)))
        for at, (pair, units) in enumerate(zip(pairs, defined, strict=True)):
            out[units, at] = self.difference(pair).values
        return out, np.eye(len(pairs))


def _merged(merge: Callable[[Floats, Ints, int], Floats], columns: Floats, group: Ints | None) -> Floats:
    """The columns, group by group."""
    if group is None or not len(group):
        return columns
    return np.column_stack([merge(column, group, int(group.max()) + 1) for column in columns.T])


@dataclass(frozen=True, eq=False)
class Sheet:
    """The values of all runs, aligned by the ids of the queries."""

    metrics: tuple[Metric, ...]
    values: Mapping[str, Floats]
    below: Mapping[str, Floats]
    there: Bools
    groups: Ints | None = None
    slicings: tuple[Slicing, ...] = field(default=())
    aggregates: Mapping[str, Aggregate] = field(default_factory=dict)
    weights: Floats | None = None
    clusters: Clusters | None = None
    rows: Sequence[Ints] = ()
    """Where the rows of each result are."""

    @property
    def uneven(self) -> Bools:
        """The queries that not all runs evaluate or, where a unit has several, for which some runs have no value."""
        uneven = np.asarray(~self.there.all(axis=1))
        if self.groups is not None:
            for name, values in self.values.items():
                missing = ~divides(self.below[name]) if name in self.below else np.isnan(values)
                uneven |= missing.any(axis=1) & ~missing.all(axis=1)
        return uneven

    def paired(self, rows: Ints | None = None) -> list[Paired]:
        """The values of all queries, or of some."""
        chosen = slice(None) if rows is None else rows
        group = None if self.groups is None else np.unique(self.groups[chosen], return_inverse=True)[1]
        cluster = None if self.clusters is None else np.unique(self.clusters.code[chosen], return_inverse=True)[1]
        return [
            Paired(
                metric,
                self.values[str(metric)][chosen],
                self.there[chosen],
                self.below[str(metric)][chosen] if str(metric) in self.below else None,
                group,
                self.aggregates.get(str(metric), MEAN),
                None if self.weights is None else self.weights[chosen],
                cluster,
            )
            for metric in self.metrics
        ]


def lay_out(results: Mapping[str, Result], metrics: Sequence[Metric]) -> Sheet:
    """The results in one sheet; those that do not belong together are refused."""
    import polars as pl

    check_protocols(results)
    frames = _same_types(results)
    check_data(results)
    check_weights(results)
    first = next(iter(frames.values()))
    keys, rows = first, [np.arange(len(first))] * len(frames)
    if not all(frame.equals(first) for frame in frames.values()):
        check_threads()
        # A query is the same by its ids, wherever it stands.
        keys = pl.concat(frames.values()).unique().sort(pl.all())
        numbered = keys.with_row_index("row of all runs")
        rows = [
            frame.join(numbered, on=keys.columns, how="left", maintain_order="left")["row of all runs"].to_numpy()
            for frame in frames.values()
        ]
    there = np.zeros((len(keys), len(results)), bool)
    for at, where in enumerate(rows):
        there[where, at] = True
    if not (there.sum(axis=1) > 1).any():
        one, other = list(frames)[:2]
        raise IdError(
            f"compare: '{one}' and '{other}' have no user in common: {frames[one].row(0)[0]!r} and "
            f"{frames[other].row(0)[0]!r}, for example."
        )
    by_query = [metric for metric in metrics if all(str(metric) in result.by_query for result in results.values())]

    def aligned(columns: Iterator[Floats]) -> Floats:
        out = np.full(there.shape, np.nan)
        for at, (where, column) in enumerate(zip(rows, columns, strict=True)):
            out[where, at] = column
        return out

    values, below = {}, {}
    for metric in by_query:
        name, each = str(metric), list(results.values())
        if name in each[0].ratios:
            values[name], below[name] = (aligned(result.ratios[name][side] for result in each) for side in (0, 1))
        else:
            values[name] = aligned(result.query_values[:, result.by_query.index(name)] for result in each)
    return Sheet(
        metrics=tuple(by_query),
        values=values,
        below=below,
        there=there,
        groups=_groups([result.groups for result in results.values()], rows, len(keys)),
        slicings=tuple(_slicings(results, rows, keys)),
        aggregates=next(iter(results.values())).aggregates,
        weights=_weights(results, rows, len(keys)),
        clusters=_clusters(results, rows, len(keys)),
        rows=rows,
    )


def check_protocols(results: Mapping[str, Result], caller: str = "compare") -> None:
    """Results that were evaluated under different protocols do not compare."""
    (first, one), *others = results.items()
    for run, other in others:
        differ = _differing_words(one, other)
        if differ:
            differing = "; ".join(
                f"{name} is {mine!r} in '{first}' and {their!r} in '{run}'" for name, mine, their in differ
            )
            raise ProtocolError(
                f"{caller}: '{first}' and '{run}' were evaluated under different protocols: {differing}. "
                "Evaluate both with the same protocol."
            )
        if list(one.ids) != list(other.ids):
            raise IdError(
                f"{caller}: '{first}' names a user by {listing(one.ids)}, '{run}' by {listing(other.ids)}. "
                f"Name the same columns with {columns_argument(user=...)}."
            )


def check_data(results: Mapping[str, Result], caller: str = "compare") -> None:
    """Nor do results on different data: all but the lists has to be the same."""
    (first, one), *others = results.items()
    for run, other in others:
        # Of exclude and candidates only rows that lists or truth know are in the fingerprint: lists change it.
        for name in sorted(one.fingerprint.keys() & other.fingerprint.keys() - {"recs", *FILTERS}):
            if one.fingerprint[name] != other.fingerprint[name]:
                raise InputError(
                    f"{caller}: '{first}' and '{run}' were evaluated with a different {name}: the fingerprints are "
                    f"{one.fingerprint[name]} and {other.fingerprint[name]}. Evaluate both with the same {name}."
                )


def _differing_words(one: Result, other: Result) -> list[tuple[str, Any, Any]]:
    rules = {(one.protocol_of(number), other.protocol_of(number)) for number in one if number in other}
    pairs = []
    for mine, their in rules or {(one.protocol, other.protocol)}:
        words = [field.name for field in dataclasses.fields(mine)]
        if mine.trait("ties", "by") != "hash":
            words.remove("seed")  # nothing else is random
        pairs += [(name, getattr(mine, name), getattr(their, name)) for name in words]
    pairs.append(("sampled", one.sampled, other.sampled))
    first, second = (None if each.clusters is None else each.clusters.name for each in (one, other))
    pairs.append(("cluster", first, second))
    pairs.append(("weights", "given" if one.weighted else None, "given" if other.weighted else None))
    return list(dict.fromkeys(each for each in pairs if each[1] != each[2]))


def _same_types(results: Mapping[str, Result]) -> dict[str, pl.DataFrame]:
    """The ids of each run, integers as one type."""
    import polars as pl

    frames = {run: pl.DataFrame(dict(result.ids)) for run, result in results.items()}
    first, one = next(iter(frames.items()))
    for run, frame in frames.items():
        for name, dtype in frame.schema.items():
            if dtype != one.schema[name] and not (dtype.is_integer() and one.schema[name].is_integer()):
                raise IdError(
                    f"compare: '{name}' is {one.schema[name]} in '{first}', such as {one[name][0]!r}, and {dtype} in "
                    f"'{run}', such as {frame[name][0]!r}. Give the runs ids of one type."
                )
    if len({tuple(frame.schema.values()) for frame in frames.values()}) == 1:
        return frames
    return {run: frame.with_columns(pl.selectors.integer().cast(pl.Int128)) for run, frame in frames.items()}


def _groups(groups: Sequence[Ints | None], rows: Sequence[Ints], n_queries: int) -> Ints | None:
    """The group of each query, where a unit is a group.

    Each run has its own numbers for the groups. Two that share a query are one.
    """
    if all(codes is None for codes in groups):
        return None
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    own = [np.unique(codes, return_inverse=True)[1] for codes in groups if codes is not None]
    first = np.cumsum([n_queries, *(int(codes.max()) + 1 for codes in own)])
    query = np.concatenate(rows)
    group = np.concatenate([codes + start for codes, start in zip(own, first, strict=False)])
    graph = coo_array((np.ones(len(query), np.int8), (query, group)), shape=(first[-1], first[-1]))
    components: Ints = connected_components(graph, directed=False)[1][:n_queries].astype(np.int64)
    return components


def _clusters(results: Mapping[str, Result], rows: Sequence[Ints], n_queries: int) -> Clusters | None:
    """The cluster of each query, where they have clusters: the same in all runs."""
    own = [result.clusters for result in results.values() if result.clusters is not None]
    code = _groups([each.code for each in own], rows, n_queries) if own else None
    if code is None:
        return None
    for run, each, where in zip(results, own, rows, strict=True):
        if len(np.unique(code[where])) < len(np.unique(each.code)):
            raise InputError(
                f"compare: some queries are in one cluster in another run, and in several in '{run}'. Evaluate all "
                f"runs with the same {argument('cluster')}."
            )
    return Clusters(own[0].name, code)


def check_weights(results: Mapping[str, Result], caller: str = "compare") -> None:
    """A user who is in several results has one weight."""
    import polars as pl

    here = {run: result for run, result in results.items() if result.weights is not None}
    for (first, mine), (run, their) in itertools.combinations(_same_types(here).items() if here else (), 2):
        key, weight = mine.columns, "weight beside " + "".join(mine.columns)
        frames = [ids.with_columns(pl.Series(weight, here[of].weights)) for of, ids in ((first, mine), (run, their))]
        differ = frames[0].join(frames[1], on=key, suffix=" there").filter(pl.col(weight) != pl.col(f"{weight} there"))
        if len(differ):
            raise InputError(
                f"{caller}: {who({name: differ[name] for name in key}, 0)} has different weights in '{first}' and "
                f"'{run}'. Evaluate both with the same {argument('weights')}."
            )


def _weights(results: Mapping[str, Result], rows: Sequence[Ints], n_queries: int) -> Floats | None:
    """The weight of each query, where users have weights."""
    weights = np.full(n_queries, np.nan)
    for result, where in zip(results.values(), rows, strict=True):
        if result.weights is None:
            return None
        weights[where] = result.weights
    return weights


def _slicings(results: Mapping[str, Result], rows: Sequence[Ints], keys: pl.DataFrame) -> Iterator[Slicing]:
    """The segments of all queries; every run has to know them, and to say the same."""
    (first, one), *others = results.items()
    for run, other in others:
        if [each.name for each in one.slicings] != [each.name for each in other.slicings]:
            raise InputError(
                f"compare: '{first}' has the slices {listing(each.name for each in one.slicings) or 'none'}, '{run}' "
                f"{listing(each.name for each in other.slicings) or 'none'}. Evaluate both with the same "
                f"{argument('slices')}."
            )
    for at, slicing in enumerate(one.slicings):
        each = [result.slicings[at] for result in results.values()]
        names = [[None if segment is None else str(segment) for segment in known.segments] for known in each]
        segments = list(dict.fromkeys(name for known in names for name in known))
        code = np.full(len(keys), -1)
        for known, own, where in zip(each, names, rows, strict=True):
            of_query = np.array([segments.index(name) for name in own])[known.code]
            clash = (code[where] >= 0) & (code[where] != of_query)
            if clash.any():
                ids = {name: keys[name] for name in keys.columns}
                raise InputError(
                    f"compare: {who(ids, int(where[np.argmax(clash)]))} is in different segments of '{slicing.name}' "
                    f"in different runs. Evaluate them with the same {argument('slices')}."
                )
            code[where] = of_query
        yield Slicing(slicing.name, segments, code)
