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

from atkay.core.fingerprint import Mark
from atkay.core.types import Slicing
from atkay.evaluation.evaluate import Asked, check_averages, check_names, describe, finish, readings
from atkay.evaluation.judge import judge
from atkay.evaluation.measure import Tally, add_up, tally
from atkay.inputs.coding.align import Ground, align_tables, check_keys, fitting_tables, same_types
from atkay.inputs.coding.common import Common, check_common
from atkay.inputs.coding.segments import Groups, group_queries, slice_some
from atkay.inputs.read import read_tables
from atkay.judged.judged import Judged
from atkay.results.result import Population, Result

if TYPE_CHECKING:
    from atkay.inputs.columns import Columns
    from atkay.inputs.read import Table
    from atkay.metrics.sampled import Sampled
    from atkay.protocol import Protocol


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
    whole: tuple[str, ...] = ()
    """Of exclude and candidates, what every part gets whole."""

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
        ground, _ = Ground.of(recs, truth, around, asked.metrics, room=room)
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
    common: Common
    """What their tables share."""

    def summed(self, plan: Plan) -> Part:
        """The same with exact sums in the place of rows; all queries of one group are in this part."""
        groups = None if self.groups is None or not len(self.groups) else Groups.of(self.groups)
        counted = replace(self.tally, rows=np.arange(len(self.queries)))
        slicings, _ = slice_some(self.queries, plan.slices, groups)
        found = counted.summed(groups=None if groups is None else groups.code, slicings=slicings)
        return replace(self, tally=found, queries=self.queries[:0], groups=None)

    def merge(self, other: Part) -> Part:
        """Both parts, which are summed."""
        return replace(
            self,
            tally=self.tally.merge(other.tally),
            marks=_merged(self.marks, other.marks),
            common=self.common.merge(other.common),
        )


def judge_part(plan: Plan, recs: Any, truth: Any, exclude: Any = None, candidates: Any = None) -> Part:
    """Judge and measure some of the users."""
    rules = plan.asked.protocol.with_fields(exclude=exclude, candidates=candidates)
    tables = read_tables({"recs": recs, "truth": truth}, rules, plan.columns, part=True)
    aligned = align_tables(tables, rules, plan.ground)
    groups = group_queries(aligned, rules.groups)
    judged, counts, marks = judge(aligned, rules)
    slicings, segmented = slice_some(aligned.queries, plan.slices, groups)
    found = tally(
        judged,
        plan.asked.metrics,
        plan.protocol,
        ids=aligned.ids,
        counts=counts,
        slicings=slicings,
        sampled=plan.sampled,
    )
    assert aligned.common is not None
    dealt = [name for name in ("exclude", "candidates") if name not in plan.whole]
    users = {name: replace(each, whole=name not in dealt) for name, each in aligned.common.users.items()}
    return Part(
        found,
        aligned.queries[found.rows],
        None if groups is None else groups.ids[found.rows],
        marks,
        replace(aligned.common, users=users | ({} if segmented is None else {"slices": segmented})),
    )


def merge(plan: Plan, parts: Sequence[Part], columns: Mapping[str, Mapping[str, str]]) -> Result:
    """The result of all parts."""
    population = reduce(Population.merge, (part.tally.population for part in parts))
    queries = pl.concat([part.queries for part in parts])
    common = reduce(Common.merge, (part.common for part in parts))
    _check(plan, population, common)
    order = queries.select(pl.arg_sort_by(queries.columns)).to_series().to_numpy()
    queries = queries[order]
    groups = None
    if parts[0].groups is not None:
        groups = Groups.of(pl.concat([part.groups for part in parts if part.groups is not None])[order])
    marks = reduce(_merged, (part.marks for part in parts))
    return finish(
        _joined([part.tally for part in parts], order, population),
        plan.asked.metrics,
        plan.protocol,
        known_items(plan),
        groups=None if groups is None else groups.code,
        slicings=slice_some(queries, plan.slices, groups)[0],
        **_about(plan, queries, marks, columns, common),
    )


def conclude_sums(plan: Plan, part: Part, columns: Mapping[str, Mapping[str, str]]) -> Result:
    """The result of everybody out of one part, which is summed: there is no row per user."""
    _check(plan, part.tally.population, part.common)
    slicings: tuple[Slicing, ...] = ()
    if plan.slices is not None:
        assert plan.slices.extra is not None
        segments = [column.drop_nulls().unique().sort() for column in plan.slices.extra.get_columns()]
        slicings = tuple(Slicing(each.name, [*each, None], np.empty(0, np.int64)) for each in segments)
    return finish(
        part.tally,
        plan.asked.metrics,
        plan.protocol,
        known_items(plan),
        groups=None,
        slicings=slicings,
        **_about(plan, part.queries, part.marks, columns, part.common),
    )


def known_items(plan: Plan) -> Judged:
    """What is known of items, and no query."""
    beside = plan.ground.beside
    return Judged.of_nobody(plan.ground.items.size, None if beside is None else beside.known)


def _check(plan: Plan, population: Population, common: Common) -> None:
    """All parts together have what lists, truth and the other tables must have in common."""
    rows = population.listed - population.unknown
    check_common(common, plan.ground, plan.recs, plan.truth, rows, plan.asked.metrics)


def _about(
    plan: Plan,
    queries: pl.DataFrame,
    marks: Mapping[str, Mark],
    columns: Mapping[str, Mapping[str, str]],
    common: Common,
) -> dict[str, Any]:
    """What a result says of where it comes from."""
    beside = plan.ground.beside
    keyed = {} if beside is None else beside.keyed
    return {
        "ids": {column.name: column for column in queries.get_columns()},
        "columns": columns,
        "fingerprint": {name: str(mark) for name, mark in marks.items()},
        "sampled": plan.sampled,
        "names": plan.asked.names,
        "dialect": plan.asked.dialect,
        "readings": readings(
            {"recs": plan.recs, "truth": plan.truth} | {name: each.table for name, each in keyed.items()},
            common,
            None if beside is None else beside.known,
        ),
    }


def _merged(one: Mapping[str, Mark], other: Mapping[str, Mark]) -> dict[str, Mark]:
    return {name: mark.merge(other[name]) for name, mark in one.items()}


def _joined(tallies: Sequence[Tally], order: np.ndarray[Any, Any], population: Population) -> Tally:
    """The rows of all tallies in a given order, and their states added up."""
    join = np.concatenate
    values = np.empty((tallies[0].values.shape[1], len(order))).T  # a number's values lie together
    for column in range(values.shape[1]):
        values[:, column] = join([each.values[:, column] for each in tallies])[order]
    return Tally(
        rows=order,
        names=tallies[0].names,
        values=values,
        parts={
            name: tuple(join([each.parts[name][side] for each in tallies])[order] for side in (0, 1))
            for name in tallies[0].parts
        },
        population=population,
        states=reduce(add_up, (each.states for each in tallies)),
        whole_users=reduce(add_up, (each.whole_users for each in tallies)),
    )
