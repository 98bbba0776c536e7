"""Beside: what is known of items and users before any list comes, for evaluations that run over parts of the users."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from atkay.errors import IdError, InputError
from atkay.hashing import id_numbers, scrambled
from atkay.side import Side

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl

    from atkay.arrays import Ints
    from atkay.tables import Table
    from atkay.vocabulary import Vocabulary


@dataclass(frozen=True, eq=False)
class Beside:
    """The tables beside lists and truth, with item codes for items.

    ``side`` has an entry for each of the ``users`` that the tables name, and a last one for everybody else;
    ``fingerprint`` tells the tables apart.
    """

    side: Side
    users: Vocabulary | None
    fingerprint: Mapping[str, str]

    @classmethod
    def of(cls, given: Mapping[str, Any], n_items: int, *, pairs: bool) -> Self:
        """What the tables say; all items are in the catalogue where none is given."""
        if not given:
            return cls(Side(n_items, catalog=np.ones(n_items, bool)), None, {})
        import polars as pl

        from atkay.judge import beside_fingerprints
        from atkay.siding import gather_side
        from atkay.vocabulary import Vocabulary

        tables = _read({"catalog": np.arange(n_items).tolist()} | dict(given))
        codes = {name: _codes(table, n_items) for name, table in tables.items()}
        named = [table for table in tables.values() if table.key]
        users, queries = None, pl.DataFrame({"user": [0]})
        if named:
            users, _ = Vocabulary.of([table.ids[:-1] for table in named], dense=True)
            known = users.ids(np.arange(users.size)).to_series()
            queries = pl.DataFrame({named[0].key[0]: _and_somebody(known)})
        items = Vocabulary(n_items, ("item",))
        side = gather_side(tables, codes, items, queries, (), pairs=pairs)
        who = scrambled(0, id_numbers(queries.to_series()))
        return cls(side, users, beside_fingerprints(side, who, items.numbers))

    def of_batch(self, users: pl.Series, *, named: bool) -> Side:
        """What is known of the users of a batch; ``named``: it tells who they are."""
        if self.users is None:
            return self.side.pick(np.zeros(len(users), np.int64))
        if not named:
            raise InputError(
                "update: training data, or a baseline, tell what each user had. Pass users=, the ids that they have "
                "there."
            )
        known = self.users.ids(np.zeros(1, np.int64)).to_series()
        if known.dtype.is_integer() != users.dtype.is_integer():
            raise IdError(
                f"update: users are {users.dtype}, and those of the tables given besides are {known.dtype}, such as "
                f"{known[0]!r}. Nobody would be known."
            )
        code: Ints = self.users.codes((users,))
        return self.side.pick(np.where(self.users.known(code), code, self.users.size))


def _and_somebody(known: pl.Series) -> pl.Series:
    """The users, and one who is none of them."""
    import polars as pl

    if known.dtype.is_integer():
        return known.cast(pl.Int64).extend_constant(int(known.max()) + 1, 1)  # type: ignore[arg-type]  # not null
    if known.dtype == pl.String:
        return known.extend_constant(f"{known.max()!s}~", 1)
    raise IdError(f"Stream: users are whole numbers or text, given are {known.dtype}.")


def _read(given: Mapping[str, Any]) -> dict[str, Table]:
    from atkay.columns import Columns
    from atkay.tables import BESIDE, read_beside

    tables = {name: read_beside(name, given[name], Columns()) for name in BESIDE if name in given}
    for name, table in tables.items():
        if len(table.key) > 1:
            raise InputError(f"Stream: {name} names a user by several columns; users have one id here.")
    return tables


def _codes(table: Table, n_items: int) -> Ints:
    """The items of a table, which are codes."""
    item = table.ids[-1]
    if not item.dtype.is_integer() or int(item.min()) < 0 or int(item.max()) >= n_items:  # type: ignore[arg-type]  # not null
        wrong = item[0] if not item.dtype.is_integer() else item.filter((item < 0) | (item >= n_items))[0]
        raise IdError(
            f"Stream: {table.name} names the item {wrong!r}; items are codes from 0 to {n_items - 1:,} here (n_items "
            f"is {n_items:,})."
        )
    return item.to_numpy().astype(np.int64)
