"""Kinds: which reader takes an object."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl

from atkay.core.forks import check_threads
from atkay.errors import SourceError, a_type
from atkay.inputs.array_sources import is_pair, read_array, read_feature_array, read_pair, read_sparse
from atkay.inputs.arrays import use_of
from atkay.inputs.checks import is_list
from atkay.inputs.documents import read_document
from atkay.inputs.frames import is_from, is_spark, read_arrow, read_interchange, read_lazy, read_pandas, read_spark
from atkay.inputs.item_rows import as_array, is_sparse
from atkay.inputs.libraries import held, read_tuples
from atkay.inputs.mappings import read_by_row, read_lists, read_mapping
from atkay.inputs.predictions import read_predictions
from atkay.inputs.table import Source, frame_source
from atkay.tables import KINDS, OF_USERS


def open_source(given: Any, table: str, header: str | None = None) -> Source:
    """The columns of whatever was given; ``header`` is that of text files."""
    if isinstance(given, Source):
        return given
    check_threads()
    given = held(given, table)
    if isinstance(given, pl.DataFrame):
        return frame_source(given)
    if is_spark(given):
        return read_spark(given, table)
    if isinstance(given, pl.LazyFrame):
        return read_lazy(given, table)
    if is_from("pandas", "DataFrame", given):
        return read_pandas(given, table)
    if table == "recs" and (predictions := read_predictions(given)) is not None:
        return predictions
    if is_from("pandas", "Series", given):
        _check_rows(given, table, "got a Series; pass the frame.")
        lists = table not in OF_USERS and not any(map(is_list, set(map(type, given))))
        return read_lists(given.to_numpy(), table) if lists else read_mapping(dict(given), table)
    if isinstance(given, str | os.PathLike):
        from atkay.inputs.files import open_file

        return open_file(given, table, header)
    if is_sparse(given):
        return read_sparse(given, table)
    if use_of(table) == "lists" and is_pair(given):
        return read_pair(given, table)
    given = as_array(given, table)
    if table in ("weights", "cluster") and (getattr(given, "ndim", 0) == 1 or isinstance(given, list | tuple)):
        return read_by_row(given, table)
    if isinstance(given, np.ndarray) and (given.ndim != 1 or given.dtype.names):
        return (read_feature_array if KINDS[table].extra and given.ndim == 2 else read_array)(given, table)
    if isinstance(given, np.ndarray):
        _check_rows(given, table, "pass a users x k array, got 1 dimension.")
    if isinstance(given, Mapping | list) and (document := read_document(given, table, "a document")) is not None:
        return document
    if isinstance(given, Mapping):
        return read_mapping(given, table)
    if hasattr(given, "__arrow_c_stream__") and not isinstance(given, pl.Series):
        return read_arrow(given, table)
    if hasattr(given, "__dataframe__"):
        return read_interchange(given, table)
    if is_list(type(given)):
        return read_tuples(given, table) or read_lists(given, table)
    raise SourceError(
        f"cannot read {a_type(given)} as a table",
        advice="Pass a Polars, pandas or Arrow table, {user: items}, a users x k array, a SciPy sparse matrix, "
        "or a path.",
        table=table,
    )


def _check_rows(given: Any, table: str, problem: str) -> None:
    """Lists and truth have a row of items for each user: one dimension of numbers has none."""
    if table in ("recs", "truth") and len(given) and getattr(given.dtype, "kind", "O") in "iufb":
        raise SourceError(problem, table=table)
