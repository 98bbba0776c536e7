"""Libraries: what objects of retrieval libraries hold, and rows as named tuples."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any

import polars as pl

from atkay.errors import SourceError, a_type
from atkay.inputs.checks import series
from atkay.inputs.table import Source, frame_source

if TYPE_CHECKING:
    from collections.abc import Callable


def _ranx(given: Any, _: str) -> Any:
    """Qrels and Run."""
    return given.to_dict() if hasattr(given, "to_dict") else given


def _ir_datasets(given: Any, table: str) -> Any:
    """A data set, or its ``qrels`` and ``scoreddocs``: rows that are read anew each time."""
    rows = getattr(given, "qrels_iter" if table == "truth" else "scoreddocs_iter", None)
    if rows is None and not hasattr(given, "__len__"):
        rows = getattr(given, "__iter__", None)
    return given if rows is None else list(rows())


def _elastic(given: Any, _: str) -> Any:
    """The body of a response of the Python client."""
    return getattr(given, "body", given)


HELD: dict[str, Callable[[Any, str], Any]] = {
    "ranx": _ranx,
    "ir_datasets": _ir_datasets,
    "elastic_transport": _elastic,
}
"""What the objects of a package hold."""


def held(given: Any, table: str) -> Any:
    """What an object of a library holds; anything else as it is."""
    holds = HELD.get(type(given).__module__.partition(".")[0])
    if isinstance(given, Iterator):
        raise SourceError(
            f"cannot read {a_type(given)}, which can be read only once", advice="Pass list(...) of it.", table=table
        )
    return given if holds is None else holds(given, table)


def read_tuples(given: Any, table: str) -> Source | None:
    """Rows as named tuples, such as those of ir_datasets and ir-measures; None where they have no names."""
    fields = [getattr(row, "_fields", None) for row in islice(given, 1)]
    if not fields or fields[0] is None:
        return None
    rows, names = list(given), fields[0]
    if any(getattr(row, "_fields", None) != names for row in rows):
        raise SourceError("rows are named tuples of different fields; use one form for all.", table=table)
    columns = zip(*rows, strict=True)
    return frame_source(
        pl.DataFrame([series(name, list(values), table) for name, values in zip(names, columns, strict=True)]),
        "named tuples",
    )
