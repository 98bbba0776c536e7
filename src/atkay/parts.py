"""Parts: some of the users judged by themselves, and the result of all of them.

Whoever cannot hold all lists at once deals them out by user: each part is judged on the same ground, and the parts
merge to the result that one evaluation of everybody gives.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from atkay.align import Ground, align_tables, check_common, check_keys, fitting_tables, same_types
from atkay.evaluate import Asked, check_averages, check_names, describe, finish
from atkay.hashing import Mark
from atkay.judge import judge
from atkay.measure import Tally, tally
from atkay.result import Population, Result
from atkay.slicing import Groups, group_queries, slice_queries
from atkay.tables import read_tables

if TYPE_CHECKING:
    from atkay.columns import Columns
    from atkay.judged import Judged
    from atkay.protocol import Protocol
    from atkay.sampling import Sampled
    from atkay.tables import Table


@dataclass(frozen=True, eq=False)
class Plan:
    """What holds for all parts: what is asked for, the ground they are judged on, the tables that are not dealt out.

    ``recs`` and ``truth`` are examples of the rows, for types and messages. The protocol describes its tables.
    """

    asked: Asked
    protocol: Protocol
    ground: Ground
    recs: Table
    truth: Table
    columns: Columns | Mapping[str, Columns] | None = None
    slices: Table | None = None
    sampled: Sampled | None = None

    @classmethod
    def of(
        cls,
        asked: Asked,
        tables: Mapping[str, Table],
        columns: Columns | Mapping[str, Columns] | None = None,
        sampled: Sampled | None = None,
        room: int | None = None,
    ) -> Plan:
        """The plan for tables of which ``recs`` and ``truth`` have each item, and at least one user.

        ``exclude`` and ``candidates`` are described by what is there of them. ``room``: see Vocabulary.
        """
        check_names(tables["truth"], asked.metrics)
        check_averages(asked.metrics, asked.protocol)
        check_keys(tables["recs"], tables["truth"])
        recs, truth = same_types(tables["recs"], tables["truth"])
        queries = pl.DataFrame([column.alias(name) for name, column in zip(truth.key, truth.ids, strict=False)])
        around = fitting_tables(tables, truth, queries, asked.protocol.groups)
        pairs = any("pairs" in metric.needs for metric in asked.metrics)
        ground, _ = Ground.of(recs, truth, around, pairs=pairs, room=room)
        return cls(
            asked,
            describe(asked.protocol, tables),
            ground,
            replace(recs, ids=tuple(column.head(1) for column in recs.ids)),
            replace(truth, ids=tuple(column.head(1) for column in truth.ids)),
            columns,
            tables.get("slices"),
            sampled,
        )


@dataclass(frozen=True, eq=False)
class Part:
    """Some of the users, judged and measured; ``queries`` and ``groups`` have a row per value."""

    tally: Tally
    queries: pl.DataFrame
    groups: pl.DataFrame | None
    marks: Mapping[str, Mark]
    n_queries: int
    n_common: int
    """How many of them have both a list and truth."""
    has_baseline: bool


def judge_part(plan: Plan, recs: Any, truth: Any, exclude: Any = None, candidates: Any = None) -> tuple[Part, Judged]:
    """Judge and measure some of the users; the Judged knows what is known of items."""
    rules = plan.asked.protocol.with_fields(exclude=exclude, candidates=candidates)
    tables = read_tables({"recs": recs, "truth": truth}, rules, plan.columns, part=True)
    aligned = align_tables(tables, rules, plan.ground)
    groups = group_queries(aligned, rules.groups)
    judged, counts, marks = judge(aligned, rules)
    found = tally(
        judged,
        plan.asked.metrics,
        plan.protocol,
        ids=aligned.ids,
        counts=counts,
        slicings=slice_queries(aligned.queries, plan.slices, groups, part=True),
        sampled=plan.sampled,
    )
    part = Part(
        found,
        aligned.queries[found.rows],
        None if groups is None else groups.ids[found.rows],
        marks,
        len(aligned.queries),
        aligned.n_common,
        aligned.has_baseline,
    )
    return part, judged.part(0, 0)


def merge(plan: Plan, parts: Sequence[Part], items: Judged, columns: Mapping[str, Mapping[str, str]]) -> Result:
    """The result of all parts; ``items`` knows what is known of items, as any part's Judged does."""
    population = reduce(Population.merge, (part.tally.population for part in parts))
    listed = population.listed - population.unknown
    check_common(plan.recs, plan.truth, sum(part.n_common for part in parts), listed)
    queries = pl.concat([part.queries for part in parts])
    if plan.ground.beside is not None:
        plan.ground.beside.check(any(part.has_baseline for part in parts), queries)
    order = queries.select(pl.arg_sort_by(queries.columns)).to_series().to_numpy()
    queries = queries[order]
    groups = None
    if parts[0].groups is not None:
        groups = Groups.of(pl.concat([part.groups for part in parts if part.groups is not None])[order])
    marks = dict(parts[0].marks)
    for part in parts[1:]:
        marks = {name: mark.merge(part.marks[name]) for name, mark in marks.items()}
    return finish(
        _joined([part.tally for part in parts], order, population),
        plan.asked.metrics,
        plan.protocol,
        items,
        ids={column.name: column for column in queries.get_columns()},
        groups=None if groups is None else groups.code,
        slicings=slice_queries(queries, plan.slices, groups),
        columns=columns,
        fingerprint={name: str(mark) for name, mark in marks.items()},
        sampled=plan.sampled,
        names=plan.asked.names,
        dialect=plan.asked.dialect,
    )


def _joined(tallies: Sequence[Tally], order: np.ndarray[Any, Any], population: Population) -> Tally:
    """The rows of all tallies in a given order, and their states added up."""
    join = np.concatenate
    values = np.empty((tallies[0].values.shape[1], len(order))).T  # a number's values lie together
    for column in range(values.shape[1]):
        values[:, column] = join([each.values[:, column] for each in tallies])[order]
    states: dict[Any, dict[str, Any]] = {}
    for each in tallies:
        for segment, numbers in each.states.items():
            so_far = states.setdefault(segment, {})
            for name, state in numbers.items():
                so_far[name] = so_far[name] + state if name in so_far else state
    return Tally(
        rows=order,
        names=tallies[0].names,
        values=values,
        parts={
            name: tuple(join([each.parts[name][side] for each in tallies])[order] for side in (0, 1))
            for name in tallies[0].parts
        },
        population=population,
        states=states,
    )
