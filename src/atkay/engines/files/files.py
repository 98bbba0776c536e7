"""Files larger than memory: users in parts, each judged by itself, merged to the result of all."""

from __future__ import annotations

from dataclasses import replace
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from atkay.engines.files.partition import (
    ROWS_PER_BATCH,
    WIDE_INTEGERS,
    Divided,
    Partition,
    divide_tables,
    first_rows,
    has_more,
    in_order,
    in_pieces,
    parts_needed,
    spilled,
)
from atkay.engines.files.spill import spill_folder
from atkay.engines.plan import share
from atkay.errors import AtkayError, DuplicateError, InputError, PopulationError, number_of
from atkay.evaluation.finish import Setting, finish
from atkay.evaluation.measure import measure_tables
from atkay.inputs.checks import ROWS_SAMPLED, as_ids, number
from atkay.inputs.coding.types import fitting
from atkay.inputs.coding.vocabulary import Vocabulary, fits
from atkay.inputs.read import columns_of, read_items, read_recs, read_tables, read_truth, settled_predictions
from atkay.inputs.table import Table
from atkay.tables import FILTERS, SIDE
from atkay.text.progress import Steps
from atkay.text.sizes import bytes_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from atkay.evaluation.part import Part
    from atkay.evaluation.request import Request
    from atkay.inputs.table import Source
    from atkay.results.result import Result

JUDGED_SHARE = 1 / 3
"""Of the memory, for the rows that are judged at a time; the rest is for what all parts share, and for the values."""
BYTES_PER_CODE = 64
"""Memory for each code of an item: flags, and the counts of metrics of the whole run."""


