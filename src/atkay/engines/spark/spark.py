"""Spark: lists are judged in the cluster they lie in, and the values per user stay there.

The driver learns which column is what and which items there are. Spark then divides the rows of lists and truth by
user, and each part is judged as any other. Sums come back, which are exact in whatever parts the users come.
"""

from __future__ import annotations

import contextlib
import math
import os
import re
import shutil
import subprocess
import sys
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from atkay.aggregates import Aggregate
from atkay.engines.plan import share
from atkay.engines.spark.worker import (
    BUNDLES,
    JUDGED,
    Failure,
    Written,
    bundling_of,
    judging_of,
    merged,
    merging,
    unbundle,
    unbundling,
)
from atkay.errors import IdError, MissingPackageError, ProtocolError, RowsError, listing, need, number_of
from atkay.evaluation.finish import Setting, finish
from atkay.inputs.checks import ROWS_SAMPLED, as_ids
from atkay.inputs.coding.lookup import keyed_by
from atkay.inputs.coding.types import check_keys, check_numbered, fitting, same_types
from atkay.inputs.columns import Columns
from atkay.inputs.frames import as_polars, collect_spark, is_spark, spark_column
from atkay.inputs.nested import flat_frame
from atkay.inputs.read import columns_of, read_tables
from atkay.inputs.table import Source, Table
from atkay.tables import FILTERS

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from atkay.evaluation.part import Part
    from atkay.evaluation.request import Request
    from atkay.inputs.nested import ListColumn
    from atkay.protocol import Protocol
    from atkay.results.result import Result

OLDEST_JAVA = 17
"""The oldest Java that Spark 4 runs on."""
ROWS_PER_PART = 1_000_000
"""Rows that a part has, about: few enough for a worker's memory, and enough to be worth a task."""
FEWEST_ROWS_PER_PART = 20_000
"""With fewer rows a part is not worth a task."""
PARTS_AT_DRIVER = 16
"""More parts than this send what they counted to a few workers first, not all of it to the driver."""


def local_session(cores: int = 2, settings: Mapping[str, str] | None = None) -> SparkSession:
    """A quiet Spark session on this machine; ``settings`` are Spark's own. An active session is taken as it is."""
    need("Spark", "spark", "pyspark", "pyarrow", "pandas")
    check_java()
    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # else the workers' Python is whatever 'python3' is
    usual = {
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.executorEnv.POLARS_MAX_THREADS": "1",  # a task has one core
        "spark.log.level": "ERROR",
        "spark.master": f"local[{cores}]",
        "spark.sql.shuffle.partitions": str(2 * cores),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }
    return SparkSession.builder.config(map={**usual, **(settings or {})}).getOrCreate()


def check_java() -> None:
    """A Java that Spark runs on is there: that of JAVA_HOME, or the first one on the PATH."""
    home = os.environ.get("JAVA_HOME")
    java = shutil.which("java", path=Path(home) / "bin") if home else shutil.which("java")
    where = f"JAVA_HOME is '{home}'" if home else "JAVA_HOME is not set"
    advice = "Install one (Debian: apt install openjdk-17-jre-headless; conda: openjdk=17), or set JAVA_HOME to it."
    if java is None:
        raise MissingPackageError(
            f"Spark needs Java {OLDEST_JAVA} or later, but none was found: {where}", advice=advice
        )
    printed = subprocess.run([java, "-version"], capture_output=True, text=True, check=False)
    version = re.search(r'version "(?:1\.)?(\d+)', printed.stderr + printed.stdout)
    if version is None or int(version[1]) < OLDEST_JAVA:
        described = "of unknown version" if version is None else f"Java {version[1]}"
        raise MissingPackageError(
            f"Spark needs Java {OLDEST_JAVA} or later, and '{java}' is {described}; {where}", advice=advice
        )


