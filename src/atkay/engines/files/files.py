"""Files larger than memory: users in parts, each judged by itself, merged to the result of all."""

from __future__ import annotations

import re
import secrets
from dataclasses import asdict, replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from atkay import __version__
from atkay.engines.files.partition import (
    BATCH,
    WIDE,
    Deal,
    Dealt,
    deal_tables,
    first_rows,
    has_more,
    in_order,
    opened,
    parts_needed,
    spilled,
)
from atkay.engines.files.spill import Folder, load_part, refusing, save_part
from atkay.errors import (
    AtkayError,
    DuplicateError,
    InputError,
    PopulationError,
    ProtocolError,
    SpillError,
    number_of,
    shown,
)
from atkay.evaluation.part import Part, Plan, judge_part, merge
from atkay.inputs.coding.align import fitting
from atkay.inputs.coding.vocabulary import Vocabulary, fits
from atkay.inputs.paths import find_files
from atkay.inputs.read import BESIDE, SOME, Table, as_ids, columns_of, read_items, read_recs, read_tables, read_truth
from atkay.protocol import Described
from atkay.text.progress import Steps
from atkay.text.sizes import bytes_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from atkay.evaluation.evaluate import Asked
    from atkay.inputs.columns import Columns
    from atkay.inputs.kinds import Source
    from atkay.metrics.sampled import Sampled
    from atkay.results.result import Result

SHARE = 1 / 3
"""Of the memory, for the rows that are judged at a time; the rest is for what all parts share, and for the values."""
CODE = 64
"""Bytes of memory for each code of an item: flags, and the counts of metrics of the whole run."""
COUNTED = "(counting from 0)"


