"""The count as the tail of the matrix product: one Triton kernel, for CUDA.

A program holds a block of users and walks over tiles of items. Of each tile it forms the scores, and for each of the
users' targets ``f = min(max((score - t) / (4 slack) + 1/2, 0), 1)``, which is 1 for a score clearly above the target's
``t``, 0 for one clearly below, and in between for one that is near. Two sums over the tile tell all: ``Σ f``, the
count, and ``Σ f - Σ f²``, which is 0 where nothing is near. Only where something is, scores are compared one by one,
and the near items are written down, to be scored again exactly. Scores never leave the chip.

Clamping to 0 and 1 is a free part of a multiply-add on the device, and all three operations run at full rate, where
comparisons and integer additions run at half of it.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
import triton
import triton.language as tl
from torch import Tensor

from atkay.engines.torch_count import Kernel, Shape

NEAR = 0.1
"""Σ f - Σ f² above which something may be near. One f from 1/4 to 3/4 alone gives 3/16; rounding gives 0.001."""


KERNELS = {
    "float32": Kernel("tf32x3", 2.0**-21, Shape(users=128, items=128, warps=8, stages=2, depth=64)),
    "tf32": Kernel("tf32", 2.0**-21, Shape(users=128, items=128, warps=8, stages=2)),
    "bfloat16": Kernel("tf32", 2.0**-21, Shape()),
}


@triton.jit
def _share(score, slope, offset, SATURATE: tl.constexpr):
    """Slope x score + offset, clamped to 0 and 1."""
    if SATURATE:
        return tl.inline_asm_elementwise(
            "fma.rn.sat.f32 $0, $1, $2, $3;",
            "=f,f,f,f",
            [score, slope, offset],
            dtype=tl.float32,
            is_pure=True,
            pack=1,
        )
    return tl.minimum(tl.maximum(score * slope + offset, 0.0), 1.0)


@triton.jit
def _scores(
    user_tile, users, row, items, item, n_users, n_items, D: tl.constexpr, K: tl.constexpr, PRECISION: tl.constexpr
):
    """Scores of a tile; the users' vectors are at hand where they fit in one piece."""
    k = tl.arange(0, K)
    inside = (item < n_items)[:, None]
    if D <= K:
        item_tile = tl.load(
            items + item.to(tl.int64)[:, None] * D + k[None, :], mask=inside & (k < D)[None, :], other=0.0
        )
        return tl.dot(user_tile, tl.trans(item_tile), input_precision=PRECISION)
    score = tl.zeros((row.shape[0], item.shape[0]), tl.float32)
    for first in tl.static_range(0, D, K):
        depth = first + k
        here = tl.load(
            users + row.to(tl.int64)[:, None] * D + depth[None, :],
            mask=(row < n_users)[:, None] & (depth < D)[None, :],
            other=0.0,
        )
        there = tl.load(
            items + item.to(tl.int64)[:, None] * D + depth[None, :], mask=inside & (depth < D)[None, :], other=0.0
        )
        score = tl.dot(here, tl.trans(there), score, input_precision=PRECISION)
    return score


@triton.jit
def _write_near(score, low, high, target, item, near_target, near_item, n_near, capacity):
    """Write down the items from low to high, one per user at a time."""
    near = (score >= low[:, None]) & (score <= high[:, None])
    left = tl.max(tl.sum(near.to(tl.int32), 1), 0)
    while left > 0:
        which = tl.max(tl.where(near, item[None, :], -1), 1)
        some = which >= 0
        place = tl.atomic_add(n_near + 0 * which, 1, mask=some)
        fits = some & (place < capacity)
        tl.store(near_target + place, target, mask=fits)
        tl.store(near_item + place, which, mask=fits)
        near = near & (item[None, :] != which[:, None])
        left -= 1


