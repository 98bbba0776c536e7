"""Ranks by counting on a GPU: what the kernels are given, and what becomes of what they find."""

from __future__ import annotations

import functools
from typing import NamedTuple

import torch
import triton
from torch import Tensor

from atkay.engines import torch_kernels as kernels
from atkay.engines.torch_count import LANES, Excluded, Ranks, Rows, Scaled, Targets, Vectors, all_alike, blocks
from atkay.engines.torch_kernels import CELLS, TILES

CLEAR = 0.01
"""Σ f - Σ f² of a cell up to which nothing is near: every f is then below 0.0102 or above 0.9898."""

STEEP = 0.5 - 0.0102
"""How far f is from 1/2 for a score that is as far from the target's as the slack."""

DEPTH = 128
"""Components up to which the slack holds as it is; beyond, it grows with them."""

WORDS, PAIRS, ROWS = 512, 32, 16
"""Words of bits, pairs of user and item, and users to be scaled, that a program takes at a time."""


class Shape(NamedTuple):
    """How the work is cut: users and items of a tile, warps of a program, tiles under way."""

    users: int = 128
    items: int = 128
    warps: int = 8
    stages: int = 3
    depth: int = 128
    """Components of the vectors that are multiplied in one go."""
    waves: int = 16
    """Programs for each place on the device, so that the last ones end at about the same time."""


class Kernel(NamedTuple):
    """How the kernel multiplies, how far its scores may be off, and how its work is cut for few and for many targets.

    The slack is a share of the product of both vectors' lengths. It is several times what was measured, and every run
    measures it again on the targets, whose exact scores are known.
    """

    dot: str
    slack: float
    few: Shape
    many: Shape

    def shape(self, targets: int) -> Shape:
        """How to cut, with so many targets in a row."""
        return self.few if targets < 5 else self.many


KERNELS = {
    "float32": Kernel("tf32x3", 2.0**-22, Shape(stages=2, depth=64), Shape(items=64, stages=2, depth=64)),
    "tf32": Kernel("tf32", 2.0**-22, Shape(items=64, warps=4), Shape(stages=2)),
    "bfloat16": Kernel("tf32", 2.0**-22, Shape(stages=2), Shape(items=64, warps=4)),
}


def rank_on_device(
    vectors: Vectors, targets: Targets, excluded: Excluded | None, memory: int, kernel: Kernel
) -> tuple[Ranks, Tensor]:
    """The ranks of the targets among all items but the user's excluded ones, and their scores."""
    vectors = Vectors(vectors.users.contiguous(), vectors.items.contiguous())
    device = Device(vectors, targets, own_scores(vectors, targets))
    # What does not fill a tile is compared item by item.
    n_items = len(vectors.items)
    full = n_items - n_items % max(kernel.few.items, kernel.many.items)
    left = [part for rows in (targets.rows if full else ()) for part in parts(rows, full, vectors, memory, kernel)]
    slack = kernel.slack * max(1.0, vectors.items.shape[1] / DEPTH)
    missing = [device.count(part, full, kernel, slack) for part in left]
    if full < n_items:
        device.compare(None, full, n_items)
    ranks = all_alike(Ranks(*device.counts), vectors, targets)
    if excluded is not None:
        device.compare(excluded)
    # Every target is near to itself. Where one is not, rounding is worse than was thought. To ask is to wait for the
    # device: so it is done once, at the end.
    while missing and any(wrong := torch.cat(missing).tolist()):
        left = [part for part, n in zip(left, wrong, strict=True) if n]
        slack *= 4
        missing = [device.count(part, full, kernel, slack) for part in left]
    return ranks, device.own


