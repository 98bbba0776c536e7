"""Ranks by counting in plain products: NumPy and torch on a CPU, torch alone elsewhere."""

from __future__ import annotations

import functools
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import torch
from torch import Tensor

from atkay.core.bits import count_bits
from atkay.engines.full_ranking.count import FAR, TINY, Ranks, Rows, Targets, Vectors, blocks, exact
from atkay.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable

USERS, ITEMS = 512, 4096
"""A block of scores on a CPU: large enough for the product, small enough for the cache."""

LEAST = 16
"""Users whose scores are formed together at least, however many threads wait for some."""

WORD = 64
"""Bits tested together."""

DEVICE_ITEMS = 1 << 14
"""Items of a block on other devices; users as the memory allows."""

ENOUGH = 1 << 16
"""Near pairs scored in one call."""

NEAR = 96
"""Bytes for each score of a block, should all of them be near: the score, its mark, and what finding it again takes."""


def block_size(rows: int, device: torch.device, memory: int) -> tuple[int, int]:
    """Users and items per block of scores, such that each CPU thread has some."""
    if device.type != "cpu":
        return max(1, memory // (NEAR * DEVICE_ITEMS)), DEVICE_ITEMS
    fair = max(LEAST, -(-rows // torch.get_num_threads()))
    return max(1, min(USERS, fair, memory // (NEAR * ITEMS))), ITEMS


def longest(items: Tensor, size: int) -> Tensor:
    """The length of the longest vector of each block of items."""
    parts = (items[slice(*block)] for block in blocks(len(items), size))
    return torch.stack([torch.linalg.vector_norm(part.double(), dim=1).amax() for part in parts])


@dataclass(frozen=True, eq=False)
class Scaled:
    """Vectors as the fast product takes them: times powers of two, so that single precision holds every score.

    ``longest``: the length of the longest vector of each block of items.
    """

    vectors: Vectors
    longest: Tensor

    @functools.cached_property
    def exponent(self) -> int:
        """Items are multiplied by 2 to this."""
        most = int(torch.frexp(self.longest.max()).exponent)
        return 0 if abs(most) < FAR else -most

    @functools.cached_property
    def items(self) -> Tensor:
        """The items."""
        items = self.vectors.items.contiguous()
        return items if self.exponent == 0 else _shifted(items, torch.tensor(self.exponent)).to(items.dtype)

    def users(self, rows: Rows, own: Tensor) -> tuple[Tensor, Tensor]:
        """The rows' users, each about 1 long, and the scores of their targets; infinity where nothing is to be counted.

        A user without a direction scores all items alike: there is nothing to count, and everything would be near.
        """
        users, exponent = self.directions(rows.user)
        scores = _shifted(own[rows.target.clamp(min=0)], (exponent + self.exponent)[:, None])
        nothing = (rows.target < 0) | ~users.any(1, keepdim=True)
        return users, scores.masked_fill(nothing, torch.inf)

    def directions(self, user: Tensor) -> tuple[Tensor, Tensor]:
        """Some users, each about 1 long, and the power of two by which each was multiplied."""
        chosen = self.vectors.users[user]
        exponent = -torch.frexp(torch.linalg.vector_norm(chosen, dim=1, dtype=torch.float64)).exponent
        return _shifted(chosen, exponent[:, None]).to(chosen.dtype), exponent

    def slack(self, share: float) -> Tensor:
        """How far the fast scores of each block of items may be off, for users of length 1."""
        return self.longest * (share * 2.0**self.exponent) + TINY


def _shifted(values: Tensor, exponent: Tensor) -> Tensor:
    """Values times powers of two, in double precision."""
    return torch.ldexp(values.double(), exponent.to(values.device, torch.float64))


@dataclass(frozen=True, eq=False)
class Work:
    """What is being counted; ``memory`` is what each thread may use."""

    scaled: Scaled
    targets: Targets
    own: Tensor
    ranks: Ranks
    memory: int

    def settle(self, pairs: list[tuple[Tensor, Tensor]]) -> int:
        """Count pairs of target and item that were too near to tell by their exact scores, and empty the list.

        Returns how many of the items are the targets themselves.
        """
        if not pairs:
            return 0
        targets, items = (torch.cat(each) for each in zip(*pairs, strict=True))
        pairs.clear()
        for first, last in blocks(len(targets), self.memory // 256):
            target, item = targets[first:last], items[first:last]
            score = exact(self.scaled.vectors, self.targets.user[target], item, self.memory // 4)
            self.ranks.add(target, score, item, self.targets, self.own)
        return int((items == self.targets.item[targets]).sum())


def count_in_blocks(vectors: Vectors, targets: Targets, own: Tensor, memory: int) -> Ranks:
    """Count by plain products: on any device, a block of users and a block of items at a time."""
    scaled = Scaled(vectors, longest(vectors.items, block_size(1, own.device, memory)[1]))
    if own.device.type == "cpu":
        memory //= torch.get_num_threads()
    work = Work(scaled, targets, own, Ranks.none(own), memory)
    for rows in targets.rows:
        _count(work, rows)
    return work.ranks


def _count(work: Work, rows: Rows) -> None:
    """Count for some rows."""
    n_items, depth = work.scaled.vectors.items.shape
    on_cpu = work.own.device.type == "cpu"
    size = block_size(len(rows.user), work.own.device, work.memory)
    # One more component takes the score of the first target off: then one bound is right for all users.
    items = torch.nn.functional.pad(work.scaled.items.float(), (0, 1), value=1.0)
    # Whatever the order of the sum, its error is within depth times half a unit in the last place; the bounds
    # themselves are rounded, too.
    share = (depth + 5) * 2.0**-24
    slack = (work.scaled.slack(share) + work.scaled.slack(share).max()).tolist()

    def of_block(block: tuple[int, int]) -> int:
        part = Rows(*(each[slice(*block)] for each in rows))
        users, own = work.scaled.users(part, work.own)
        users = torch.cat((users.float(), -own[:, :1].float()), 1)
        apart = torch.where(own.isinf(), torch.inf, own - own[:, :1])
        above = torch.zeros_like(part.target)
        room = Room.of(len(users), size[1], users.device)
        near: list[tuple[Tensor, Tensor]] = []
        waiting = themselves = 0
        for (first, last), wide in zip(blocks(n_items, size[1]), slack, strict=True):
            score = room.product(users, items[first:last])
            for j in range(own.shape[1]):
                low, high = ((apart[:, j, None] + by).float() for by in (-wide, wide)) if j else (-wide, wide)
                more, row, item = room.compare(score, low, high)
                above[:, j] += more
                near.append((part.target[row, j], item + first))
                waiting += len(row)
                if waiting > ENOUGH:
                    themselves, waiting = themselves + work.settle(near), 0
        filled = part.target >= 0
        work.ranks.above.index_add_(0, part.target[filled], above[filled])
        return themselves + work.settle(near) - int(own.isfinite().sum())

    every = blocks(len(rows.user), size[0])
    if any(one_core_each(of_block, every) if on_cpu else map(of_block, every)):
        raise imprecise()


def imprecise() -> InputError:
    return InputError(
        "full_ranking: matrix products are less precise than float32 here. Call "
        "torch.set_float32_matmul_precision('highest') first."
    )


class Room(NamedTuple):
    """Room for a block of scores, and for marking them."""

    scores: Tensor
    marks: Tensor

    @classmethod
    def of(cls, users: int, items: int, device: torch.device) -> Room:
        """A buffer of scores, reused by every block."""
        size = users * -(-items // WORD) * WORD
        return cls(torch.empty(size, device=device), torch.empty(size, dtype=torch.bool, device=device))

    def product(self, users: Tensor, items: Tensor) -> Tensor:
        """The scores, in columns filled up with -infinity to whole words of bits."""
        n = len(items)
        score = self.scores[: len(users) * -(-n // WORD) * WORD].view(len(users), -1)
        if n % WORD:
            score[:, n:] = -torch.inf
        torch.mm(users, items.T, out=score[:, :n])
        return score

    def compare(self, score: Tensor, low: float | Tensor, high: float | Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """How many scores of each row are above the higher bound; and where those are between both."""
        marks = self.marks[: score.numel()].view(score.shape)
        if score.device.type != "cpu":
            counted = torch.gt(score, high, out=marks).sum(1)
            at, place = torch.nonzero((score > low) & ~marks, as_tuple=True)
            return counted, at, place
        # Bits are counted and compared 64 at a time.
        scores, ends = score.numpy(), [np.asarray(bound, np.float32) for bound in (low, high)]
        above, above_low = (
            np.packbits(np.greater(scores, end, out=marks.numpy()), axis=1).view(np.uint64) for end in reversed(ends)
        )
        row, word = np.nonzero(above != above_low)
        near = scores.reshape(len(scores), -1, WORD)[row, word]
        least, most = (end[row] if end.ndim else end for end in ends)
        nth, bit = np.nonzero((near > least) & (near <= most))
        clear = count_bits(above).sum(1, dtype=np.int64)
        return torch.from_numpy(clear), torch.from_numpy(row[nth]), torch.from_numpy(word[nth] * WORD + bit)


def one_core_each(work: Callable[[tuple[int, int]], int], every: list[tuple[int, int]]) -> list[int]:
    """The blocks in threads, each of which multiplies on its own: small products are not worth sharing."""
    threads = torch.get_num_threads()

    def alone(block: tuple[int, int]) -> int:
        torch.set_num_threads(1)
        return work(block)

    try:
        with ThreadPoolExecutor(threads) as pool:
            return list(pool.map(alone, every))
    finally:
        torch.set_num_threads(threads)
