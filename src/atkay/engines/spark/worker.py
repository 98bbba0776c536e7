"""What Spark's workers do: judge a part of the users, write down their values, and send on what was counted."""

from __future__ import annotations

import math
import os
import pickle
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from atkay.core.order import together
from atkay.core.threads import VARIABLE
from atkay.errors import AtkayError, DuplicateError
from atkay.evaluation.measure import measure_tables
from atkay.evaluation.part import Part
from atkay.inputs.coding.segments import Groups, slice_queries
from atkay.inputs.columns import Columns
from atkay.inputs.frames import as_polars
from atkay.metrics.metric import RunMetric, is_pooled
from atkay.results.summary import RATIO_SIDES
from atkay.text.phrases import argument

if TYPE_CHECKING:
    import pyarrow as pa

    from atkay.evaluation.finish import Setting
    from atkay.evaluation.request import Request
    from atkay.inputs.table import Table

BUNDLES = "part int, table string, rows binary"
"""The columns of what Spark moves: rows of a table that go to the same part, as Arrow data."""
ROWS_PER_BUNDLING = 1 << 20
"""Rows that a worker partitions at a time."""

JUDGED = "part binary, rows binary"
"""The columns of what was judged: what a part counted, or rows of its users as Arrow data."""
USERS_PER_BUNDLE = 1 << 16
"""Users whose rows are kept together."""


@dataclass(frozen=True)
class Written:
    """How the rows of users are written: their ids, a column per number, and both sides of those that are pooled.

    ``groups`` are those that the key does not tell apart.
    """

    schema: pa.Schema
    key: tuple[str, ...]
    numbers: tuple[str, ...]
    pooled: tuple[str, ...]
    groups: tuple[str, ...]

    @classmethod
    def of(
        cls, request: Request, recs: Table, truth: Table, types: Mapping[str, pl.DataType], *, weighted: bool
    ) -> Written:
        """The columns of the request; ``types`` are those of the truth's columns."""
        import pyarrow as pa

        groups = () if set(request.protocol.groups) <= set(truth.key) else request.protocol.groups
        by_query = [metric for metric in request.metrics if not isinstance(metric, RunMetric)]
        estimated = request.sampled is not None and request.sampled.estimator != "none"
        numbers = tuple(str(one) for metric in by_query for one in metric.split())
        pooled = tuple(str(one) for metric in by_query if is_pooled(metric) and not estimated for one in metric.split())
        ids = {
            f"id {at}": here.dtype if here.dtype == there.dtype else pl.Int64()
            for at, (here, there) in enumerate(zip(recs.ids[:-1], truth.ids[:-1], strict=True))
        }
        ids |= {f"group {at}": types[name] for at, name in enumerate(groups)}
        plain = {pa.large_string(): pa.string(), pa.large_binary(): pa.binary()}
        fields = [
            (field.name, plain.get(field.type, field.type)) for field in pl.DataFrame(schema=ids).to_arrow().schema
        ]
        fields += [(f"value {at}", pa.float64()) for at in range(len(numbers))]
        fields += [(f"{side} {at}", pa.float64()) for at in range(len(pooled)) for side in RATIO_SIDES]
        fields += [("weight", pa.float64())] if weighted else []
        return cls(pa.schema(fields), truth.key, numbers, pooled, groups)

    def rows(self, part: Part) -> pa.Table:
        """The rows of a part's users."""
        columns = {f"id {at}": column for at, column in enumerate(part.ids.values())}
        if self.groups and part.groups is not None:
            columns |= {f"group {at}": column for at, column in enumerate(part.groups.get_columns())}
        columns |= {f"value {at}": pl.Series(column) for at, column in enumerate(part.values.T)}
        for at, name in enumerate(self.pooled):
            columns |= {f"{side} {at}": pl.Series(part.ratios[name][n]) for n, side in enumerate(RATIO_SIDES)}
        columns |= {} if part.weights is None else {"weight": pl.Series(part.weights)}
        frame = pl.DataFrame([column.alias(name) for name, column in columns.items()])
        return frame.fill_nan(None).select(self.schema.names).to_arrow().cast(self.schema)

    def part(self, groups: tuple[str, ...], frame: pl.DataFrame, whole: Part) -> Part:
        """All users as one part, in the order of their ids: their rows, and what was counted of all of them."""
        frame = frame.sort([f"id {at}" for at in range(len(self.key))])
        queries = frame.select(pl.col(f"id {at}").alias(name) for at, name in enumerate(self.key))
        of_groups = queries.select(groups) if groups and not self.groups else None
        if self.groups:
            of_groups = frame.select(pl.col(f"group {at}").alias(name) for at, name in enumerate(self.groups))

        def numbers(what: str, names: Sequence[str]) -> Any:
            return frame.select(pl.col(f"{what} {at}").fill_null(math.nan) for at in range(len(names))).to_numpy()

        sides = [numbers(side, self.pooled) for side in RATIO_SIDES]
        return replace(
            whole,
            rows=np.arange(len(frame)),
            ids={column.name: column for column in queries.get_columns()},
            values=numbers("value", self.numbers).reshape(len(frame), -1),
            ratios={name: (sides[0][:, at], sides[1][:, at]) for at, name in enumerate(self.pooled)},
            groups=of_groups,
            weights=frame["weight"].to_numpy() if "weight" in frame.columns else None,
            sums=None,
        )


