"""Predictions: a column of scores, one for each row of a truth that grades all candidates, as lists."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from atkay.errors import SourceError, listing
from atkay.inputs.columns import Columns, named_like
from atkay.inputs.frames import is_from
from atkay.inputs.item_rows import as_array
from atkay.inputs.table import as_text, frame_source
from atkay.tables import SCORE

if TYPE_CHECKING:
    from collections.abc import Mapping

    from atkay.inputs.table import Source


def read_predictions(given: Any) -> Source | None:
    """One dimension of floats: no ids, and so scores."""
    if isinstance(given, pl.DataFrame) or getattr(given, "dtype", None) is None or getattr(given, "ndim", 1) != 1:
        return None
    values = np.asarray(as_array(given, "recs")) if len(given) else np.empty(0, int)
    if values.dtype.kind != "f":
        return None
    return frame_source(pl.DataFrame({"prediction": values}), "an array")


def check_index(recs: Any, truth: Any) -> None:
    """A pandas Series of scores belongs to the rows of the truth by place, so its index must not say otherwise."""
    if not is_from("pandas", "Series", recs) or recs.dtype.kind != "f":
        return
    index, frame = recs.index, is_from("pandas", "DataFrame", truth)
    if frame and index.equals(truth.index):
        return
    if index.nlevels > 1 or index.name is not None:
        raise SourceError(
            f"got a Series of scores whose index, {listing(str(name) for name in index.names)}, is not that of truth",
            advice="If the index has users and items, pass series.rename('score').reset_index(); if the scores belong "
            "to the rows of truth in their order, series.to_numpy().",
            table="recs",
        )
    if frame and not np.array_equal(index.to_numpy(), np.arange(len(index))):
        raise SourceError(
            "got a Series of scores whose index is another than that of truth, so it could belong to the rows of truth "
            "by its index or by its order",
            advice="Pass series.loc[truth.index] for the first, series.to_numpy() for the second.",
            table="recs",
        )


def is_predictions(source: Source) -> bool:
    """Whether scores are all there is: the rows of the truth say whose they are, and of which item."""
    return len(source.names) == 1 and bool(named_like(source.names, SCORE[0])) and source.ordered


def lists_of_predictions(recs: Source, truth: Source, roles: Mapping[str, str | None]) -> Source:
    """The lists; ``roles``: the columns of the truth."""
    if truth.columns is not None or roles["relevance"] is None or not truth.ordered:
        raise SourceError(
            f"{recs.label} holds scores alone, one after the other, and {truth.label} has no rows of grades to which "
            "they could belong",
            advice="Pass a users x k array, a table of users, items and scores, or a truth with a row of user, item "
            "and grade for each score.",
            table="recs",
        )
    named = {role: name for role, name in roles.items() if name is not None and role != "relevance"}
    rows, score = truth.select([*named.values()]), recs.select(recs.names).to_series()
    if len(rows) != len(score):
        raise SourceError(
            f"{recs.label} holds {len(score):,} scores, but {truth.label} has {len(rows):,} rows",
            advice="Predictions belong to the rows of the truth, one to each, in the same order.",
            table="recs",
        )
    key = tuple(name for role, name in named.items() if role.startswith("user"))
    frame = pl.DataFrame([*rows.get_columns(), score.alias("score")])
    lists = frame_source(frame, recs.label, columns=Columns(user=key, item=named["item"], score="score"))
    return as_text(lists) if truth.text else lists
