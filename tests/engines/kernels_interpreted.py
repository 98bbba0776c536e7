"""Ranks by the kernels, run by Triton's interpreter, against a product in double precision; a process of its own.

TRITON_INTERPRET=1 python tests/engines/kernels_interpreted.py
"""

from __future__ import annotations

import itertools
import os
import sys
from unittest import mock

os.environ["TRITON_INTERPRET"] = "1"

import torch
from torch import Tensor

from atkay.engines.full_ranking import device as torch_device
from atkay.engines.full_ranking.count import Excluded, Targets, Vectors, exact, rank, rounded
from atkay.engines.full_ranking.device import KERNELS, Kernel, Shape

torch_device.SAMPLE = 2  # the interpreter is slow
SHAPES = Shape(16, 16, depth=16), Shape(16, 32), Shape(32, 16, depth=32)
TWO = Kernel("float32", 2, SHAPES[:1])


def check(
    name: str,
    vectors: Vectors,
    targets: Targets,
    excluded: Excluded | None,
    kernel: Kernel,
    memory: int = 1 << 20,
) -> None:
    """The counts are those of all scores, compared one by one."""
    ranks, own = rank(vectors, targets, excluded, memory, kernel)
    n_users, n_items = len(vectors.users), len(vectors.items)
    user, item = torch.arange(n_users).repeat_interleave(n_items), torch.arange(n_items).repeat(n_users)
    scores = exact(vectors, user, item, 1 << 24).view(n_users, n_items)
    assert torch.equal(own, scores[targets.user, targets.item]), name
    ranked = torch.ones((n_users, n_items), dtype=torch.bool)
    if excluded is not None:
        ranked[torch.arange(n_users).repeat_interleave(excluded.start.diff()), excluded.item] = False
    row, mine, there = scores[targets.user], own[:, None], ranked[targets.user]
    equal = there & (row == mine)
    for what, found, wanted in (
        ("above", ranks.above, there & (row > mine)),
        ("equal", ranks.equal, equal),
        ("before", ranks.before, equal & (torch.arange(n_items) < targets.item[:, None])),
    ):
        assert torch.equal(found, wanted.sum(1)), (name, what, found, wanted.sum(1))


def check_slack() -> None:
    """The probe finds rounding in the last places, no more and no less."""
    for kernel, depth in itertools.product(KERNELS.values(), (1, 17, 100)):
        share = torch_device.slack(torch.device("cpu"), kernel, SHAPES[0], depth)
        least = torch_device.LEAST[kernel.pieces]
        assert least <= share < least + depth * 2.0**-24, (kernel.precision, depth, share)


def check_rests() -> None:
    """Rests that are as large as they can be, of one sign: the second half scores as the targets do, on paper alone."""
    each = 1 + round(0.9 * 2**12) * 2.0**-23
    items = torch.full((64, 64), each)
    items[:32], items[:32, ::2] = 1.0, 2 * each - 1
    targets = Targets(torch.arange(3), torch.tensor([3, 10, 31]))
    check("large rests", Vectors(torch.full((3, 64), each), items), targets, None, TWO)


def asked(sizes: list[int], n_items: int) -> Targets:
    """So many targets for each of the users, spread over the items."""
    user = torch.arange(len(sizes)).repeat_interleave(torch.tensor(sizes))
    return Targets(user, torch.randint(n_items, (len(user),)))


def seen(n_users: int, n_items: int) -> Excluded:
    """Up to 40 items for each user, targets among them or not."""
    size = torch.randint(min(40, n_items), (n_users,))
    start = torch.cat((torch.zeros(1, dtype=torch.int64), size.cumsum(0)))
    return Excluded(start, torch.cat([torch.randperm(n_items)[: int(n)] for n in size]))


def normal(*shape: int) -> Tensor:
    return torch.randn(shape)


def cases() -> dict[str, tuple[Tensor, Tensor]]:
    """Vectors of users and items that are hard to tell apart, or to multiply; few, since the interpreter is slow."""
    few, some = normal(5, 24), normal(6, 24)
    some[::3] = 0
    return {
        "less than a tile": (normal(6, 8), normal(13, 8)),
        "many components": (normal(3, 200), normal(40, 200)),
        "one component": (normal(6, 1), normal(40, 1).round(decimals=1)),
        "groups of equal vectors": (normal(6, 24), few[torch.randint(5, (40,))]),
        "all items equal": (normal(5, 24), few[:1].repeat(40, 1)),
        "users and items of zero": (some, torch.cat((some, normal(40, 24), some))),
        "whole numbers": (torch.randint(-2, 3, (6, 9)).float(), torch.randint(-2, 3, (100, 9)).float()),
        "huge": (normal(5, 24) * 1e30, normal(40, 24) * 1e30),
        "tiny": (normal(5, 24) * 1e-30, normal(40, 24) * 1e-30),
        "tiny, and tiles of zero": (normal(5, 24), torch.cat((torch.zeros(64, 24), normal(40, 24) * 1e-30))),
        "huge and tiny": (normal(5, 24) * 1e25, normal(70, 24) * 10.0 ** torch.linspace(-30, 5, 70)[:, None]),
    }


def given(both: tuple[Tensor, Tensor], precision: str) -> Vectors:
    return Vectors(*(rounded(each, precision) for each in both))


def check_more() -> None:
    """What takes long."""
    # More tiles than there are bits in a word, and more users than in a block.
    vectors = given((normal(19, 24), normal(1100, 24)), "bfloat16")
    check("many tiles", vectors, asked([1] * 19, 1100), seen(19, 1100), KERNELS["bfloat16"]._replace(shapes=SHAPES[:1]))
    # A slack that is far too small is noticed, and grows.
    vectors = given((normal(6, 24), normal(50, 24)), "float32")
    with mock.patch.object(torch_device, "slack", return_value=2.0**-32):
        check("small slack", vectors, asked([1, 3] * 3, 50), None, TWO)
    check_slack()


def main() -> None:
    torch.manual_seed(7)
    everything = "all" in sys.argv
    for at, (name, both) in list(enumerate(cases().items()))[:: 1 if everything else 4]:
        precision = ("float32", "tf32", "bfloat16")[at % 3]
        vectors = given(both, precision)
        n_users, n_items = len(both[0]), len(both[1])
        targets = asked([(1, 2, 3, 10, 23, 0)[(n + at) % 6] for n in range(n_users)], n_items)
        kernel = KERNELS[precision]._replace(shapes=(SHAPES[at // 3 % 3],))
        check(f"{precision}, {name}", vectors, targets, seen(n_users, n_items) if at % 2 else None, kernel)
    # So little memory that items and users come in several parts.
    vectors = given((normal(7, 24), normal(150, 24)), "float32")
    check("little memory", vectors, asked([1, 4] * 3 + [2], 150), seen(7, 150), TWO, memory=1 << 13)
    check_rests()
    if everything:
        check_more()
    print("as they should be")


if __name__ == "__main__":
    main()
