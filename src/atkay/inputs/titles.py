"""Titles: what items are called, from the table of features."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from atkay.inputs.coding.types import same_types
from atkay.inputs.columns import Columns
from atkay.inputs.read import columns_of, read_items

if TYPE_CHECKING:
    from collections.abc import Mapping

    from atkay.core.types import Ints
    from atkay.inputs.coding.vocabulary import Vocabulary
    from atkay.inputs.table import Table

TITLES = ("title", "name", "item_name", "item_title", "product_name", "product_title", "movie_title", "headline")
"""Usual names of a column of titles."""


@dataclass(frozen=True, eq=False)
class Titles:
    """The titles of items by their codes; ``place`` is the row of each code, -1 for an item without a title."""

    titles: pl.Series
    place: Ints

    def of(self, codes: Ints) -> pl.Series:
        """The titles of some items, null where there is none."""
        place = pl.Series(self.place[codes])
        return self.titles.gather(place.set(place < 0, None)).alias("title")


def read_titles(
    features: Any, columns: Columns | Mapping[str, Columns] | None, items: Vocabulary, like: Table
) -> Titles | None:
    """The titles of items, None where the table has none; ``like`` is a table with the ids of ``items``."""
    table = read_items(features, "features", columns_of(columns, "features"))
    assert table.extra is not None
    text = [column for column in table.extra.get_columns() if column.dtype in (pl.String, pl.Categorical, pl.Enum)]
    named = [column for name in TITLES for column in text if column.name.lower() == name]
    if not named and len(table.extra.columns) == 1:  # titles tell items apart, categories do not
        named = [column for column in text if 2 * column.n_unique() > len(column)]
    if not named:
        return None
    titles = named[0].cast(pl.String)
    item = replace(like, ids=like.ids[-1:], key=(), text=like.text)
    table = same_types(replace(table, extra=titles.to_frame()), item, outside=True)[0]
    assert table.extra is not None
    code = items.codes(table.ids[-1:])
    row = np.flatnonzero(items.known(code))[::-1]  # of an item with several titles, the first one counts
    place = np.full(items.size, -1)
    place[code[row]] = row
    return Titles(table.extra.to_series(), place)