def evaluate_spark(request: Request) -> Result:
    """The result of :func:`atkay.evaluate` for lists in a Spark frame."""
    need("Spark", "spark", "pyarrow", "pandas")
    session = request.tables["recs"].sparkSession
    tables, divided, whole = _read(session, request)
    columns = {name: table.used for name, table in tables.items()}
    sizes = {}
    for name in ("recs", "truth"):
        tables[name], sizes[name] = _with_items(tables[name], divided[name])
    filters = {name: tables.pop(name) for name in FILTERS if name in tables}
    sizes |= {name: divided[name].count() if name in divided else len(whole[name]) for name in filters}
    # Where the order of the rows decides, it is refused below; until then any will do that is always the same.
    roles = {name: _roles((tables | filters)[name]) for name in divided}
    apart = {number: _with_any_order(rules) for number, rules in request.apart.items()}
    main = _with_any_order(request.protocol)
    judged_as = replace(request, protocol=main, apart=apart, columns=roles, tables={})
    described: dict[str, Any] = {
        name: f"{number_of(sizes[name], 'row')} of {table.label}" for name, table in filters.items()
    }
    setting = replace(
        share(judged_as, tables),
        protocol=request.protocol.with_fields(**described),
        columns=columns,
        whole=tuple(whole),
        first_rank=tables["recs"].first_rank,
    )
    by = _divided_by(setting, {name: table for name, table in filters.items() if name in divided})
    busy = min(session.sparkContext.defaultParallelism, math.ceil(sum(sizes.values()) / FEWEST_ROWS_PER_PART))
    n_parts = max(busy, math.ceil(sum(sizes.values()) / ROWS_PER_PART))
    rows = _partitioned(divided, by, n_parts)
    empty = {name: as_polars(frame.limit(0).toArrow()) for name, frame in divided.items()}
    schema, weighted = empty["truth"].schema, "weights" in tables
    written = Written.of(judged_as, tables["recs"], tables["truth"], schema, weighted=weighted)
    judged = rows.mapInArrow(judging_of(judged_as, setting, empty, whole, written), JUDGED).persist()
    try:
        part = _settled(judged, n_parts)
        _check_ties(request, part)
    except BaseException:
        _forget(judged)
        raise
    kept = SparkRows(judged, replace(request, tables={}), setting, part, written)
    weakref.finalize(kept, _forget, judged).atexit = False
    if not (written.groups or any(Aggregate.of(each.aggregate).ordered for each in request.protocols)):
        return replace(finish(request, setting, [part]), kept=kept)
    return kept.result()  # the queries of one group are in many parts, and a median needs the values of all users


def _read(
    session: SparkSession, request: Request
) -> tuple[dict[str, Table], dict[str, DataFrame], dict[str, pl.DataFrame]]:
    """All tables, of those in Spark some rows; the frames that are divided by user; what each part gets whole.

    What is not in Spark and names users goes there.
    """
    groups = request.protocol.groups
    each = {name: request.tables[name] for name in ("recs", "truth", *FILTERS) if name in request.tables}
    lists: dict[str, ListColumn | None] = {}
    for name, table in each.items():
        if is_spark(table):
            each[name], lists[name] = flat_frame(table, name, columns_of(request.columns, name))
    seen = {name: _some_rows(each[name], name, nested) for name, nested in lists.items()}
    tables = read_tables(
        {**request.tables, **seen},
        request.protocol,
        request.columns,
        by_score=request.by_score,
        subtopics=request.subtopics,
    )
    check_keys(tables["recs"], tables["truth"])
    tables["recs"], tables["truth"] = same_types(tables["recs"], tables["truth"])
    queries = tables["truth"].queries
    divided: dict[str, DataFrame] = {}
    whole: dict[str, pl.DataFrame] = {}
    for name, given_one in each.items():
        if name in FILTERS:
            if tables[name].key:
                check_numbered(tables[name], tables["truth"])
            if len(tables[name]):
                tables[name] = fitting(tables[name], tables["truth"], queries, groups)
        table = tables[name]
        names = list(dict.fromkeys([*table.used.values(), *(table.extra.columns if table.extra is not None else ())]))
        if not table.key:
            whole[name] = collect_spark(given_one, name, names) if is_spark(given_one) else table.ids[-1].to_frame()
        elif is_spark(given_one):
            divided[name] = given_one.select(*map(spark_column, names))
        else:
            divided[name] = session.createDataFrame(_written_out(table).to_arrow())
    return tables, divided, whole


def _some_rows(frame: DataFrame, name: str, nested: ListColumn | None) -> Source:
    """The first rows of a frame, those without gaps if there are any: all rows are looked at where they are judged."""

    def select(names: Sequence[str]) -> pl.DataFrame:
        rows = collect_spark(frame.limit(ROWS_SAMPLED), name, names)
        full = rows.with_columns(pl.selectors.float().fill_nan(None)).drop_nulls()
        return full if len(full) else rows

    source = Source(tuple(frame.columns), select, "a Spark frame", ordered=False)
    return source if nested is None else replace(source, roles=nested.roles)


