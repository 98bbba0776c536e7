"""Frames of Polars, pandas, Arrow and Spark."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from atkay.errors import ColumnError, InputError, SourceError, a_type, need
from atkay.inputs.checks import ROWS_SAMPLED, is_list, series
from atkay.inputs.mappings import as_lists, entries
from atkay.inputs.table import Pieces, Source, frame_source
from atkay.tables import KINDS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

PLAIN_NUMBERS = frozenset(map(np.dtype, ("int32", "int64", "float32", "float64")))
"""Types of pandas columns whose values Polars takes as they are."""


def read_lazy(given: pl.LazyFrame, table: str) -> Source:
    """A query of the user's, which may fail when it is run."""

    @contextmanager
    def reading() -> Iterator[None]:
        try:
            yield
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
            cause = str(error).strip().split("\n")[0].rstrip(".")
            raise SourceError(
                f"the Polars lazy frame cannot be collected: {cause}", advice="Does frame.collect() work?", table=table
            ) from error

    def select(chosen: Sequence[str]) -> pl.DataFrame:
        with reading():
            return given.select(chosen).collect()

    with reading():
        schema = given.collect_schema()
    pieces = Pieces(given.select, reading=reading)
    return Source(tuple(schema), select, "a Polars frame", dtype=schema.__getitem__, pieces=pieces)


def is_from(package: str, name: str, given: Any) -> bool:
    """Whether it is an object of a package, which then has been imported already."""
    module = sys.modules.get(package)
    return module is not None and isinstance(given, getattr(module, name))


def is_spark(given: Any) -> bool:
    """Whether it is a frame of Spark, which then has been imported already."""
    return is_from("pyspark.sql", "DataFrame", given)


def read_spark(given: Any, table: str) -> Source:
    """A table beside lists and truth, brought here whole."""
    if KINDS[table].ranked:
        raise SourceError(
            "only evaluate and compare take lists in a Spark frame",
            advice="Pass polars.from_arrow(frame.toArrow()) if it fits into memory.",
            table=table,
        )
    return Source(
        tuple(given.columns),
        lambda names: collect_spark(given, table, names),
        "a Spark frame",
        ordered=False,
        dtype=spark_types(given, table),
    )


def spark_types(frame: Any, table: str) -> Callable[[str], pl.DataType] | None:
    """The types of columns, where some of them hold lists."""
    _refuse_connect(frame, table)
    if not any(name == "array" or name.startswith("array<") for _, name in frame.dtypes):
        return None
    return as_polars(frame.limit(0).toArrow()).schema.__getitem__


def _refuse_connect(frame: Any, table: str) -> None:
    if type(frame).__module__.startswith("pyspark.sql.connect"):
        raise SourceError(
            "cannot read a Spark Connect frame",
            advice="Use a session with its own driver: SparkSession.builder.master(...).getOrCreate().",
            table=table,
        )


def collect_spark(frame: Any, table: str, names: Sequence[str]) -> pl.DataFrame:
    """Some columns of a frame, brought here; in an order that is always the same where it could matter."""
    _refuse_connect(frame, table)
    for name in names:
        if frame.columns.count(name) > 1:
            raise ColumnError(
                f"there are {frame.columns.count(name)} columns '{name}'", advice="Rename all but one.", table=table
            )
    chosen = frame.select(*map(spark_column, names))
    rows = as_polars((chosen.distinct() if table == "train" else chosen).toArrow())
    return rows.sort(pl.all()) if table == "reference" else rows


def as_polars(table: Any) -> pl.DataFrame:
    """An Arrow table of Spark; instants in one zone, which Spark writes here in one and there in another."""
    frame = pl.from_arrow(table)
    assert isinstance(frame, pl.DataFrame)
    return frame.with_columns(pl.selectors.datetime(time_zone="*").dt.convert_time_zone("UTC"))


def spark_column(name: str) -> Any:
    """A column of Spark, whatever its name holds."""
    from pyspark.sql import functions as f

    return f.col("`" + name.replace("`", "``") + "`")


