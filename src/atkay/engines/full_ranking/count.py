"""Ranks by counting: how many items score above an item, and how many as high. torch and NumPy.

Vectors are rounded to the precision that was asked for; from there on the ranks are exact. A fast product, in single
precision or on the matrix units of a GPU, tells the items that score clearly above an item from those clearly below.
The few in between, nearer than the product's rounding could move them, are scored again in double precision, in which
the products of two components are exact and are added in one fixed order: equal vectors have equal scores, and every
device gives the same ranks.
"""

from __future__ import annotations

import functools
import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor

from atkay.core.lists import ranges

if TYPE_CHECKING:
    from collections.abc import Callable

    from atkay.engines.full_ranking.device import Kernel

WIDTHS = (1, 2, 5, 10)
"""Targets of a user per row: rows are padded to one of these sizes; a user with more has several."""

LANES = 128
"""Components whose products are added up side by side where scores are exact."""

FAR, TINY = 40, 2.0**-100
"""The power of two from which on lengths are brought back to about 1, and what is added to a slack that may be 0."""


class Vectors(NamedTuple):
    """Users and items, a row each, rounded to a precision."""

    users: Tensor
    items: Tensor


@dataclass(frozen=True, eq=False)
class Targets:
    """The items to rank: the user of each, ascending, and the item."""

    user: Tensor
    item: Tensor

    def __len__(self) -> int:
        return len(self.user)

    def only(self, which: slice | Tensor) -> Targets:
        """Some of the targets."""
        return Targets(self.user[which], self.item[which])

    @functools.cached_property
    def rows(self) -> list[Rows]:
        """The targets in rows of one user each; those of a width come together."""
        users, sizes = torch.unique_consecutive(self.user, return_counts=True)
        row, nth = spread((sizes + WIDTHS[-1] - 1) // WIDTHS[-1])
        first = (torch.cumsum(sizes, 0) - sizes)[row] + nth * WIDTHS[-1]
        size = (sizes[row] - nth * WIDTHS[-1]).clamp(max=WIDTHS[-1])
        rows = []
        for least, width in itertools.pairwise((0, *WIDTHS)):
            chosen = torch.nonzero((size > least) & (size <= width))[:, 0]
            if len(chosen):
                place = torch.arange(width, device=self.user.device)
                target = torch.where(place < size[chosen, None], first[chosen, None] + place, -1)
                rows.append(Rows(users[row[chosen]], target))
        return rows


class Ranks(NamedTuple):
    """Of each target: the items that score above it, those as high (itself among them), and of these the earlier."""

    above: Tensor
    equal: Tensor
    before: Tensor

    @classmethod
    def none(cls, like: Tensor) -> Ranks:
        """Nothing counted yet; the three are the rows of one array."""
        return cls(*torch.zeros((3, len(like)), dtype=torch.int64, device=like.device))

    def add(self, target: Tensor, score: Tensor, item: Tensor, targets: Targets, own: Tensor, sign: int = 1) -> None:
        """Count more items: the target that each one is compared with, and its score; ``own``: those of the targets."""
        equal = score == own[target]
        for count, counted in zip(
            self, (score > own[target], equal, equal & (item < targets.item[target])), strict=True
        ):
            chosen = target[counted]
            count.index_add_(0, chosen, torch.full_like(chosen, sign))


class Rows(NamedTuple):
    """Users to go through together: the user of each row, and its targets, -1 filling up."""

    user: Tensor
    target: Tensor


def rounded(vectors: Tensor, precision: str) -> Tensor:
    """Vectors in the precision: "float32"; "tf32", with 11 bits; "bfloat16", with 8 bits."""
    if precision == "bfloat16":
        return vectors.to(torch.bfloat16)
    vectors = vectors.to(torch.float32)
    if precision == "tf32":
        bits = vectors.contiguous().view(torch.int32)
        return ((bits + 0x1000) & ~0x1FFF).view(torch.float32)
    return vectors


def with_bias(vectors: Vectors, bias: Tensor | None, precision: str) -> Vectors:
    """The items' biases as further components, which the users have as 1: as many as hold a bias to its last digit."""
    if bias is None:
        return vectors
    left = bias.to(torch.float32)
    parts: list[Tensor] = []
    while len(parts) < 3 and (not parts or bool((left != 0).any())):
        parts.append(rounded(left, precision))
        left = left - parts[-1].to(torch.float32)
    ones = torch.ones((len(vectors.users), len(parts)), dtype=vectors.users.dtype, device=vectors.users.device)
    return Vectors(torch.cat((vectors.users, ones), 1), torch.cat((vectors.items, torch.stack(parts, 1)), 1))


def exact(vectors: Vectors, user: Tensor, item: Tensor, memory: int) -> Tensor:
    """Scores of pairs in double precision, added up in an order that depends on nothing but the number of components.

    Component n goes to lane n modulo 128; then the second half of the lanes is added to the first, until one is left.
    """
    depth = vectors.items.shape[1]
    out = torch.empty(len(user), dtype=torch.float64, device=user.device)
    for first, last in blocks(len(user), memory // (32 * depth)):
        score = vectors.users[user[first:last]].double() * vectors.items[item[first:last]].double()
        for lane in range(LANES, depth, LANES):
            score[:, : min(LANES, depth - lane)] += score[:, lane : lane + LANES]
        left = min(LANES, depth)
        while left > 1:
            half = (1 << (left - 1).bit_length()) // 2
            score[:, : left - half] += score[:, half:left]
            left = half
        out[first:last] = score[:, 0]
    return out


def rank(
    vectors: Vectors, targets: Targets, excluded: Excluded | None, memory: int, kernel: Kernel | None
) -> tuple[Ranks, Tensor]:
    """The ranks of the targets among all items but the user's excluded ones, and their scores."""
    if kernel is not None:
        from atkay.engines.full_ranking.device import rank_on_device

        return rank_on_device(vectors, targets, excluded, memory, kernel)
    from atkay.engines.full_ranking.blocks import count_in_blocks

    own = exact(vectors, targets.user, targets.item, memory)
    ranks = all_alike(count_in_blocks(vectors, targets, own, memory), vectors, targets)
    if excluded is not None:
        take_out(ranks, targets, own, excluded, lambda u, i: exact(vectors, u, i, memory // 4), memory)
    return ranks, own


def all_alike(ranks: Ranks, vectors: Vectors, targets: Targets) -> Ranks:
    """The ranks where users without a direction are set right: they score all items alike, and nothing was counted."""
    flat = ~vectors.users.any(1)[targets.user]
    ranks.equal[:] = torch.where(flat, len(vectors.items), ranks.equal)
    ranks.before[:] = torch.where(flat, targets.item, ranks.before)
    return ranks


def spread(size: Tensor) -> tuple[Tensor, Tensor]:
    """Repeated rows: the owner of each row, and its number, from 0."""
    owner = torch.repeat_interleave(torch.arange(len(size), device=size.device), size)
    return owner, torch.arange(len(owner), device=size.device) - (torch.cumsum(size, 0) - size)[owner]


@dataclass(frozen=True, eq=False)
class Excluded:
    """Items that are not ranked, each once, of one user after the other; those of user u start at ``start[u]``."""

    start: Tensor
    item: Tensor

    def of(self, user: Tensor) -> tuple[Tensor, Tensor]:
        """The excluded items of each of the users, and the place of their user among those asked for."""
        place, nth = spread(self.start[user + 1] - self.start[user])
        return place, self.item[self.start[user[place]] + nth]


def take_out(
    ranks: Ranks,
    targets: Targets,
    own: Tensor,
    excluded: Excluded,
    score: Callable[[Tensor, Tensor], Tensor],
    memory: int,
) -> None:
    """Take the excluded items out of the count: they are few, so they are scored one by one."""
    most = int((excluded.start[1:] - excluded.start[:-1]).max())
    for first, last in blocks(len(own), memory // (128 * max(1, most))):
        place, item = excluded.of(targets.user[first:last])
        target = place + first
        ranks.add(target, score(targets.user[target], item), item, targets, own, sign=-1)


def count_scores(score: Tensor, row: Tensor, targets: Targets, memory: int) -> tuple[Ranks, Tensor]:
    """The ranks of targets among all items where all scores are there; ``row``: the row of each target's user."""
    own = score[row, targets.item]
    ranks = Ranks.none(own)
    place = torch.arange(score.shape[1], device=score.device)
    for first, last in blocks(len(row), memory // (16 * score.shape[1])):
        scores, mine = score[row[first:last]], own[first:last, None]
        equal = scores == mine
        ranks.above[first:last] = (scores > mine).sum(1)
        ranks.equal[first:last] = equal.sum(1)
        ranks.before[first:last] = (equal & (place < targets.item[first:last, None])).sum(1)
    return ranks, own


def blocks(rows: int, size: int) -> list[tuple[int, int]]:
    """The rows in blocks of a size, at least one row each."""
    return ranges(rows, max(1, size))