def _written_out(table: Table) -> pl.DataFrame:
    """A table that was read, as a frame again, in types that Spark has."""
    names = [name for role, name in table.used.items() if role == "item" or role.startswith("user")]
    columns = {name: column.alias(name) for name, column in zip(names, table.ids, strict=True)}
    for role, column in (("relevance", table.grade), ("subtopic", table.subtopic)):
        if column is not None:
            columns[table.used[role]] = column.alias(table.used[role])
    if table.extra is not None:
        columns = {column.name: column for column in table.extra.get_columns()} | columns
    return pl.DataFrame([_narrow(column, table.name) for column in columns.values()])


def _narrow(column: pl.Series, table: str) -> pl.Series:
    """Integers in the widest type that Spark has for them."""
    if not column.dtype.is_integer():
        return column
    narrow = column.cast(pl.Int64, strict=False)
    beyond = column.filter(narrow.is_null() & column.is_not_null())
    if len(beyond):
        raise IdError(
            f"{table}: '{column.name}' holds {beyond[0]}, which exceeds Spark's largest integer, {2**63 - 1}. "
            f"Use text ids in all tables."
        )
    return narrow


def _with_items(table: Table, frame: DataFrame) -> tuple[Table, int]:
    """The table with all its items, and its number of rows."""
    from pyspark.sql import functions as f

    item = table.used["item"]
    gaps = [f.count_if(spark_column(name).isNull()).alias(f"gaps {at}") for at, name in enumerate(table.key)]
    ranks = [f.min(spark_column(table.used["rank"])).alias("lowest rank")] if "rank" in table.used else []
    counts = as_polars(
        frame.groupBy(spark_column(item).alias(item)).agg(f.count(f.lit(1)).alias("rows"), *gaps, *ranks).toArrow()
    )
    size = int(counts["rows"].sum())
    missing = {name: int(counts[f"gaps {at}"].sum()) for at, name in enumerate(table.key)}
    missing[item] = int(counts.filter(pl.col(item).is_null())["rows"].sum())
    for name, count in missing.items():
        if count:
            raise IdError(
                f"{table.name}: '{name}' is missing in {count:,} of {size:,} rows. Fill in the ids, or drop these rows."
            )
    items = as_ids(counts[item], table.name)
    first_rank = int(counts["lowest rank"].cast(pl.Float64, strict=False).min() != 0) if ranks else None
    return replace(table, ids=(*table.ids[:-1], items), first_rank=first_rank), size


def _roles(table: Table) -> Columns:
    """Which column is what, said rather than found."""
    used: dict[str, Any] = {role: name for role, name in table.used.items() if not role.startswith("user")}
    return Columns(user=table.key, **used)


def _divided_by(setting: Setting, filters: Mapping[str, Table]) -> dict[str, list[str]]:
    """The columns of each table that decide to which part a row goes.

    A table may name queries by a part of their key, such as the user alone: then that part of the key decides. Nor are
    groups divided where the key tells them apart.
    """
    recs, truth, groups = setting.tables["recs"], setting.tables["truth"], setting.protocol.groups
    key = truth.key
    key_of = {
        name: dict(zip(keyed_by(table, truth.queries, groups).columns, table.key, strict=True))
        for name, table in filters.items()
    }
    common = [name for name in key if all(name in of for of in key_of.values())]
    if not common:
        one, other = key_of
        raise IdError(
            f"{one} names queries by {listing(key_of[one].values())}, {other} by "
            f"{listing(key_of[other].values())}. On Spark they need a common column, by which all tables are divided."
        )
    if set(groups) <= set(key):
        common = [name for name in common if name in groups] or common
    key_of |= {"recs": dict(zip(key, recs.key, strict=True)), "truth": dict(zip(key, key, strict=True))}
    return {name: [of[one] for one in common] for name, of in key_of.items()}