@dataclass(frozen=True, order=True)
class Failure:
    """What atkay refused in a part."""

    kind: str
    message: str
    error: AtkayError = field(compare=False)


def bundling_of(table: str) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """What a worker does with rows of a table: bundle those that go to the same part, which the first column numbers.

    Spark moves columns of a thousand rows faster than a thousand rows.
    """

    def bundling(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        _bind_threads()
        held: list[pa.RecordBatch] = []
        for batch in batches:
            held.append(batch)
            if sum(each.num_rows for each in held) >= ROWS_PER_BUNDLING:
                yield _bundles(table, held)
                held = []
        if held:
            yield _bundles(table, held)

    return bundling


def _bind_threads() -> None:
    """No more threads than Spark has given cores to the task."""
    from pyspark import TaskContext

    context = TaskContext.get()
    os.environ.setdefault(VARIABLE, str(context.cpus() if context else 1))


def _bundles(table: str, batches: list[pa.RecordBatch]) -> pa.RecordBatch:
    import pyarrow as pa

    rows = pa.Table.from_batches(batches).combine_chunks()
    part = rows.column(0).to_numpy()
    order, start, _ = together(part, int(part.max(initial=-1)) + 1)
    rows = rows.remove_column(0).take(pa.array(order))
    bundles = {at: rows[first:end] for at, (first, end) in enumerate(pairwise(start.tolist())) if first < end}
    return pa.RecordBatch.from_pydict(
        {
            "part": pa.array(bundles, pa.int32()),
            "table": pa.array([table] * len(bundles), pa.string()),
            "rows": pa.array(map(_bundle, bundles.values()), pa.binary()),
        }
    )


def _bundle(rows: pa.Table) -> bytes:
    """Rows as Arrow data."""
    import pyarrow as pa

    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, rows.schema) as stream:
        stream.write_table(rows)
    return sink.getvalue().to_pybytes()  # type: ignore[no-any-return]  # PyArrow has no types


def unbundle(bundles: Iterable[pa.BinaryScalar]) -> pa.Table:
    """The rows of some bundles, of which there is at least one."""
    import pyarrow as pa

    return pa.concat_tables([pa.ipc.open_stream(bundle.as_buffer()).read_all() for bundle in bundles])