def read_pandas(given: Any, table: str) -> Source:
    """A pandas frame; a named index is a column like the others."""
    if any(name is not None for name in given.index.names):
        given = given.reset_index()  # a named index is a column like the others
    labelled = not is_from("pandas", "RangeIndex", given.index)
    names = [str(name) for name in given.columns]

    @cache
    def column(name: str) -> Any:
        return given.iloc[:, names.index(name)]

    def select(chosen: Sequence[str]) -> pl.DataFrame:
        for name in chosen:
            if names.count(name) > 1:
                raise ColumnError(
                    f"there are {names.count(name)} columns '{name}'", advice="Rename all but one.", table=table
                )
        return pl.DataFrame([_pandas_column(name, column(name), table) for name in chosen])

    @cache
    def dtype(name: str) -> pl.DataType:
        sample = column(name).iloc[:ROWS_SAMPLED]
        if sample.dtype == object and sample.isna().all():  # lists may begin further down
            sample = column(name).dropna().iloc[:ROWS_SAMPLED]
        return _pandas_column(name, sample, table).dtype

    return Source(tuple(dict.fromkeys(names)), select, "a pandas frame", labelled=labelled, dtype=dtype)


def _pandas_column(name: str, values: Any, table: str) -> pl.Series:
    if values.dtype in PLAIN_NUMBERS:
        return series(name, values.to_numpy(), table)
    if values.dtype == object and any(map(is_list, set(map(type, values)))):
        return _lists(name, values, table)
    try:
        return series(name, values, table)
    except InputError:
        if not isinstance(values.dtype, np.dtype):  # text and categories, which Polars reads with PyArrow
            need(f"{table}: column '{name}' of type {values.dtype} in a pandas frame", "pandas", "pyarrow")
        raise


def _lists(name: str, values: Any, table: str) -> pl.Series:
    """A column of lists: of items, or of structs, made of tuples, Spark's rows or dicts, {item: score} among them."""
    cells, missing = values.tolist(), values.isna().tolist()
    first = next(one for one in cells if is_list(type(one)))
    empty: Any = {} if isinstance(first, Mapping) else ()
    lists = [empty if gone else one for one, gone in zip(cells, missing, strict=True)]
    lists = as_lists(lists, table, column=name)
    columns = entries(name, lists, table)
    flat = columns[name] if {*columns} == {name} else pl.DataFrame(columns).to_struct(name)
    rows = pl.DataFrame({"row": np.repeat(np.arange(len(lists)), list(map(len, lists))), name: flat})
    gathered = rows.group_by("row", maintain_order=True).agg(pl.col(name))
    every = pl.DataFrame({"row": np.arange(len(lists))})
    return every.join(gathered, on="row", how="left", maintain_order="left").get_column(name)


def read_arrow(given: Any, table: str) -> Source:
    """Anything that hands over Arrow data."""
    try:
        frame = pl.DataFrame(given)
    except (TypeError, ValueError, pl.exceptions.PolarsError) as error:
        cause = str(error).strip().split("\n")[0]
        raise SourceError(f"cannot read {a_type(given)} as an Arrow table: {cause}", table=table) from error
    return frame_source(frame, "an Arrow table")


def read_interchange(given: Any, table: str) -> Source:
    """A frame of a library that has the dataframe interchange protocol, and no Arrow."""
    need(f"{table}: a frame of {type(given).__module__.split('.')[0]}", "pandas", "pyarrow")
    from pyarrow.interchange import from_dataframe

    try:
        return read_arrow(from_dataframe(given), table)
    except (NotImplementedError, RuntimeError, TypeError, ValueError) as error:
        cause = str(error).strip().split("\n")[0].rstrip(".")
        raise SourceError(
            f"cannot read {a_type(given)} by the dataframe interchange protocol: {cause}",
            advice="Pass a pandas or Arrow table of it.",
            table=table,
        ) from error