def _partitioned(divided: Mapping[str, DataFrame], by: Mapping[str, list[str]], n_parts: int) -> DataFrame:
    """The rows of all tables, partitioned and bundled: part, table, rows."""
    from pyspark.sql import functions as f

    keys = [frame.select(*map(spark_column, by[name])) for name, frame in divided.items()]
    types = [field.dataType for field in reduce(lambda one, other: one.union(other), keys).schema]  # for all of them
    bundles = []
    for name, frame in divided.items():
        key = [spark_column(column).cast(kind) for column, kind in zip(by[name], types, strict=True)]
        columns = [spark_column(column).alias(str(n)) for n, column in enumerate(frame.columns)]
        rows = frame.select(f.pmod(f.hash(*key), f.lit(n_parts)).cast("int").alias("part"), *columns)
        bundles.append(rows.mapInArrow(bundling_of(name), BUNDLES))
    together = reduce(lambda one, other: one.union(other), bundles)
    part = f.col("part")
    # Before Spark 4.1 the number of a part is hashed: some places get several parts, others none.
    spread = together.repartitionById if hasattr(together, "repartitionById") else together.repartition
    return spread(n_parts, part)


def _settled(judged: DataFrame, n_parts: int) -> Part:
    """What all parts counted, which has them judged."""
    from pyspark.errors import PythonException

    settled = judged.select("part").where("part IS NOT NULL")
    if n_parts > PARTS_AT_DRIVER:
        settled = settled.repartition(math.ceil(math.sqrt(n_parts))).mapInArrow(merging, settled.schema)
    try:
        packed = settled.toArrow().column(0).to_pylist()
    except PythonException as error:
        absent = re.search(r"ModuleNotFoundError: (No module named .*)", str(error))
        if absent is None:
            raise
        raise MissingPackageError(
            f"Spark's workers cannot import a module: {absent[1]}",
            advice="Run pip install 'atkay[spark]' where they run, or set PYSPARK_PYTHON to a Python that has it (here "
            f"it is '{sys.executable}').",
        ) from error
    whole = merged(packed)
    if isinstance(whole, Failure):
        refused = whole.error
        refused.add_note(f"Counts are for one part of {n_parts:,}.")
        raise refused
    return whole


def _with_any_order(protocol: Protocol) -> Protocol:
    """The protocol with ties in an order that is always the same, where it takes that of the rows."""
    return protocol.with_fields(ties="item") if protocol.trait("ties", "needs_row_order") else protocol


def _check_ties(request: Request, part: Part) -> None:
    """No list depends on an order that is none."""
    population = part.population
    for protocol in request.protocols:
        if protocol.trait("ties", "needs_row_order") and population.tie_decided:
            raise ProtocolError(
                f"the order of equal scores decides {population.tie_decided:,} of {population.evaluated:,} lists, and "
                f"ties='{protocol.ties}' needs the order of the rows, which Spark does not keep. Choose "
                "ties='expected' for the average over all orders, ties='item', or another value."
            )


@dataclass(frozen=True, eq=False)
class SparkRows:
    """The values per user in Spark, kept there as long as this is. A copy is the same; pickled, nothing is left."""

    judged: DataFrame
    request: Request
    setting: Setting
    whole: Part
    written: Written

    def __deepcopy__(self, memo: dict[int, Any]) -> SparkRows:
        return self

    def __reduce__(self) -> tuple[type[None], tuple[()]]:
        return type(None), ()

    def result(self) -> Result:
        """The result with a row per user, brought here."""
        bundles = self._rows.toArrow().column(0)
        rows = as_polars(unbundle(bundles) if len(bundles) else self.written.schema.empty_table())
        part = self.written.part(self.setting.protocol.groups, rows, self.whole)
        return replace(finish(self.request, self.setting, [part]), kept=self)

    def frame(self) -> DataFrame:
        """The values per user, where they are."""
        names = {f"id {at}": name for at, name in enumerate(self.written.key)}
        names |= {f"value {at}": name for at, name in enumerate(self.written.numbers)}
        schema = self.judged.sparkSession.createDataFrame(self.written.schema.empty_table()).schema
        rows = self._rows.mapInArrow(unbundling, schema)
        return rows.select(*(spark_column(column).alias(name) for column, name in names.items()))

    @property
    def _rows(self) -> DataFrame:
        if self.judged.sparkSession.sparkContext._jsc is None:
            raise RowsError(
                "the values per user were in a Spark session that has ended; the means are still here. Get "
                "values per user (per_query, to_spark, compare) before it ends, or evaluate again."
            )
        return self.judged.select("rows").where("rows IS NOT NULL")


def _forget(judged: DataFrame) -> None:
    with contextlib.suppress(Exception):  # the session may have ended before
        judged.unpersist()