@triton.jit(do_not_specialize=["capacity", "n_users", "n_items", "tiles"])
def _count(
    users,
    items,
    threshold,
    slack,
    above,
    near_target,
    near_item,
    n_near,
    capacity,
    n_users,
    n_items,
    tiles,
    TARGETS: tl.constexpr,
    D: tl.constexpr,
    K: tl.constexpr,
    USERS: tl.constexpr,
    ITEMS: tl.constexpr,
    PRECISION: tl.constexpr,
    SATURATE: tl.constexpr,
    LIMIT: tl.constexpr,
):
    # Neighbouring programs have the same items and different users: what one reads the others find in the cache.
    row = tl.program_id(0) * USERS + tl.arange(0, USERS)
    k = tl.arange(0, K)
    user_tile = tl.load(
        users + row.to(tl.int64)[:, None] * D + k[None, :], mask=(row < n_users)[:, None] & (k < D)[None, :], other=0.0
    )
    t = ()
    counted = ()
    for j in tl.static_range(TARGETS):
        t = t + (tl.load(threshold + row * TARGETS + j, mask=row < n_users, other=float("inf")),)
        counted = counted + (tl.zeros((USERS,), tl.float32),)
    first = tl.program_id(1) * tiles
    last = tl.minimum(first + tiles, tl.cdiv(n_items, ITEMS))
    for tile in range(first, last):
        item = tile * ITEMS + tl.arange(0, ITEMS)
        score = _scores(user_tile, users, row, items, item, n_users, n_items, D, K, PRECISION)
        if (tile + 1) * ITEMS > n_items:
            score = tl.where((item < n_items)[None, :], score, float("-inf"))
        wide = tl.load(slack + tile)
        slope = 0.25 / wide
        doubt = tl.zeros((USERS,), tl.float32)
        new = ()
        for j in tl.static_range(TARGETS):
            share = _share(score, slope, (0.5 - t[j] * slope)[:, None], SATURATE)
            total = tl.sum(share, 1)
            doubt = tl.maximum(doubt, total - tl.sum(share * share, 1))
            new = new + (total,)
        if tl.max(doubt, 0) > LIMIT:
            exact = ()
            for j in tl.static_range(TARGETS):
                low, high = t[j] - wide, t[j] + wide
                target = row * TARGETS + j
                _write_near(score, low, high, target, item, near_target, near_item, n_near, capacity)
                exact = exact + (tl.sum((score > high[:, None]).to(tl.float32), 1),)
            new = exact
        after = ()
        for j in tl.static_range(TARGETS):
            after = after + (counted[j] + tl.floor(new[j] + 0.5),)
        counted = after
    for j in tl.static_range(TARGETS):
        tl.atomic_add(above + row * TARGETS + j, counted[j].to(tl.int32), mask=row < n_users)


class Near(NamedTuple):
    """What a launch found: scores clearly above each target, and the pairs that were too near to tell.

    ``found`` pairs were near; where that is more than ``target`` and ``item`` have room for, the rest was lost.
    """

    above: Tensor
    target: Tensor
    item: Tensor
    found: Tensor


def count(users: Tensor, items: Tensor, threshold: Tensor, slack: Tensor, room: int, dot: str, shape: Shape) -> Near:
    """Count for each user (rows x D) and each of its targets (rows x targets) the items that score above.

    ``slack`` has a number per tile of items: a score is nearer than that to what it would be without rounding.
    """
    rows, targets = threshold.shape
    n_items, depth = items.shape
    new = {"dtype": torch.int32, "device": users.device}
    found = Near(
        torch.zeros((rows, targets), **new), torch.empty(room, **new), torch.empty(room, **new), torch.zeros(1, **new)
    )
    tiles, blocks = triton.cdiv(n_items, shape.items), triton.cdiv(rows, shape.users)
    splits = max(1, min(tiles, places(users.device) * shape.waves // blocks))
    each = triton.cdiv(tiles, splits)
    _count[(blocks, triton.cdiv(tiles, each))](
        users,
        items,
        threshold,
        slack,
        *found,
        room,
        rows,
        n_items,
        each,
        TARGETS=targets,
        D=depth,
        K=min(triton.next_power_of_2(depth), shape.depth),
        USERS=shape.users,
        ITEMS=shape.items,
        PRECISION=dot,
        SATURATE=users.is_cuda and torch.version.hip is None,
        LIMIT=NEAR,
        num_warps=shape.warps,
        num_stages=shape.stages,
    )
    return found


def places(device: torch.device) -> int:
    """How many programs run at the same time, about."""
    return 2 * torch.cuda.get_device_properties(device).multi_processor_count if device.type == "cuda" else 1
