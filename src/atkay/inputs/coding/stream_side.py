"""Stream side: the side tables of a stream, whose items are codes already. Polars is loaded where there are any."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from atkay.core.fingerprint import id_numbers, scrambled
from atkay.errors import IdError, InputError
from atkay.inputs.coding.shared import SharedCount
from atkay.judged.side import Side, side_fingerprints
from atkay.tables import SIDE

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl

    from atkay.core.types import Ints
    from atkay.inputs.coding.side import SideTables
    from atkay.inputs.table import Table


@dataclass(frozen=True, eq=False)
class StreamSide:
    """What is known of items, and of the users that tables name; ``fingerprint`` tells the tables apart."""

    items: Side
    tables: SideTables | None
    named: tuple[pl.Series, ...]
    """The users of each table that names any."""
    fingerprint: Mapping[str, str]

    @classmethod
    def of(cls, given: Mapping[str, Any], n_items: int, *, pairs: bool) -> Self:
        """What the tables say; all items are in the catalogue where none is given."""
        if not given:
            return cls(Side(n_items, catalog=np.broadcast_to(np.True_, n_items)), None, (), {})
        import polars as pl

        from atkay.inputs.coding.side import SideTables
        from atkay.inputs.coding.vocabulary import Vocabulary

        read = _read({"catalog": np.arange(n_items).tolist()} | dict(given))
        items = Vocabulary(n_items, ("item",))
        tables = SideTables.of(read, {name: _codes(table, n_items) for name, table in read.items()}, items, pairs=pairs)
        named = tuple(table.ids[0] for table in read.values() if table.key)
        users = [column.to_frame("user") for column in named] or [pl.DataFrame({"user": [0]})]
        everybody = pl.concat(users, how="vertical_relaxed").unique()
        side = tables.side(tables.codes(everybody, ()), len(everybody))
        fingerprints = side_fingerprints(side, scrambled(0, id_numbers(everybody.to_series())), items.numbering)
        return cls(tables.of_items, tables, named, {name: str(each) for name, each in fingerprints.items()})

    def of_batch(self, users: pl.Series, *, named: bool) -> tuple[Side, dict[str, SharedCount]]:
        """What is known of the users of a batch, and how many of them; ``named``: it tells who they are."""
        if self.tables is None:
            return self.items, {}
        if self.named and not named:
            raise InputError("update: train and reference are looked up by user. Pass users=, with the ids used there.")
        from atkay.inputs.coding.types import kind

        for column in self.named if len(users) else ():
            if kind(column) != kind(users):
                raise IdError(
                    f"update: users are {users.dtype}, but those of the side tables are {column.dtype}, such as "
                    f"{column[0]!r}. Nothing would match: pass the ids used there."
                )
        codes = self.tables.codes(users.to_frame(), ())
        shared = {
            name: SharedCount.users(keyed, codes[name], users.to_frame()) for name, keyed in self.tables.keyed.items()
        }
        return self.tables.side(codes, len(users)), shared


def _read(given: Mapping[str, Any]) -> dict[str, Table]:
    from atkay.inputs.columns import Columns
    from atkay.inputs.read import read_items

    tables = {name: read_items(given[name], name, Columns()) for name in SIDE if name in given}
    for name, table in tables.items():
        if len(table.key) > 1:
            raise InputError(f"Stream: {name} identifies users by several columns; only one is supported here.")
    return tables


def _codes(table: Table, n_items: int) -> Ints:
    """The items of a table, which are codes."""
    item = table.ids[-1]
    if not item.dtype.is_integer() or int(item.min()) < 0 or int(item.max()) >= n_items:  # type: ignore[arg-type]  # not null
        wrong = item[0] if not item.dtype.is_integer() else item.filter((item < 0) | (item >= n_items))[0]
        raise IdError(
            f"Stream: {table.name} has item {wrong!r}; item codes run from 0 to {n_items - 1:,} (n_items "
            f"is {n_items:,})."
        )
    return item.to_numpy().astype(np.int64)
