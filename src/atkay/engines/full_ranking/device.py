"""Ranks by counting on a GPU: what the kernels are given, and what becomes of what they find."""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING, NamedTuple

import torch
import triton
from torch import Tensor
from triton.runtime import driver

from atkay.engines.full_ranking import kernels
from atkay.engines.full_ranking.count import FAR, LANES, TINY, Ranks, Rows, all_alike, blocks, rounded
from atkay.engines.full_ranking.kernels import CELLS, TILES
from atkay.errors import AtkayError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from atkay.engines.full_ranking.count import Excluded, Targets, Vectors

LENGTH = 15
"""Vectors in pieces are up to 2 to this long: their components are within the range of half precision."""

CLEAR = 0.01
"""Σ f - Σ f² of a cell up to which nothing is near: every f is then below 0.0102 or above 0.9898."""

STEEP = 0.5 - 0.0102
"""How far f is from 1/2 for a score that is as far from the target's as the slack."""

LEAST = {1: 2.0**-23, 2: 2.0**-23 + 2.0**-21}
"""What scores are off by on any device, by the number of pieces: three roundings when compared with targets;
with two pieces, 2^-23 of a component on either side, and 2^-22 for rests times rests."""

MARGIN = 1.25
"""How many times farther than any sum of the probe, which is made to be off most, a sum may be off."""

SAMPLE, FEW = 32, 64
"""Tiles of items, and users, of the probe."""

WORDS, PAIRS, ROWS = 512, 32, 16
"""Words of bits, pairs of user and item, and users to be scaled, that a program takes at a time."""


class Shape(NamedTuple):
    """How the work is cut: users and items of a tile, warps of a program, tiles under way."""

    users: int = 128
    items: int = 128
    warps: int = 8
    stages: int = 2
    depth: int = 128
    """Vector components per step of the product."""
    waves: int = 16
    """Programs for each place on the device, so that the last ones end at about the same time."""

    def piece(self, depth: int) -> int:
        """Vector components per step, a power of two."""
        return min(max(16, 1 << (depth - 1).bit_length()), self.depth)

    def shared(self, depth: int, pieces: int) -> int:
        """Bytes on the chip that a program works with: its users' vectors, whole or in part, and tiles under way.

        Before Ampere, the scores go through there, too.
        """
        of_users = self.users if depth <= self.depth else self.users * self.stages
        vectors = 2 * pieces * self.piece(depth) * (of_users + self.items * self.stages)
        return max(vectors, 4 * self.users * self.items)


SHAPES = (Shape(), Shape(depth=64), Shape(64, 64, 4), Shape(64, 64, 4, depth=64), Shape(32, 32, 4, depth=32))
"""Of these, the first that fits on the chip."""


class Kernel(NamedTuple):
    """What vectors are rounded to, in how many pieces of half precision that is held, and how the work can be cut."""

    precision: str
    pieces: int
    shapes: tuple[Shape, ...] = SHAPES

    def shape(self, vectors: Vectors) -> Shape:
        """How to cut the work."""
        room, depth = on_chip(vectors.items.device), vectors.items.shape[1]
        return next((each for each in self.shapes if each.shared(depth, self.pieces) <= room), self.shapes[-1])

    def bytes(self, vectors: Vectors) -> int:
        """Of a vector in pieces."""
        return 2 * self.pieces * vectors.items.shape[1]


# Half precision has 11 bits, which is what tf32 has and more than bfloat16 has. Two pieces have 23, one of them from
# the sign of the second: a bit less than single precision.
KERNELS = {
    "float32": Kernel("float32", 2, (Shape(items=64, stages=3), *SHAPES)),
    "tf32": Kernel("tf32", 1),
    "bfloat16": Kernel("bfloat16", 1),
}


def rank_on_device(
    vectors: Vectors, targets: Targets, excluded: Excluded | None, memory: int, kernel: Kernel
) -> tuple[Ranks, Tensor]:
    """The ranks of the targets among all items but the user's excluded ones, and their scores."""
    vectors = vectors._replace(users=vectors.users.contiguous(), items=vectors.items.contiguous())
    device = Device(vectors, targets, own_scores(vectors, targets), kernel)
    n_items, size = len(vectors.items), device.shape.items
    full = n_items - n_items % size
    share = slack(vectors.items.device, kernel, device.shape, vectors.items.shape[1]) if full else 0.0
    while share < 1:
        missing = [device.count(*part, share) for part in device.parts(full, memory)] if full else []
        # What does not fill a tile is compared item by item.
        if full < n_items:
            device.compare(None, full, n_items)
        ranks = all_alike(Ranks(*device.counts), vectors, targets)
        if excluded is not None:
            device.compare(excluded)
        # Every target is near to itself. Where one is not, rounding is worse than was thought. To ask is to wait for
        # the device: so it is done once, at the end.
        if not missing or not any(torch.cat(missing).tolist()):
            return ranks, device.own
        device.counts.zero_()
        share *= 4
    raise AtkayError("full_ranking: matrix products on this device are wrong by more than rounding. Pass device='cpu'.")


