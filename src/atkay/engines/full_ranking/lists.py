"""Top lists from the scores of all items, exact, with ties as the protocol says; for metrics that look at lists."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import torch
from torch import Tensor

from atkay.core.lists import Lists
from atkay.engines.full_ranking.blocks import ITEMS, Scaled, imprecise, longest
from atkay.engines.full_ranking.count import Vectors, exact

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from atkay.core.types import Ints

BYTES = 96
"""For each score of a block, should all of them be equal: the score, the pair of user and item, and sorting them."""


class Tops(NamedTuple):
    """The top lists of some users: how long each is, and the items; ``level`` counts and names, user by user, the
    places, from 0, whose item has the score of the one before, that of the first item below the list among them.
    """

    length: Ints
    item: Ints
    n_level: Ints
    level: Ints

    @classmethod
    def of(cls, parts: Sequence[Tops], n_items: int) -> tuple[Lists, Lists]:
        """The lists of all users, and their places of equal scores."""
        length, item, n_level, level = (np.concatenate(each) for each in zip(*parts, strict=True))
        return Lists.of(length, item, n_items), Lists.of(n_level, level, n_items + 1)


@dataclass(frozen=True, eq=False)
class TieOrder:
    """Equal scores in the order that the protocol says; ``user``, ``item``, ``grade``: all graded pairs."""

    by: str
    descending: bool
    n_items: int
    user: Tensor
    item: Tensor
    grade: Tensor

    @functools.cached_property
    def _pairs(self) -> tuple[Tensor, Tensor]:
        """The graded pairs as numbers that rise, and their grades."""
        key, order = (self.user * self.n_items + self.item).sort()
        return key, self.grade[order]

    def __call__(self, user: Tensor, item: Tensor) -> Tensor:
        """The places of pairs, which come by user and rising item, as equal scores of each user are to stand."""
        if self.by == "item" or not len(self.item):
            place = torch.arange(len(item), device=item.device)
            return place.flip(0) if self.by == "item" and self.descending else place
        (known, grade), key = self._pairs, user * self.n_items + item
        at = torch.searchsorted(known, key).clamp(max=len(known) - 1)
        of_pair = torch.where(known[at] == key, grade[at], -1.0)  # as what is not relevant has
        return of_pair.sort(descending=self.descending, stable=True).indices


def top_of_scores(
    score: Tensor,
    user: Tensor,
    excluded: tuple[Tensor, Tensor] | None,
    depth: int,
    order: TieOrder,
    *,
    slack: float = 0.0,
    again: Callable[[Tensor, Tensor], Tensor] | None = None,
) -> Tops:
    """The best items of each row of scores, that of a ``user``; ``excluded``: row and item of what is left out.

    Where scores may be off by ``slack``, ``again`` gives the exact ones of pairs of row and item.
    """
    ranked = torch.ones_like(score, dtype=torch.bool)
    if excluded is not None:
        ranked[excluded] = False
    lowest = -torch.inf if score.dtype.is_floating_point else torch.iinfo(score.dtype).min
    last = score.masked_fill(~ranked, lowest).topk(min(depth, score.shape[1]), dim=1).values[:, -1:]
    # The last item of the true list scores at least last - slack; so whatever may stand in it is not below this.
    row, item = torch.nonzero(ranked & (score >= (last - 2 * slack if slack else last)), as_tuple=True)
    worth = score[row, item] if again is None else again(row, item)
    if again is not None and bool(((score[row, item] - worth).abs() > slack).any()):
        raise imprecise()
    place = order(user[row], item)
    place = place[worth[place].sort(descending=True, stable=True).indices]
    place = place[row[place].sort(stable=True).indices]
    row, item, worth = row[place], item[place], worth[place]
    length = torch.bincount(row, minlength=len(score))
    nth = torch.arange(len(row), device=row.device) - (torch.cumsum(length, 0) - length)[row]
    equal = torch.zeros_like(row, dtype=torch.bool)
    equal[1:] = (worth[1:] == worth[:-1]) & (nth[1:] > 0)
    equal &= nth <= depth
    n_level = torch.bincount(row[equal], minlength=len(score))
    return Tops(*(each.cpu().numpy() for each in (length.clamp(max=depth), item[nth < depth], n_level, nth[equal])))


class Products:
    """Scores of vectors as the fast product gives them, and the exact ones."""

    def __init__(self, vectors: Vectors, memory: int) -> None:
        self._vectors, self._memory = vectors, memory
        self._scaled = Scaled(vectors, longest(vectors.items, ITEMS))
        self._items = self._scaled.items.float()
        self._slack = float(self._scaled.slack((vectors.items.shape[1] + 5) * 2.0**-24).max())

    def top(self, user: Tensor, excluded: tuple[Tensor, Tensor] | None, depth: int, order: TieOrder) -> Tops:
        """The best items of some users."""
        users, exponent = self._scaled.directions(user)

        def again(row: Tensor, item: Tensor) -> Tensor:
            score = exact(self._vectors, user[row], item, self._memory // 4)
            return torch.ldexp(score, (exponent[row] + self._scaled.exponent).double())

        score = users.float() @ self._items.T
        return top_of_scores(score, user, excluded, depth, order, slack=self._slack, again=again)
