"""Libraries: what objects of other libraries hold, and rows as named tuples; none of them is imported."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any

import polars as pl

from atkay.errors import OrderError, SourceError, a_type
from atkay.inputs.checks import series
from atkay.inputs.table import Source, frame_source
from atkay.tables import KINDS

if TYPE_CHECKING:
    from collections.abc import Callable


def _ranx(given: Any, _: str) -> Any:
    """Qrels and Run."""
    return given.to_dict() if hasattr(given, "to_dict") else given


def _ir_datasets(given: Any, table: str) -> Any:
    """A data set, or its ``qrels`` and ``scoreddocs``: rows that are read anew each time."""
    rows = getattr(given, "qrels_iter" if table == "truth" else "scoreddocs_iter", None)
    if rows is None and not isinstance(given, tuple):
        rows = getattr(given, "__iter__", None)
    return given if rows is None else list(rows())


def _elastic(given: Any, _: str) -> Any:
    """The body of a response of the Python client."""
    return getattr(given, "body", given)


def _lenskit(given: Any, table: str) -> Any:
    """Item lists of users, a collection or a dict of them."""
    if isinstance(given, dict):
        given = sys.modules["lenskit.data"].ItemListCollection.from_dict(given, key="user_id")
    if not hasattr(given, "to_df"):
        return given
    if not hasattr(given, "key_fields"):
        raise SourceError("an ItemList has no user", advice="Pass {user: item_list}.", table=table)
    frame = given.to_df()
    if KINDS[table].ranked and not {"rank", "score"} & {*frame.columns}:
        raise OrderError(
            "the item lists have neither an order nor scores", advice="Pass ItemList(..., ordered=True).", table=table
        )
    return frame


def _rectools(given: Any, table: str) -> Any:
    """A data set, with the ids that it was made of."""
    if hasattr(given, "get_raw_interactions"):
        return given.get_raw_interactions()
    if type(given).__name__ == "Interactions":
        raise SourceError(
            "Interactions of RecTools hold internal ids, and lists usually hold external ones",
            advice="Pass dataset.get_raw_interactions() for external ids; if all tables have internal ones, "
            "interactions.df.",
            table=table,
        )
    return given


HELD: dict[str, Callable[[Any, str], Any]] = {
    "ranx": _ranx,
    "ir_datasets": _ir_datasets,
    "elastic_transport": _elastic,
    "lenskit": _lenskit,
    "rectools": _rectools,
}
"""What the objects of a package hold."""


def held(given: Any, table: str) -> Any:
    """What an object of a library holds; anything else as it is."""
    first = next(iter(given.values())) if type(given) is dict and given else given
    first = first[0] if type(first) is list and first is given and first else first
    package = type(first).__module__.partition(".")[0]
    holds = HELD.get(package) if first is given or package == "lenskit" else None
    if package == "elastic_transport" and first is not given:  # a response for each query
        return (
            [_elastic(one, table) for one in given]
            if type(given) is list
            else {query: _elastic(one, table) for query, one in given.items()}
        )
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