@functools.cache
def slack(device: torch.device, kernel: Kernel, shape: Shape, depth: int) -> float:
    """How far a score may be off, as a share of the product of both vectors' lengths.

    A score is a sum in some order and some precision of the device. It is off most where all products have one sign,
    and where it is about as large as at the end from the start: the probe's vectors are such.
    """
    made = torch.Generator().manual_seed(depth)

    def positive(n: int) -> Tensor:
        vectors = torch.rand((n, depth), generator=made)
        vectors[::2, 0] = 2 * depth**0.5
        return rounded(torch.nn.functional.normalize(vectors), kernel.precision).to(device)

    users, items, off = positive(FEW), positive(SAMPLE * shape.items), torch.zeros((), device=device)
    lengths, longest_of = longest(users, 1), longest(items, shape.items)
    pieces = cut(users, lengths, kernel, 1), cut(items, longest_of, kernel, shape.items)
    kernels.probe[(SAMPLE,)](
        users,
        items,
        lengths,
        longest_of,
        *pieces,
        off,
        FEW,
        SAMPLE,
        LENGTH=LENGTH,
        **_cuts(shape._replace(users=FEW), pieces[0]),
        num_warps=shape.warps,
        num_stages=1,
    )
    return MARGIN * float(off) + LEAST[kernel.pieces]


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
    lengths = torch.empty(len(items) // size, dtype=torch.float64, device=items.device)
    kernels.longest[(len(lengths),)](items, lengths, D=items.shape[1], LANES=_width(items), ITEMS=size)
    return lengths


class Device:
    """What is counted, and the counts so far: above, equal and before, a row each."""

    def __init__(self, vectors: Vectors, targets: Targets, own: Tensor, kernel: Kernel) -> None:
        self.vectors, self.targets, self.own, self.kernel = vectors, targets, own, kernel
        self.shape = kernel.shape(vectors)
        self.counts = torch.zeros((3, len(targets)), dtype=torch.int64, device=own.device)
        self._pieces: tuple[tuple[int, int], Tensor] | None = None

    @functools.cached_property
    def longest(self) -> Tensor:
        """The length of the longest vector of each full tile."""
        full = len(self.vectors.items) // self.shape.items * self.shape.items
        return longest(self.vectors.items[:full], self.shape.items)

    @functools.cached_property
    def most(self) -> Tensor:
        """The length of the longest of all."""
        return self.longest.max()

    @functools.cached_property
    def length(self) -> Tensor:
        """The length of each user's vector."""
        return longest(self.vectors.users, 1)

    @functools.cached_property
    def first(self) -> Tensor:
        """Where the targets of each user begin."""
        return torch.searchsorted(self.targets.user, torch.arange(len(self.vectors.users) + 1, device=self.own.device))

    def parts(self, full: int, memory: int) -> Iterator[tuple[tuple[int, int], Rows]]:
        """Items and rows that are counted together, within the memory: at most half of it for items in pieces."""
        size, each = self.shape.items, self.kernel.bytes(self.vectors)
        for first, last in blocks(full // size, memory // (2 * size * each)):
            n_items = (last - first) * size
            for rows in self.targets.rows:
                width = rows.target.shape[1]
                row = width * (words(n_items, self.shape) * 4 + 64) + each
                for block in blocks(len(rows.user), (memory - n_items * each) // row):
                    yield (first * size, last * size), Rows(*(one[slice(*block)] for one in rows))

    def pieces(self, items: tuple[int, int]) -> Tensor:
        """Some items in pieces."""
        if self._pieces is None or self._pieces[0] != items:
            self._pieces = None  # the memory of the last ones can be used again
            here = self.vectors.items[slice(*items)]
            self._pieces = items, cut(here, self.longest[self.tiles(items)], self.kernel, self.shape.items)
        return self._pieces[1]

    def tiles(self, items: tuple[int, int]) -> slice:
        """The tiles of some items."""
        return slice(items[0] // self.shape.items, items[1] // self.shape.items)

    def count(self, items: tuple[int, int], rows: Rows, slack: float) -> Tensor:
        """Count items in full tiles; how many targets are missing where they should be near."""
        users, threshold, missing = self.scale(rows, items)
        counts, doubts = count(users, self.pieces(items), threshold, self.slopes(items, slack), self.shape)
        self.settle(rows, items[0], counts, doubts, missing)
        # Nothing was counted for what fills up the rows.
        self.counts.index_add_(1, rows.target.clamp(min=0).view(-1), counts.view(3, -1).long())
        return missing

    def slopes(self, items: tuple[int, int], slack: float) -> tuple[Tensor, Tensor]:
        """What scores of each tile are multiplied by, and what those of the targets are."""
        here = self.longest[self.tiles(items)]
        slope, steepness = torch.empty((2, len(here)), device=here.device)
        kernels.slopes[(triton.cdiv(len(here), WORDS),)](
            here,
            self.most,
            slope,
            steepness,
            len(here),
            slack,
            FAR=FAR,
            TINY=TINY,
            STEEP=STEEP,
            LENGTH=LENGTH,
            SIZE=WORDS,
        )
        return slope, steepness

    def scale(self, rows: Rows, items: tuple[int, int]) -> tuple[Tensor, Tensor, Tensor]:
        """The rows' users in pieces, the scores of their targets, and how many of these are among the items."""
        n_rows, targets = rows.target.shape
        users = torch.empty(
            (self.kernel.pieces, n_rows, self.vectors.users.shape[1]), dtype=torch.float16, device=self.own.device
        )
        threshold = torch.empty((n_rows, targets), device=self.own.device)
        missing = torch.zeros(1, dtype=torch.int32, device=self.own.device)
        kernels.scale[(triton.cdiv(n_rows, ROWS),)](
            self.vectors.users,
            self.length,
            rows.user,
            rows.target,
            self.targets.item,
            self.own,
            self.most,
            users,
            threshold,
            missing,
            n_rows,
            *items,
            FAR=FAR,
            LENGTH=LENGTH,
            PIECES=self.kernel.pieces,
            TARGETS=targets,
            WIDTH=triton.next_power_of_2(targets),
            **_lanes(self.vectors),
            ROWS=ROWS,
        )
        return users, threshold, missing

    def settle(self, rows: Rows, first: int, counts: Tensor, doubts: Tensor, missing: Tensor) -> None:
        """Count the cells that are in doubt by exact scores, and take the targets among them from the missing ones."""
        kernels.settle[(triton.cdiv(doubts.numel(), WORDS),)](
            doubts,
            *self.vectors,
            rows.user,
            rows.target,
            self.targets.item,
            self.own,
            counts,
            missing,
            doubts.numel(),
            rows.target.numel(),
            first,
            TARGETS=rows.target.shape[1],
            **_lanes(self.vectors),
            ITEMS=self.shape.items,
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


def cut(items: Tensor, longest_of: Tensor, kernel: Kernel, size: int) -> Tensor:
    """Items in pieces, tile by tile times powers of two."""
    pieces = torch.empty((kernel.pieces, *items.shape), dtype=torch.float16, device=items.device)
    kernels.cut[(len(longest_of),)](
        items,
        longest_of,
        pieces,
        len(items),
        LENGTH=LENGTH,
        PIECES=kernel.pieces,
        D=items.shape[1],
        LANES=_width(items),
        ITEMS=size,
    )
    return pieces


def count(
    users: Tensor, items: Tensor, threshold: Tensor, slopes: tuple[Tensor, Tensor], shape: Shape
) -> tuple[Tensor, Tensor]:
    """Count for each user (pieces x rows x D) and each of its targets (rows x targets) the items that score above.

    Returns the counts, with room for those of equal items, and the bits of the cells that are in doubt and not counted.
    """
    rows, targets = threshold.shape
    n_items = items.shape[1]
    counts = torch.zeros((3, rows, targets), dtype=torch.int32, device=users.device)
    groups = words(n_items, shape) // CELLS
    doubts = torch.empty((groups, rows, targets, CELLS), dtype=torch.int32, device=users.device)
    programs = triton.cdiv(rows, shape.users)
    splits = max(1, min(groups, places(users.device) * shape.waves // programs))
    # A float counts to 2^24.
    each = min(triton.cdiv(groups, splits), 2**24 * CELLS // (TILES * shape.items))
    kernels.count[(programs, triton.cdiv(groups, each))](
        users,
        items,
        threshold,
        *slopes,
        counts,
        doubts,
        rows,
        n_items // shape.items,
        each * TILES,
        TARGETS=targets,
        **_cuts(shape, users),
        CELLS=CELLS,
        TILES=TILES,
        SATURATE=users.is_cuda and torch.version.hip is None,
        LIMIT=CLEAR,
        num_warps=shape.warps,
        num_stages=shape.stages,
    )
    return counts, doubts


def words(items: int, shape: Shape) -> int:
    """Words of bits that a target needs."""
    return CELLS * -(-(items // shape.items) // TILES)


def places(device: torch.device) -> int:
    """How many programs run at the same time, about."""
    return 2 * torch.cuda.get_device_properties(device).multi_processor_count if device.type == "cuda" else 1


@functools.cache
def on_chip(device: torch.device) -> float:
    """Bytes of fast memory that a program can have. To ask takes a millisecond."""
    if device.type != "cuda":
        return math.inf
    # Some kilobytes are left for what moves from thread to thread.
    return float(driver.active.utils.get_device_properties(device.index)["max_shared_mem"] - 4096)


def _cuts(shape: Shape, users: Tensor) -> dict[str, int]:
    """How the work is cut, given the users in pieces."""
    pieces, _, depth = users.shape
    return {"PIECES": pieces, "D": depth, "K": shape.piece(depth), "USERS": shape.users, "ITEMS": shape.items}


def _lanes(vectors: Vectors) -> dict[str, int]:
    return {"D": vectors.items.shape[1], "LANES": _width(vectors.items)}


def _width(items: Tensor) -> int:
    """Lanes of exact sums: those beyond the last component would add 0."""
    return min(LANES, 1 << (items.shape[1] - 1).bit_length())
