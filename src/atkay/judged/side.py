"""Side tables as codes: train, catalog, features, propensity, reference. NumPy only."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from atkay.core.fingerprint import (
    HASH_MODULUS,
    Fingerprint,
    Numbers,
    item_fingerprint,
    numbers_of,
    scrambled,
)
from atkay.core.kernels import fingerprint
from atkay.core.lists import Lists
from atkay.errors import SideError
from atkay.judged.axes import lists
from atkay.tables import SIDE, TABLES
from atkay.text.phrases import argument

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from atkay.core.cooccurrence import Pairs
    from atkay.core.types import Bools, Floats, Hashes, Ints


@dataclass(frozen=True, eq=False)
class Train:
    """Who interacted with what, each pair once: the items of each training user, as codes of all items."""

    items: Lists
    user: Ints
    """The training user of each query; one without items where the query's user is unknown there."""
    pairs: Pairs | None = None
    """Which items share users; counted where a metric asks for it."""

    def _of(self, user: Ints) -> Train:
        """The same for other queries; what was counted is not counted again."""
        other = replace(self, user=user)
        vars(other).update({name: getattr(self, name) for name in ("users", "popularity")})
        return other

    def part(self, first: int, last: int) -> Train:
        """The training users of the queries from ``first`` to before ``last``."""
        return self._of(self.user[first:last])

    def pick(self, queries: Ints) -> Train:
        """The training users of the given queries."""
        return self._of(self.user[queries])

    @classmethod
    def concatenate(cls, parts: Sequence[Train]) -> Train:
        """The training users of all parts' queries."""
        return parts[0]._of(np.concatenate([part.user for part in parts]))

    @cached_property
    def users(self) -> int:
        """How many training users there are."""
        return int(np.count_nonzero(self.items.length))

    @cached_property
    def popularity(self) -> Ints:
        """How many training users each item has."""
        return np.bincount(self.items.item, minlength=self.items.n_items)

    def likeness(self, one: Ints, other: Ints) -> Floats:
        """n_ij / √(n_i n_j) for each pair of items, both of which have users: 1 for an item and itself."""
        if self.pairs is None:
            raise SideError("train: co-occurrence of items was not counted.")
        n_i, n_j = self.popularity.take(one), self.popularity.take(other)
        shared = np.where(one == other, n_i, self.pairs.shared(one, other))
        like: Floats = shared / np.sqrt(n_i * n_j.astype(float))
        return like

    @cached_property
    def history(self) -> Lists:
        """The training items of each query's user."""
        if len(self.user) and (np.diff(self.user) == 1).all():  # mostly so: then nothing is copied
            return self.items.part(int(self.user[0]), int(self.user[-1]) + 1)
        return self.items.pick(self.user)

    def fingerprint(self, query: Hashes, item: Numbers) -> Fingerprint:
        """Users of the training data have no numbers here; what they had together tells them apart."""
        anybody = np.zeros(self.items.n_queries, np.uint64)
        own = fingerprint(self.history, query, item)
        return Fingerprint(own, fixed=fingerprint(self.items, anybody, item))


@dataclass(frozen=True, eq=False)
class Features:
    """What is known of items: ``vectors`` (items x numbers, NaN for an item without), ``categories`` of each item."""

    vectors: Floats | None = None
    categories: Lists | None = None
    find_text_order: Callable[[], Ints] | None = None
    readings: tuple[str, ...] = ()
    """How columns were read, where that could be otherwise."""

    @cached_property
    def text_order(self) -> Ints:
        """The place of each item's id among all of them, as text; found where a metric asks for it."""
        if self.find_text_order is not None:
            return self.find_text_order()
        return np.arange(0 if self.categories is None else self.categories.n_queries)

    def fingerprint(self, query: Hashes, item: Numbers) -> Fingerprint:
        """The same for all queries."""
        parts = []
        if self.vectors is not None:
            complete = np.flatnonzero(~np.isnan(self.vectors).any(axis=1))
            numbers = np.ascontiguousarray(self.vectors[complete] + 0.0).view(np.uint64)
            parts.append(int(scrambled(3, numbers_of(complete, item), *numbers.T).sum()))
        if self.categories is not None:
            every = numbers_of(np.arange(self.categories.n_queries), item)
            parts.append(fingerprint(self.categories, every, 0))
        return Fingerprint(fixed=sum(parts) % HASH_MODULUS)


@dataclass(frozen=True, eq=False)
class Side:
    """What was given besides lists and truth; None for the rest. All items are codes, below the same number.

    What is said of queries is a field of ``lists()``, which is cut and joined like lists are; the rest is said of
    items.
    """

    n_items: int
    train: Train | None = lists()
    catalog: Bools | None = None
    """Which codes are items of the catalogue."""
    features: Features | None = None
    propensity: Features | None = None
    """The propensity of each item, as a vector of one number."""
    reference: Lists | None = lists()
    """The reference list of each query, the best item first."""

    def cut(self, take: Callable[[str, Any], Any]) -> Side:
        """What is said of some of the queries; ``take`` picks them from a table, by its name."""
        return replace(self, **{name: take(name, table) for name, table in self._of_queries()})

    def part(self, first: int, last: int) -> Side:
        """The side information of the queries from ``first`` to before ``last``."""
        return self.cut(lambda _, table: table.part(first, last))

    def pick(self, queries: Ints) -> Side:
        """The side information of the given queries."""
        return self.cut(lambda _, table: table.pick(queries))

    @classmethod
    def concatenate(cls, parts: Sequence[Side]) -> Side:
        """The side information of all parts' queries; what is said of items is the same in all of them."""
        return parts[0].cut(lambda name, table: table.concatenate([getattr(part, name) for part in parts]))

    def _of_queries(self) -> list[tuple[str, Any]]:
        return [
            (each.name, table)
            for each in fields(self)
            if "axis" in each.metadata and (table := getattr(self, each.name)) is not None
        ]


def _needed(name: str) -> Any:
    """A property that is one of the side tables, which a metric cannot do without."""

    def table(judged: WithSide) -> Any:
        given = getattr(judged.side, name, None)
        if given is None:
            raise SideError(f"a metric needs {argument(name)}: {TABLES[name].meaning}.")
        return given

    return property(table, doc=TABLES[name].help)


class WithSide:
    """The side tables as formulas read them."""

    side: Side | None
    train: Train = _needed("train")
    catalog: Bools = _needed("catalog")
    features: Features = _needed("features")
    propensity: Features = _needed("propensity")
    reference: Lists = _needed("reference")


def side_fingerprints(side: Side | None, query: Hashes, item: Numbers) -> dict[str, Fingerprint]:
    """What tells each of the tables apart that were given besides lists and truth."""
    tables = {} if side is None else {name: getattr(side, name) for name in SIDE}
    return {name: _fingerprint(table, query, item) for name, table in tables.items() if table is not None}


def _fingerprint(table: Any, query: Hashes, item: Numbers) -> Fingerprint:
    """That of ranked lists, of a set of items, or a record's own."""
    if isinstance(table, Lists):
        return Fingerprint(fingerprint(table, query, item, ranked=True))
    if isinstance(table, np.ndarray) and table.dtype == bool:
        return Fingerprint(fixed=item_fingerprint(numbers_of(np.flatnonzero(table), item)))
    own: Fingerprint = table.fingerprint(query, item)
    return own
