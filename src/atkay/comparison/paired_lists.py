"""Paired lists: two runs put in order and filtered as a protocol says, with the same codes for users and items."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl

from atkay.comparison.overlap import apart, same_ids
from atkay.errors import InputError, PopulationError, SourceError
from atkay.evaluation.judge import judge
from atkay.evaluation.measure import values_of, who_counts
from atkay.inputs.coding.align import Codes, align_tables
from atkay.inputs.coding.types import fitting_tables, same_types
from atkay.inputs.coding.vocabulary import Vocabulary
from atkay.inputs.columns import Columns
from atkay.inputs.read import columns_of, read_tables
from atkay.tables import RUNS

if TYPE_CHECKING:
    from atkay.core.lists import Lists
    from atkay.core.types import Floats, Ints
    from atkay.evaluation.judge import Settled
    from atkay.evaluation.request import Request
    from atkay.inputs.table import Table
    from atkay.results.population import Population


class JudgedItems(NamedTuple):
    """What the truth judges of each user, with the grades."""

    items: Lists
    grade: Floats


@dataclass(frozen=True, eq=False)
class PairedLists:
    """The lists of the users that both runs have, ``a`` and ``b``, in the order of the users' ids.

    ``values`` has the metric's value of each user in either run, NaN for who does not count; it and ``truth`` are None
    where there is no truth. ``only_a`` and ``only_b`` are the ids of users with a list in one run only.
    """

    ids: pl.DataFrame
    items: Vocabulary
    a: Lists
    b: Lists
    only_a: pl.DataFrame
    only_b: pl.DataFrame
    populations: tuple[Population, Population]
    example: Table
    """A row of the lists, which tells the types of their ids."""
    truth: JudgedItems | None
    values: tuple[Floats, ...] | None


def pair_lists(runs: tuple[Any, Any], request: Request, columns: Columns | Mapping[str, Columns] | None) -> PairedLists:
    """Two runs, read as ``evaluate`` reads lists, and paired by user."""
    one, other = (_read(run, name, request, columns) for run, name in zip(runs, RUNS, strict=True))
    recs = same_ids(*(replace(tables["recs"], name=name) for tables, name in zip((one, other), RUNS, strict=True)))
    with_truth = "truth" in request.tables
    truth = one["truth"] if with_truth else _stand_in(recs[0])
    recs = replace(recs[0], name="recs"), replace(recs[1], name="recs")
    for _ in range(2):  # the second time, what the second run settled holds for the first one, too
        for at in range(2):
            table, truth = same_types(recs[at], truth)
            recs = (table, recs[1]) if at == 0 else (recs[0], table)
    items = pl.concat([run.ids[-1].to_frame("item") for run in recs], how="vertical_relaxed").to_series()
    listed = replace(recs[0], ids=(*recs[0].ids[:-1], items))
    sides = fitting_tables(one, truth, truth.queries, request.protocol.groups)
    codes, _ = Codes.of(listed, truth, sides, request.metrics)
    settled = []
    for run, name in zip(recs, RUNS, strict=True):
        try:
            settled.append(
                judge(align_tables(one | {"recs": run, "truth": truth}, request.protocol, codes), request.protocol)
            )
        except InputError as error:
            raise error.replace(run=name) from error
    users, user_codes = Vocabulary.of([tuple(each.aligned.queries.get_columns()) for each in settled], dense=True)
    rows = [np.full(users.size, -1) for _ in RUNS]
    for each, code, row in zip(settled, user_codes, rows, strict=True):
        there = np.flatnonzero(each.judged.n_listed)
        row[code[there]] = there
    there_a, there_b = (row >= 0 for row in rows)
    both = np.flatnonzero(there_a & there_b)

    def ids_of(code: Ints) -> pl.DataFrame:
        ids = users.ids(code)
        return ids.rename(dict(zip(ids.columns, recs[0].key, strict=True)))

    if not len(both):
        answered = [set(code[each.judged.answered].tolist()) for each, code in zip(settled, user_codes, strict=True)]
        if answered[0] & answered[1]:
            raise PopulationError(
                "diff: no user has a list in both runs after filtering. Check exclude and candidates."
            )
        raise apart(*([column[0] for column in run.ids[:-1]] for run in recs))
    rows_of_both = [row[both] for row in rows]
    lists = [_picked(each.judged.lists, row) for each, row in zip(settled, rows_of_both, strict=True)]
    values = None
    if with_truth:
        values = tuple(_values(each, request)[row] for each, row in zip(settled, rows_of_both, strict=True))
    return PairedLists(
        ids=ids_of(both),
        items=codes.items,
        a=lists[0],
        b=lists[1],
        only_a=ids_of(np.flatnonzero(there_a & ~there_b)),
        only_b=ids_of(np.flatnonzero(there_b & ~there_a)),
        populations=(settled[0].rows, settled[1].rows),
        example=_stand_in(recs[0]),
        truth=_truth(settled[0], rows_of_both[0]) if with_truth else None,
        values=values,
    )


def _read(run: Any, name: str, request: Request, columns: Columns | Mapping[str, Columns] | None) -> dict[str, Table]:
    """The tables of a call for one run; those of the other one are the same but for the lists."""
    given = {**request.tables, "recs": run}
    with_truth = "truth" in given
    if isinstance(columns, Mapping):
        of_run = {"recs": columns[name]} if name in columns else {}
        columns = {table: of_table for table, of_table in columns.items() if table not in RUNS} | of_run
    if not with_truth:
        columns = {table: columns_of(columns, table) for table in given} | {"truth": Columns()}
        given["truth"] = {}
    try:
        tables = read_tables(
            given,
            request.protocol,
            columns,
            part=not with_truth,
            users=request.users,
            precision=request.precision,
            by_score=request.by_score,
            subtopics=request.subtopics,
        )
        if not len(tables["recs"]):  # where there is no truth, it is read as a part, which may be empty
            raise SourceError(f"{tables['recs'].label} has no rows", advice="Pass lists.", table="recs")
    except InputError as error:
        raise error.replace(run=name) from error
    return tables


def _stand_in(recs: Table) -> Table:
    """A truth for lists that are put in order and not measured: of the users and items of their first row."""
    ids = tuple(column.head(1) for column in recs.ids)
    return replace(recs, ids=ids, text=False, score=None, rank=None, first_rank=None)


def _picked(lists: Lists, rows: Ints) -> Lists:
    """The lists of some queries; the same where these are all of them."""
    return lists if len(rows) == lists.n_queries else lists.pick(rows)


def _truth(settled: Settled, rows: Ints) -> JudgedItems:
    judgements = settled.judged.judgements.pick(rows)
    return JudgedItems(judgements.items, judgements.grade)


def _values(settled: Settled, request: Request) -> Floats:
    """The values of all queries, NaN for those that do not count."""
    counted = who_counts(settled.judged, request.protocol, settled.aligned.ids)
    values = np.full(len(counted), np.nan)
    values[counted] = values_of(settled.judged, request.metrics, request.protocol, counted)[0][:, 0]
    return values