def evaluate_files(request: Request, memory: str | int, spill: str | PathLike[str] | None) -> Result:
    """The result of :func:`atkay.evaluate` from tables that are read in parts; see there."""
    budget = bytes_of(memory)
    divisible = [name for name in ("recs", "truth", *FILTERS) if name in request.tables]
    sources = {name: in_pieces(request.tables[name], name, columns_of(request.columns, name)) for name in divisible}
    joined = settled_predictions(sources["recs"], sources["truth"], request.columns)
    sources |= {name: in_pieces(source, name, columns_of(request.columns, name)) for name, source in joined.items()}
    first = {**request.tables, **{name: first_rows(source) for name, source in sources.items()}}
    tables = _read_first(
        lambda: read_tables(
            first,
            request.protocol,
            request.columns,
            by_score=request.by_score,
            subtopics=request.subtopics,
            cluster=request.cluster,
        ),
        sources,
    )
    divided = divide_tables(sources, tables)
    n_parts = parts_needed(divided, budget * JUDGED_SHARE)
    with spill_folder(spill) as folder:
        partition = in_order(divided, n_parts)
        if partition is None:
            with Steps("partitioning", sum(one.n_rows for one in divided.values())) as steps:
                partition = spilled(divided, n_parts, folder, steps)
        whole = {name: _held(source, tables[name]) for name, source in sources.items() if name not in divided}
        setting = _setting(request, tables, partition, budget // BYTES_PER_CODE, whole)
        wide, parts = _wide_keys(partition), []
        with Steps("judging", len(partition.numbers)) as steps:
            for number in partition.numbers:
                parts.append(_widened(_judged(request, setting, partition, whole, number), wide))
                steps.next()
        return finish(request, setting, parts)


def _read_first(read: Callable[[], dict[str, Table]], sources: Mapping[str, Source]) -> dict[str, Table]:
    """All tables, of some of which the first rows alone are read; an error that counts rows says so."""
    try:
        return read()
    except InputError as error:
        source = sources.get(error.table or "")
        if error.row is not None and source is not None and has_more(source):
            raise error.replace(note=f"Based on the first {ROWS_SAMPLED:,} rows.") from error
        raise


def _held(source: Source, table: Table) -> Source:
    """A table that is not partition out, in memory."""
    names = tuple(table.used.values())
    return replace(source, names=names, select=source.select(names).select, pieces=None)


def _setting(
    request: Request, tables: dict[str, Table], partition: Partition, room: int, whole: Mapping[str, Source]
) -> Setting:
    """What all parts share: each item once is all that is needed of the lists."""
    divided, groups = partition.divided, request.protocol.groups
    side = [tables[name] for name in SIDE if name in tables]
    rows = sum(divided[name].n_rows for name in ("recs", "truth")) + sum(map(len, side))
    room = min(4 * rows + 1024, room)
    items = {"truth": _items(partition, "truth")}
    ends = None if side or any(name in tables for name in FILTERS) else _ends(partition, items["truth"], room)
    items["recs"] = _items(partition, "recs") if ends is None else ends
    small = {}
    for name, ids in items.items():
        table = _read(name, divided[name], divided[name].first, request)
        first = (*(column.head(1) for column in table.ids[:-1]), ids)
        small[name] = replace(table, ids=first, readings=tables[name].readings)
    queries = pl.DataFrame(small["truth"].ids[:-1], schema=small["truth"].key)
    for name, one in divided.items():
        if one.n_rows and one.first.is_empty():  # no row names anybody: the same error as in memory
            fitting(tables[name], small["truth"], queries, groups)
    for name, source in whole.items():
        if len(table := read_items(source, name, columns_of(request.columns, name))):
            fitting(table, small["truth"], queries, groups)
    setting = share(request, {**tables, **small}, room)
    sizes = {name: (len(source.select(source.names)), source.label) for name, source in whole.items()}
    sizes |= {name: (one.n_rows, one.source.label) for name, one in divided.items() if name in FILTERS}
    described: dict[str, Any] = {
        name: f"{number_of(count, 'row')} of {label}" for name, (count, label) in sizes.items()
    }
    columns = {name: table.used for name, table in tables.items()}
    protocol = setting.protocol.with_fields(**described)
    return replace(
        setting, protocol=protocol, columns=columns, whole=tuple(whole), first_rank=_first_rank(divided["recs"])
    )


def _first_rank(recs: Divided) -> int | None:
    """From where ranks are numbered; None where there are none."""
    name = recs.table.used.get("rank")
    if name is None:
        return None
    (lowest,) = recs.ask((number(name, pl.Float64) if recs.source.text else pl.col(name)).min())
    return int(lowest != 0)


def _items(partition: Partition, name: str) -> pl.Series:
    """Each item of a table once."""
    one = partition.divided[name]
    with one.pieces.reading():
        items = partition.rows(name).select(one.item).unique().collect(engine="streaming")
    there = items.to_series().drop_nulls()  # a gap is an error of its row, which is not known here
    return as_ids(there.drop_nans() if there.dtype.is_float() else there, name).sort()


def _ends(partition: Partition, truth: pl.Series, room: int) -> pl.Series | None:
    """The lowest and the highest item of the lists, where these are integers and all between them are codes."""
    one = partition.divided["recs"]
    if not (truth.dtype.is_integer() and one.first[one.item].dtype.is_integer()):
        return None
    ends = _extremes(partition, "recs", one.item)
    every = [*ends, *truth[:1], *truth[-1:]]
    low, high = min(every), max(every)
    return ends if high - low < room and fits(low) and fits(high) else None


def _extremes(partition: Partition, name: str, column: str) -> pl.Series:
    """The lowest and the highest id of a column."""
    ids = pl.col(column)
    with partition.divided[name].pieces.reading():
        extremes = partition.rows(name).select(pl.concat_list(ids.min(), ids.max())).collect(engine="streaming")
    return as_ids(extremes.to_series().explode().drop_nulls(), name)


def _widened(part: Part, wide: Mapping[str, pl.DataType]) -> Part:
    """The part with ids of the types that hold those of all parts."""
    if not wide:
        return part
    ids = {name: column.cast(wide[name]) if name in wide else column for name, column in part.ids.items()}
    of_rows = {"groups": part.groups, "clusters": part.clusters}
    widened: dict[str, Any] = {
        what: frame.with_columns(frame[name].cast(wide[name]) for name in frame.columns if name in wide)
        for what, frame in of_rows.items()
        if frame is not None
    }
    return replace(part, ids=ids, **widened)


def _judged(request: Request, setting: Setting, partition: Partition, whole: Mapping[str, Source], number: int) -> Part:
    """One part; an error counts rows as all parts together do."""
    rows = {name: partition.part(name, number) for name in partition.divided}
    try:
        return measure_tables(request, setting, {**rows, **whole})
    except InputError as error:
        if isinstance(error, DuplicateError) and error.table in partition.divided:
            raise _of_one_part(error, partition) from error
        raise _of_all_rows(error, partition, request) from error
    except PopulationError as error:
        raise _of_one_part(error, partition) from error


def _of_one_part(error: DuplicateError | PopulationError, partition: Partition) -> AtkayError:
    """The same error, which has counted some of the users alone."""
    return error.replace(note=f"(Counts are for one part of {len(partition.numbers)}.)")


def _of_all_rows(error: InputError, partition: Partition, request: Request) -> InputError:
    """The same error with the number that the row has in its table: in a part rows have other numbers."""
    name, first = error.table, 0
    if error.row is None or name is None or name not in partition.divided:
        return error
    one = partition.divided[name]
    with one.pieces.reading():
        for frame in one.pieces.scan(one.names).collect_batches(chunk_size=ROWS_PER_BATCH):
            try:
                _read(name, one, frame, request)
            except InputError as same:
                if same.row is None:  # another error of the same rows, which comes first where all are looked at
                    return same
                counted = f"Counts are for rows {first:,} to {first + len(frame) - 1:,}."
                return same.replace(row=first + same.row, note=counted)
            first += len(frame)
    return error


def _read(name: str, one: Divided, frame: pl.DataFrame, request: Request) -> Table:
    """Some rows of a table, checked."""
    source, columns = one.part_source(frame), columns_of(request.columns, name)
    if name == "recs":
        return read_recs(source, columns, empty=True, by_score=request.by_score)
    if name == "truth":
        further: dict[str, Any] = {"subtopics": request.subtopics, "cluster": request.cluster}
        return read_truth(source, columns, request.protocol.groups, empty=True, **further)
    return read_items(source, name, columns)


def _wide_keys(partition: Partition) -> dict[str, pl.DataType]:
    """The types of users whose ids may not fit into 64 bits, which depends on all of them."""
    types: dict[str, pl.DataType] = {}
    both = {name: partition.divided[name] for name in ("recs", "truth")}
    for at, column in enumerate(both["truth"].key):
        if any(one.first[one.key[at]].dtype in WIDE_INTEGERS for one in both.values()):
            users, _ = Vocabulary.of([(_extremes(partition, name, one.key[at]),) for name, one in both.items()])
            types[column] = users.ids(np.arange(1)).dtypes[0]
    return types
