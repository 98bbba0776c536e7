"""Side information: what metrics may know besides lists and truth. NumPy and nothing else."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

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

    def of(self, user: Ints) -> Train:
        """The same for other queries; what was counted is not counted again."""
        other = replace(self, user=user)
        vars(other).update({name: getattr(self, name) for name in ("users", "popularity")})
        return other

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
            raise SideError("train: the users that items share are asked for, and they were not counted.")
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


@dataclass(frozen=True, eq=False)
class Side:
    """What was given besides lists and truth; None for the rest. All items are codes, below the same number."""

    n_items: int
    train: Train | None = None
    catalog: Bools | None = None
    """Which codes are items of the catalogue."""
    features: Features | None = None
    reference: Lists | None = None
    """The reference list of each query, the best item first."""

    def part(self, first: int, last: int) -> Side:
        """The side information of the queries from ``first`` to before ``last``."""
        train = None if self.train is None else self.train.of(self.train.user[first:last])
        return replace(
            self, train=train, reference=None if self.reference is None else self.reference.part(first, last)
        )

    def pick(self, queries: Ints) -> Side:
        """The side information of the given queries."""
        train = None if self.train is None else self.train.of(self.train.user[queries])
        return replace(self, train=train, reference=None if self.reference is None else self.reference.pick(queries))

    @classmethod
    def concatenate(cls, parts: Sequence[Side]) -> Side:
        """The side information of all parts' queries; what is said of items is the same in all of them."""
        first = parts[0]
        train, reference = first.train, first.reference
        if train is not None:
            train = replace(train, user=np.concatenate([part.train.user for part in parts if part.train is not None]))
        if reference is not None:
            reference = Lists.concatenate([part.reference for part in parts if part.reference is not None])
        return replace(first, train=train, reference=reference)


def side_fingerprints(side: Side | None, query: Hashes, item: Numbers) -> dict[str, Fingerprint]:
    """What tells each of the tables apart that were given besides lists and truth."""
    fingerprints: dict[str, Fingerprint] = {}
    if side is None:
        return fingerprints
    if side.train is not None:
        # Users of the training data have no numbers here; what they had together tells them apart.
        anybody = np.zeros(side.train.items.n_queries, np.uint64)
        own = fingerprint(side.train.history, query, item)
        fingerprints["train"] = Fingerprint(own, fixed=fingerprint(side.train.items, anybody, item))
    if side.catalog is not None:
        fingerprints["catalog"] = Fingerprint(fixed=item_fingerprint(numbers_of(np.flatnonzero(side.catalog), item)))
    if side.reference is not None:
        fingerprints["reference"] = Fingerprint(fingerprint(side.reference, query, item, ranked=True))
    if side.features is not None:
        every, parts = numbers_of(np.arange(side.n_items), item), []
        if side.features.vectors is not None:
            complete = ~np.isnan(side.features.vectors).any(axis=1)
            numbers = np.ascontiguousarray(side.features.vectors[complete] + 0.0).view(np.uint64)
            parts.append(int(scrambled(3, every[complete], *numbers.T).sum()))
        if side.features.categories is not None:
            kinds = side.features.categories
            parts.append(fingerprint(kinds, every, 0))
        fingerprints["features"] = Fingerprint(fixed=sum(parts) % HASH_MODULUS)
    return fingerprints
