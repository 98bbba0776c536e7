"""Part: the values, or the exact sums, of some of the users. Whoever makes parts is an engine."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np

from atkay.core.moments import Moments, Sums, sum_up
from atkay.errors import RowsError
from atkay.metrics.spec import parse
from atkay.results.summary import Aggregates, units

if TYPE_CHECKING:
    import polars as pl

    from atkay.core.fingerprint import Fingerprint
    from atkay.core.types import Floats, Ints, Slicing
    from atkay.inputs.coding.shared import SharedIds
    from atkay.metrics.metric import RunMetric
    from atkay.results.population import Population
    from atkay.results.result import Segment

    States = Mapping[Segment, Mapping[str, Ints]]
    Counts = Mapping[Segment, Mapping[str, int]]

K = TypeVar("K")
T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Part:
    """What was measured of some queries; parts of different queries merge to that of all of them.

    A row per counted query: ``rows`` tells which of the judged ones these are, ``ids`` and ``groups`` name them,
    ``values`` has a column for each of the ``names`` and ``ratios`` numerators and denominators where they are pooled.
    ``states`` are those of the metrics of the whole run, which join, for all users and for each segment, and
    ``state_users`` says how many users count in each of their numbers. Once it is summed, there are ``sums`` and no
    rows.
    """

    rows: Ints
    ids: Mapping[str, Any]
    names: tuple[str, ...]
    values: Floats
    ratios: Mapping[str, tuple[Floats, Floats]]
    population: Population
    states: Mapping[Segment, Mapping[str, Ints]] = field(default_factory=dict)
    state_users: Mapping[Segment, Mapping[str, int]] = field(default_factory=dict)
    aggregates: Aggregates = field(default_factory=dict)
    """How the values become one number, for the numbers that are no means."""
    weights: Floats | None = None
    """How much each row counts."""
    weighted: bool = False
    """Whether the rows that were summed had weights."""
    sums: Mapping[Segment, Sums] | None = None
    groups: pl.DataFrame | None = None
    clusters: pl.DataFrame | None = None
    fingerprints: Mapping[str, Fingerprint] = field(default_factory=dict)
    common: SharedIds | None = None
    """What the tables of these users share."""

    def sum(self, groups: Ints | None = None, slicings: Sequence[Slicing] = ()) -> Part:
        """The same with exact sums instead of rows.

        ``groups`` and ``slicings`` have an entry per row. All queries of one group are in this part.
        """
        sums: dict[Segment, Sums] = {None: self._sums(groups, None)}
        for slicing in slicings:
            for code in np.unique(slicing.code).tolist():
                sums[slicing.name, slicing.segments[code]] = self._sums(groups, np.flatnonzero(slicing.code == code))
        ids = {name: column[:0] for name, column in self.ids.items()}
        nothing: dict[str, Any] = {"rows": self.rows[:0], "values": self.values[:0], "ratios": {}, "weights": None}
        return replace(self, **nothing, ids=ids, sums=sums, weighted=self.weights is not None, groups=None)

    def _sums(self, groups: Ints | None, rows: Ints | None) -> Sums:
        by_name = dict(units(self.names, self.values, self.ratios, groups, rows, self.aggregates, self.weights))
        plain = {name: unit for name, unit in by_name.items() if not isinstance(unit, tuple)}
        pairs = {name: unit for name, unit in by_name.items() if isinstance(unit, tuple)}
        moments: dict[str, Moments] = {}
        if plain:
            moments |= sum_up(list(plain), np.array(list(plain.values())).T)
        if pairs:
            moments |= sum_up(list(pairs), *(np.array(side).T for side in zip(*pairs.values(), strict=True)))
        return Sums(len(self.rows) if rows is None else len(rows), {name: moments[name] for name in self.names})

    def merge(self, other: Part) -> Part:
        """Both parts, whose queries are different ones; both are summed."""
        if self.sums is None or other.sums is None:
            raise RowsError("parts merge once they are summed: call sum() on both.")
        return replace(self, sums=merged(self.sums, other.sums, Sums.merge), **_added([self, other]))


def join(parts: Sequence[Part]) -> Part:
    """All parts as one, their rows in the order of the ids."""
    first = parts[0]
    if len(parts) == 1:
        return first
    if first.sums is not None:
        return reduce(Part.merge, parts)
    import polars as pl

    queries = pl.concat([pl.DataFrame(dict(part.ids)) for part in parts])
    order = queries.select(pl.arg_sort_by(queries.columns)).to_series().to_numpy()
    groups = [part.groups for part in parts if part.groups is not None]
    clusters = [part.clusters for part in parts if part.clusters is not None]
    weights = [part.weights for part in parts if part.weights is not None]
    values = np.empty((len(first.names), len(order))).T  # a number's values lie together
    for column in range(values.shape[1]):
        values[:, column] = np.concatenate([part.values[:, column] for part in parts])[order]
    return replace(
        first,
        rows=order,
        ids={column.name: column for column in queries[order].get_columns()},
        values=values,
        ratios={
            name: tuple(np.concatenate([part.ratios[name][side] for part in parts])[order] for side in (0, 1))
            for name in first.ratios
        },
        groups=pl.concat(groups)[order] if groups else None,
        clusters=pl.concat(clusters)[order] if clusters else None,
        weights=np.concatenate(weights)[order] if weights else None,
        **_added(parts),
    )


def _added(parts: Sequence[Part]) -> dict[str, Any]:
    """What adds up over parts of the users, rows or not."""
    commons = [part.common for part in parts if part.common is not None]
    return {
        "population": reduce(lambda one, other: one.merge(other), (part.population for part in parts)),
        "states": reduce(_joined, (part.states for part in parts)),
        "state_users": reduce(_added_up, (part.state_users for part in parts)),
        "fingerprints": reduce(
            lambda one, other: merged(one, other, lambda here, there: here.merge(there)),
            (part.fingerprints for part in parts),
        ),
        "common": reduce(lambda one, other: one.merge(other), commons) if commons else None,
    }


def _joined(one: States, other: States) -> States:
    """The states of both parts."""

    def join(here: Mapping[str, Ints], there: Mapping[str, Ints]) -> Mapping[str, Ints]:
        return {name: cast("RunMetric", parse(name)).join(state, there[name]) for name, state in here.items()}

    return merged(one, other, join)


def _added_up(one: Counts, other: Counts) -> Counts:
    """Counts of users of both parts."""
    return merged(one, other, lambda here, there: {name: count + there[name] for name, count in here.items()})


def merged(one: Mapping[K, T], other: Mapping[K, T], merge: Callable[[T, T], T]) -> dict[K, T]:
    """What either side has, and what both have as one."""
    both = {key: merge(value, other[key]) if key in other else value for key, value in one.items()}
    return both | {key: value for key, value in other.items() if key not in one}
