"""Pairs: how many users two items share. NumPy and nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from atkay.core.kernels import cooccurrence, shared

if TYPE_CHECKING:
    from atkay.core.lists import Lists
    from atkay.core.types import Array, Ints


@dataclass(frozen=True, eq=False)
class Pairs:
    """The pairs of items that share users, each once, at the lower of the two."""

    start: Ints
    """Where the pairs of each item begin."""
    near: Array
    """The other item, rising for each item."""
    users: Array
    """How many users the pair shares."""

    @classmethod
    def of(cls, lists: Lists) -> Self:
        """The pairs among the items of each user, who has an item once."""
        return cls(*cooccurrence(lists))

    def shared(self, one: Ints, other: Ints) -> Ints:
        """How many users the items share, pair by pair; the two are different items."""
        return shared(self.start, self.near, self.users, one, other)
