"""Ranking: each list in rank order; ties and duplicates settled; what must not be listed taken out."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from atkay.metrics.base import Bools, Ints

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class Ranking:
    """The lists one after the other: list q is ``item[start[q]:start[q + 1]]``, best first."""

    start: Ints
    item: Ints

    @cached_property
    def length(self) -> Ints:
        """How long each list is."""
        return np.diff(self.start)

    @classmethod
    def concatenate(cls, parts: Sequence[Ranking]) -> Ranking:
        """The lists of all parts, in their order."""
        return cls.of(np.concatenate([p.length for p in parts]), np.concatenate([p.item for p in parts]))

    @classmethod
    def of(cls, length: Ints, item: Ints) -> Ranking:
        """Lists of the given lengths."""
        return cls(np.concatenate(([0], np.cumsum(length))), item)


def in_order(query: Ints, score: Array | None) -> bool:
    """Whether the lists already stand one after the other, each with its best score first."""
    later = query[1:] > query[:-1]
    same = query[1:] == query[:-1]
    if score is None:
        return bool((later | same).all())
    return bool((later | (same & (score[1:] <= score[:-1]))).all())


def by_rank(query: Ints, rank: Ints, n_queries: int) -> tuple[Ints | None, int]:
    """The order of the rows by query and rank, None where they stand in it, and the row of a wrong rank or -1.

    Ranks are 1..n in each list, so a row's place follows from its query's start and its rank: there is nothing to sort.
    """
    size = np.bincount(query, minlength=n_queries)
    wrong = np.flatnonzero((rank < 1) | (rank > size[query]))
    if len(wrong):
        return None, int(wrong[0])
    place = (np.cumsum(size) - size)[query] + rank - 1
    taken = np.full(len(query), -1)
    taken[place] = np.arange(len(query))
    if (empty := np.flatnonzero(taken < 0)).size:
        # Some place is empty, so another was taken twice: show a row of that list.
        owner = np.repeat(np.arange(n_queries), size)[empty[0]]
        return None, int(np.flatnonzero(query == owner)[0])
    return (None if (taken[1:] > taken[:-1]).all() else taken), -1


def by_score(query: Ints, score: pl.Series | None, ties: Sequence[tuple[Array, bool]]) -> Ints:
    """The order of the rows by query and falling score, then by the ties' columns (falling where True)."""
    import polars as pl

    keys: list[tuple[pl.Series, bool]] = [(pl.Series(query), False)]
    keys += [] if score is None else [(score, True)]
    keys += [(pl.Series(column), falling) for column, falling in ties]
    frame = pl.DataFrame([column.alias(str(at)) for at, (column, _) in enumerate(keys)])
    order = pl.arg_sort_by(frame.columns, descending=[falling for _, falling in keys], maintain_order=True)
    return frame.select(order).to_series().to_numpy().astype(np.int64)


def ties_in(query: Ints, score: Array) -> Bools:
    """Which rows, standing in order, share their score with another of the same list."""
    same = (query[1:] == query[:-1]) & (score[1:] == score[:-1])
    return np.concatenate((same, [False])) | np.concatenate(([False], same))