def unbundling(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The rows of bundles."""
    for batch in batches:
        if batch.num_rows:
            yield from unbundle(batch.column(0)).to_batches()


def judging_of(
    request: Request,
    setting: Setting,
    empty: Mapping[str, pl.DataFrame],
    whole: dict[str, pl.DataFrame],
    written: Written,
) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """What a worker does with a part: its users' rows, and what was counted, or why it was refused.

    ``empty`` has the columns of the tables that are divided.
    """

    def judging(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa

        _bind_threads()
        bundles: dict[str, list[pa.BinaryScalar]] = {}
        for batch in batches:
            for name, rows in zip(batch.column("table").to_pylist(), batch.column("rows"), strict=True):
                bundles.setdefault(name, []).append(rows)
        if not bundles:
            return
        tables = {**empty, **whole}
        for name, received in bundles.items():
            tables[name] = as_polars(unbundle(received).rename_columns(empty[name].columns))
        written_rows = []
        try:
            part = _judged(request, setting, tables)
            settled: Part | Failure = _summed(part, setting)
            rows = written.rows(part)
            written_rows = [_bundle(rows[at : at + USERS_PER_BUNDLE]) for at in range(0, len(rows), USERS_PER_BUNDLE)]
        except AtkayError as error:
            settled = Failure(type(error).__name__, str(error), error)
        columns = [[packed(settled), *(None for _ in written_rows)], [None, *written_rows]]
        yield pa.RecordBatch.from_arrays([pa.array(column, pa.binary()) for column in columns], ["part", "rows"])

    return judging


def _judged(request: Request, setting: Setting, tables: dict[str, pl.DataFrame]) -> Part:
    """A part, judged. Rows come in any order, and after a failure in another: where it matters they are put in one."""
    assert isinstance(request.columns, Mapping)
    words = [protocol.trait("ties", "by") for protocol in request.protocols]
    settled = not {None, "grade"} & {*words}  # which leave some ties as they stand
    for name in ("truth",) if settled else ("recs", "truth"):
        roles = request.columns[name]
        tables[name] = tables[name].sort(*roles.key, roles.item or "")
    if request.protocol.duplicates != "error" and request.protocol.raters == "one":
        _check_first(tables["truth"], request.columns["truth"], request.protocol.duplicates)
    return measure_tables(request, setting, tables)


def _summed(part: Part, setting: Setting) -> Part:
    """The same with sums instead of rows; all queries of a group are in the part."""
    groups = None if part.groups is None or not len(part.groups) else Groups.of(part.groups)
    slicings, _ = slice_queries(pl.DataFrame(dict(part.ids)), setting.tables.get("slices"), groups)
    return part.sum(None if groups is None else groups.code, slicings)


def _check_first(truth: pl.DataFrame, roles: Columns, word: str) -> None:
    """Of rows that are repeated, it does not matter which one is the first."""
    pair = [*roles.key, *filter(None, (roles.item, roles.subtopic))]
    twice = truth.unique().filter(pl.struct(pair).is_duplicated())
    if len(twice):
        *who, item = twice.select(*roles.key, roles.item or "").row(0)
        raise DuplicateError(
            f"truth: item {item!r} of user {', '.join(map(repr, who))} has conflicting rows, and "
            f"{argument('duplicates', word)} needs their order, which Spark does not keep. Keep one row per user and "
            "item: frame.groupBy(user, item).agg(max(grade))."
        )


def packed(settled: Part | Failure) -> bytes:
    # From our own worker to our own driver, as Spark sends functions and their data.
    return zlib.compress(pickle.dumps(settled), 1)


def merged(parts: Iterable[bytes]) -> Part | Failure:
    """All parts merged; among several errors always the same is raised."""
    whole: Part | Failure | None = None
    for each in parts:
        one: Part | Failure = pickle.loads(zlib.decompress(each))
        if whole is None:
            whole = one
        elif isinstance(whole, Failure):
            whole = min(whole, one) if isinstance(one, Failure) else whole
        else:
            whole = one if isinstance(one, Failure) else whole.merge(one)
    assert whole is not None
    return whole


def merging(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """What some parts counted, as one."""
    import pyarrow as pa

    packed_parts = (one.as_py() for batch in batches for one in batch.column(0))
    first = next(packed_parts, None)
    if first is not None:
        yield pa.RecordBatch.from_pydict({"part": [packed(merged(chain([first], packed_parts)))]})