def evaluate_files(
    given: Mapping[str, Any],
    asked: Asked,
    columns: Columns | Mapping[str, Columns] | None,
    sampled: Sampled | None,
    *,
    memory: str | int,
    resume: bool,
    spill: str | PathLike[str] | None,
) -> Result:
    """The result of :func:`atkay.evaluate` from tables that are read in parts; see there."""
    budget = bytes_of(memory)
    dealing = {"recs": given["recs"], "truth": given["truth"]}
    dealing |= {name: table for name in ("exclude", "candidates") if _is_table(table := getattr(asked.protocol, name))}
    sources = {name: opened(table, name) for name, table in dealing.items()}
    outside = {name: first_rows(source) for name, source in sources.items() if name not in ("recs", "truth")}
    first = {**given, **{name: first_rows(sources[name]) for name in ("recs", "truth")}}
    tables = _read_first(lambda: read_tables(first, asked.protocol.with_fields(**outside), columns), sources)
    deals = deal_tables(sources, tables)
    n_parts = parts_needed(deals, budget * SHARE)
    inputs = {**given, **dealing}
    folder = Folder.of(
        _spill_folder(spill),
        _request(asked, inputs, columns, sampled, resume=resume),
        {"atkay": __version__, "polars": pl.__version__, "parts": n_parts, "files": _files(inputs)},
        resume=resume,
    )
    try:
        try:
            dealt = in_order(deals, n_parts)
            if dealt is None:
                with Steps("dealing out", sum(deal.n_rows for deal in deals.values())) as steps:
                    dealt = spilled(deals, n_parts, folder.path, steps)
            whole = {name: _held(source, tables[name]) for name, source in sources.items() if name not in deals}
            plan = _described(_plan(asked, tables, dealt, columns, sampled, budget // CODE, whole), deals, whole)
            return _judged(plan, dealt, whole, folder, {name: table.used for name, table in tables.items()})
        finally:
            folder.remove()
    finally:
        # One Ctrl-C raises two interrupts, one from Polars and one from Python: the second may have met the first
        # removal.
        folder.remove()


def _spill_folder(given: object) -> Path | None:
    if given is not None and (not isinstance(given, str | PathLike) or not str(given).strip()):
        raise SpillError(f"spill must be the path of a folder, got {shown(given)}.")
    return None if given is None else Path(str(given)).expanduser()


def _is_table(given: Any) -> bool:
    return given is not None and not isinstance(given, Described)


def _read_first(read: Callable[[], dict[str, Table]], sources: Mapping[str, Source]) -> dict[str, Table]:
    """All tables, of some of which the first rows alone are read; an error that counts rows says so."""
    try:
        return read()
    except InputError as error:
        source = sources.get(_named(error))
        if COUNTED in str(error) and source is not None and has_more(source):
            raise type(error)(f"{error} Counted were the first {SOME:,} rows.") from error
        raise


def _request(
    asked: Asked, inputs: Mapping[str, Any], columns: object, sampled: object, *, resume: bool
) -> dict[str, Any]:
    """What is asked for, as JSON can hold it; different each time where an input is not a file."""
    rules = asdict(asked.protocol.with_fields(exclude=None, candidates=None))
    found: dict[str, Any] = {"metrics": list(map(str, asked.metrics)), "protocol": rules, "names": dict(asked.names)}
    found |= {"dialect": asked.dialect, "columns": repr(columns), "sampled": repr(sampled)}
    for name, table in inputs.items():
        if isinstance(table, str | PathLike):
            found[name] = str(Path(table).absolute())
        elif resume and table is not None:
            raise ProtocolError(
                f"evaluate: resume= is for files, and {name} is a {type(table).__name__}, of which nobody can tell "
                "whether it is the same as before. Write it to a file, or leave resume= out."
            )
        elif table is not None:
            found[name] = secrets.token_hex()
    return found


def _files(inputs: Mapping[str, Any]) -> dict[str, list[Any]]:
    """The files of all inputs, and whether they are as they were: their sizes and times."""
    return {
        name: [[str(file.absolute()), file.stat().st_size, file.stat().st_mtime_ns] for file in find_files(table, name)]
        for name, table in inputs.items()
        if isinstance(table, str | PathLike)
    }


def _held(source: Source, table: Table) -> Source:
    """A table that is not dealt out, in memory."""
    names = tuple(table.used.values())
    return replace(source, names=names, select=source.select(names).select, pieces=None)


def _plan(
    asked: Asked,
    tables: Mapping[str, Table],
    dealt: Dealt,
    columns: Columns | Mapping[str, Columns] | None,
    sampled: Sampled | None,
    room: int,
    whole: Mapping[str, Source],
) -> Plan:
    """What holds for all parts: each item once is all that is needed of the lists."""
    beside = [tables[name] for name in BESIDE if name in tables]
    rows = sum(dealt.deals[name].n_rows for name in ("recs", "truth")) + sum(map(len, beside))
    room = min(4 * rows + 1024, room)
    items = {"truth": _items(dealt, "truth")}
    known = beside or any(name in tables for name in ("exclude", "candidates"))
    ends = None if known else _ends(dealt, items["truth"], room)
    items["recs"] = _items(dealt, "recs") if ends is None else ends
    examples = {
        name: _read(name, dealt.deals[name], dealt.deals[name].first, columns, asked.protocol.groups) for name in items
    }
    small = {
        name: replace(table, ids=(*(column.head(1) for column in table.ids[:-1]), items[name]))
        for name, table in examples.items()
    }
    queries = pl.DataFrame(small["truth"].ids[:-1], schema=small["truth"].key)
    for name, deal in dealt.deals.items():
        if deal.n_rows and deal.first.is_empty():  # no row names anybody: said as it is in memory
            fitting(tables[name], small["truth"], queries, asked.protocol.groups)
    for name, source in whole.items():
        if len(table := read_items(source, name, columns_of(columns, name))):
            fitting(table, small["truth"], queries, asked.protocol.groups)
    return replace(Plan.of(asked, {**tables, **small}, columns, sampled, room=room), whole=tuple(whole))


def _described(plan: Plan, deals: Mapping[str, Deal], whole: Mapping[str, Source]) -> Plan:
    """The plan whose protocol says how many rows its tables have, of which the first alone were read."""
    rows = {name: (len(source.select(source.names)), source.label) for name, source in whole.items()}
    rows |= {n: (deal.n_rows, deal.source.label) for n, deal in deals.items() if n not in ("recs", "truth")}
    words = {name: Described(f"{number_of(count, 'row')} of {label}") for name, (count, label) in rows.items()}
    return replace(plan, protocol=plan.protocol.with_fields(**words))


def _items(dealt: Dealt, name: str) -> pl.Series:
    """Each item of a table once."""
    deal = dealt.deals[name]
    with deal.pieces.reading():
        found = dealt.rows(name).select(deal.item).unique().collect(engine="streaming")
    there = found.to_series().drop_nulls()  # a gap is an error of its row, which is not known here
    return as_ids(there.drop_nans() if there.dtype.is_float() else there, name).sort()


def _ends(dealt: Dealt, truth: pl.Series, room: int) -> pl.Series | None:
    """The lowest and the highest item of the lists, where these are integers and all between them are codes."""
    deal = dealt.deals["recs"]
    if not (truth.dtype.is_integer() and deal.first[deal.item].dtype.is_integer()):
        return None
    ends = _extremes(dealt, "recs", deal.item)
    every = [*ends, *truth[:1], *truth[-1:]]
    low, high = min(every), max(every)
    return ends if high - low < room and fits(low) and fits(high) else None


def _extremes(dealt: Dealt, name: str, column: str) -> pl.Series:
    """The lowest and the highest id of a column."""
    ids = pl.col(column)
    with dealt.deals[name].pieces.reading():
        found = dealt.rows(name).select(pl.concat_list(ids.min(), ids.max())).collect(engine="streaming")
    return as_ids(found.to_series().explode().drop_nulls(), name)


def _judged(
    plan: Plan, dealt: Dealt, whole: Mapping[str, Source], folder: Folder, used: Mapping[str, Mapping[str, str]]
) -> Result:
    """All parts, judged one by one; those that a run before has measured are taken from the folder."""
    wide = _wide_keys(dealt)
    with Steps("judging", len(dealt.numbers)) as steps:
        for number in dealt.numbers:
            path = folder.part(number)
            if not path.exists():
                part = _judged_part(plan, dealt, whole, number)
                with refusing(folder.path):
                    save_part(_widened(part, wide), path)
            steps.next()
    return merge(plan, [load_part(folder.part(number)) for number in dealt.numbers], used)


def _widened(part: Part, wide: Mapping[str, pl.DataType]) -> Part:
    """The part with ids of the types that hold those of all parts."""
    groups = None if part.groups is None else _cast(part.groups, wide)
    return replace(part, queries=_cast(part.queries, wide), groups=groups)


def _cast(ids: pl.DataFrame, wide: Mapping[str, pl.DataType]) -> pl.DataFrame:
    return ids.with_columns(ids[name].cast(dtype) for name, dtype in wide.items() if name in ids.columns)


def _judged_part(plan: Plan, dealt: Dealt, whole: Mapping[str, Source], number: int) -> Part:
    """One part; what is wrong with it is told in numbers of all parts."""
    some = {name: dealt.part(name, number) for name in dealt.deals}
    try:
        return judge_part(plan, **some, **whole)
    except InputError as error:
        if isinstance(error, DuplicateError) and _named(error) in dealt.deals:
            raise _of_one_part(error, dealt) from error
        raise _of_all_rows(error, dealt, plan) from error
    except PopulationError as error:
        raise _of_one_part(error, dealt) from error


def _named(error: InputError) -> str:
    """The table that an error speaks of."""
    return str(error).partition(":")[0]


def _of_one_part(error: DuplicateError | PopulationError, dealt: Dealt) -> AtkayError:
    """The same error, which has counted some of the users alone."""
    return type(error)(f"{error} (Counted was one part of {len(dealt.numbers)}.)")


def _of_all_rows(error: InputError, dealt: Dealt, plan: Plan) -> InputError:
    """The same error with the number that the row has in its table: in a part rows have other numbers."""
    name, first = _named(error), 0
    if COUNTED not in str(error) or name not in dealt.deals:
        return error
    deal = dealt.deals[name]
    with deal.pieces.reading():
        for frame in deal.pieces.scan(deal.names).collect_batches(chunk_size=BATCH):
            try:
                _read(name, deal, frame, plan.columns, plan.protocol.groups)
            except InputError as found:
                head, *row = re.split(r"row (\d+) (?=\(counting)", str(found), maxsplit=1)
                if not row:  # another error of the same rows, which comes first where all are looked at
                    return found
                told = f"{head}row {first + int(row[0])} {row[1]}"
                return type(found)(f"{told} Counted were rows {first:,} to {first + len(frame) - 1:,}.")
            first += len(frame)
    return error


def _read(
    name: str,
    deal: Deal,
    frame: pl.DataFrame,
    columns: Columns | Mapping[str, Columns] | None,
    groups: tuple[str, ...],
) -> Table:
    """Some rows of a table, checked."""
    source, named = deal.part_source(frame), columns_of(columns, name)
    if name == "recs":
        return read_recs(source, named, empty=True)
    if name == "truth":
        return read_truth(source, named, groups, empty=True)
    return read_items(source, name, named)


def _wide_keys(dealt: Dealt) -> dict[str, pl.DataType]:
    """The types of users whose ids may not fit into 64 bits, which depends on all of them."""
    found: dict[str, pl.DataType] = {}
    both = {name: dealt.deals[name] for name in ("recs", "truth")}
    for at, column in enumerate(both["truth"].key):
        if any(deal.first[deal.key[at]].dtype in WIDE for deal in both.values()):
            users, _ = Vocabulary.of([(_extremes(dealt, name, deal.key[at]),) for name, deal in both.items()])
            found[column] = users.ids(np.arange(1)).dtypes[0]
    return found