def parts(rows: Rows, full: int, vectors: Vectors, memory: int, kernel: Kernel) -> list[Rows]:
    """The rows in parts that are counted within the memory."""
    width = rows.target.shape[1]
    each = width * (words(full, kernel.shape(width)) * 4 + 64) + vectors.users.shape[1] * vectors.users.itemsize
    return [Rows(*(one[slice(*block)] for one in rows)) for block in blocks(len(rows.user), memory // each)]


def own_scores(vectors: Vectors, targets: Targets) -> Tensor:
    """The exact scores of the targets."""
    own = torch.empty(len(targets), dtype=torch.float64, device=vectors.items.device)
    programs = triton.cdiv(len(targets), PAIRS)
    if programs:
        kernels.own_scores[(programs,)](
            *vectors, targets.user, targets.item, own, len(targets), **_lanes(vectors), PAIRS=PAIRS
        )
    return own


def longest(items: Tensor, size: int) -> Tensor:
    """The length of the longest vector of each tile."""
    found = torch.empty(len(items) // size, dtype=torch.float64, device=items.device)
    kernels.longest[(len(found),)](items, found, D=items.shape[1], LANES=_width(items), ITEMS=size)
    return found


class Device:
    """What is counted, and the counts so far: above, equal and before, a row each."""

    def __init__(self, vectors: Vectors, targets: Targets, own: Tensor) -> None:
        self.vectors, self.targets, self.own = vectors, targets, own
        self.counts = torch.zeros((3, len(targets)), dtype=torch.int64, device=own.device)
        self._scaled: dict[int, Scaled] = {}

    def scaled(self, full: int, size: int) -> Scaled:
        """Vectors for the fast product, with items in tiles of a size."""
        if size not in self._scaled:
            self._scaled[size] = Scaled(self.vectors, longest(self.vectors.items[:full], size))
        return self._scaled[size]

    @functools.cached_property
    def first(self) -> Tensor:
        """Where the targets of each user begin."""
        return torch.searchsorted(self.targets.user, torch.arange(len(self.vectors.users) + 1, device=self.own.device))

    def count(self, rows: Rows, full: int, kernel: Kernel, slack: float) -> Tensor:
        """Count the items in full tiles, unless targets are missing where they should be near; how many are."""
        shape = kernel.shape(rows.target.shape[1])
        scaled = self.scaled(full, shape.items)
        users, threshold, missing = self.scale(rows, full, scaled.exponent)
        slope = (STEEP / scaled.slack(slack)).float()
        found, doubts = count(users, scaled.items, threshold, slope, kernel.dot, shape)
        self.settle(rows, found, doubts, missing, shape)
        # Nothing was counted for what fills up the rows.
        self.counts.index_add_(1, rows.target.clamp(min=0).view(-1), found.view(3, -1) * (missing == 0).long())
        return missing

    def scale(self, rows: Rows, full: int, exponent: int) -> tuple[Tensor, Tensor, Tensor]:
        """What :meth:`Scaled.users` gives, in single precision; and how many targets are in full tiles."""
        n_rows, targets = rows.target.shape
        users = torch.empty(
            (n_rows, self.vectors.users.shape[1]), dtype=self.vectors.users.dtype, device=self.own.device
        )
        threshold = torch.empty((n_rows, targets), device=self.own.device)
        missing = torch.zeros(1, dtype=torch.int32, device=self.own.device)
        kernels.scale[(triton.cdiv(n_rows, ROWS),)](
            self.vectors.users,
            rows.user,
            rows.target,
            self.targets.item,
            self.own,
            users,
            threshold,
            missing,
            n_rows,
            full,
            exponent,
            TARGETS=targets,
            WIDTH=triton.next_power_of_2(targets),
            **_lanes(self.vectors),
            ROWS=ROWS,
        )
        return users, threshold, missing

    def settle(self, rows: Rows, found: Tensor, doubts: Tensor, missing: Tensor, shape: Shape) -> None:
        """Count the cells that are in doubt by exact scores, and take the targets among them from the missing ones."""
        kernels.settle[(triton.cdiv(doubts.numel(), WORDS),)](
            doubts,
            *self.vectors,
            rows.user,
            rows.target,
            self.targets.item,
            self.own,
            found,
            missing,
            doubts.numel(),
            rows.target.numel(),
            TARGETS=rows.target.shape[1],
            **_lanes(self.vectors),
            ITEMS=shape.items,
            CELLS=CELLS,
            TILES=TILES,
            WORDS=WORDS,
        )

    def compare(self, excluded: Excluded | None, first: int = 0, last: int = 0) -> None:
        """Take the excluded items out of the counts, or add those from first to before last, one by one."""
        kernels.compare[(len(self.vectors.users),)](
            *self.vectors,
            self.first,
            self.targets.item,
            self.own,
            self.first if excluded is None else excluded.start,
            self.first if excluded is None else excluded.item,
            self.counts,
            len(self.targets),
            first,
            last,
            **_lanes(self.vectors),
            PAIRS=PAIRS,
            LISTED=excluded is not None,
        )


def count(
    users: Tensor, items: Tensor, threshold: Tensor, slope: Tensor, dot: str, shape: Shape
) -> tuple[Tensor, Tensor]:
    """Count for each user (rows x D) and each of its targets (rows x targets) the items that score above.

    ``slope`` has a number per tile. Returns the counts, with room for those of equal items, and the bits of the cells
    that are in doubt and not counted.
    """
    rows, targets = threshold.shape
    depth, tiles = items.shape[1], len(slope)
    found = torch.zeros((3, rows, targets), dtype=torch.int32, device=users.device)
    groups = triton.cdiv(tiles, TILES)
    doubts = torch.empty((groups, rows, targets, CELLS), dtype=torch.int32, device=users.device)
    programs = triton.cdiv(rows, shape.users)
    splits = max(1, min(groups, places(users.device) * shape.waves // programs))
    # A float counts to 2^24.
    each = min(triton.cdiv(groups, splits), 2**24 * CELLS // (TILES * shape.items))
    kernels.count[(programs, triton.cdiv(groups, each))](
        users,
        items,
        threshold,
        slope,
        found,
        doubts,
        rows,
        tiles,
        each * TILES,
        TARGETS=targets,
        D=depth,
        K=min(max(16, triton.next_power_of_2(depth)), shape.depth),
        USERS=shape.users,
        ITEMS=shape.items,
        CELLS=CELLS,
        TILES=TILES,
        PRECISION=dot,
        SATURATE=users.is_cuda and torch.version.hip is None,
        LIMIT=CLEAR,
        num_warps=shape.warps,
        num_stages=shape.stages,
    )
    return found, doubts


def words(items: int, shape: Shape) -> int:
    """Words of bits that a target needs."""
    return CELLS * -(-(items // shape.items) // TILES)


def places(device: torch.device) -> int:
    """How many programs run at the same time, about."""
    return 2 * torch.cuda.get_device_properties(device).multi_processor_count if device.type == "cuda" else 1


def _lanes(vectors: Vectors) -> dict[str, int]:
    return {"D": vectors.items.shape[1], "LANES": _width(vectors.items)}


def _width(items: Tensor) -> int:
    """Lanes of exact sums: those beyond the last component would add 0."""
    return min(LANES, 1 << (items.shape[1] - 1).bit_length())
