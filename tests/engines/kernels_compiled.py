"""The kernel, compiled for several architectures, takes no more of the chip than was reckoned; a process of its own.

TRITON_INTERPRET=0 python tests/engines/kernels_compiled.py
"""

from __future__ import annotations

import sys
from unittest import mock

import torch
import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

from atkay.engines.full_ranking import device as torch_device
from atkay.engines.full_ranking import kernels as torch_kernels
from atkay.engines.full_ranking.count import Vectors

KINDS = (
    {"users": "*fp16", "items": "*fp16", "above": "*i32", "doubts": "*i32"}
    | dict.fromkeys(("threshold", "slope", "steepness"), "*fp32")
    | dict.fromkeys(("n_users", "n_tiles", "tiles"), "i32")
)


def check(precision: str, depth: int, targets: int, architecture: int, room: int) -> None:
    """A device has so much room on the chip, in KiB."""
    kernel = torch_device.KERNELS[precision]
    with mock.patch.object(torch_device, "on_chip", return_value=(room << 10) - 4096):
        shape = kernel.shape(Vectors(torch.zeros((1, depth)), torch.zeros((1, depth))))
    words = {"TARGETS": targets, "CELLS": torch_kernels.CELLS, "TILES": torch_kernels.TILES}
    cuts = torch_device._cuts(shape, torch.zeros((kernel.pieces, 1, depth)))
    constant = {**words, **cuts, "SATURATE": True, "LIMIT": torch_device.CLEAR}
    names = torch_kernels.count.arg_names
    source = ASTSource(
        fn=torch_kernels.count,
        signature={name: KINDS.get(name, "constexpr") for name in names},
        constexprs={(names.index(name),): value for name, value in constant.items()},
        attrs={(at,): [["tt.divisibility", 16]] for at, name in enumerate(names) if "*" in KINDS.get(name, "")},
    )
    made = triton.compile(
        source,
        target=GPUTarget("cuda", architecture, 32),
        options={"num_warps": shape.warps, "num_stages": shape.stages, "enable_fp_fusion": True},
    )
    taken = made.metadata.shared
    assert taken <= min(room << 10, shape.shared(depth, kernel.pieces) + 4096), (precision, depth, architecture, taken)


def main() -> None:
    check("tf32", 96, 2, 86, 99)
    if "all" in sys.argv:
        check("float32", 128, 10, 90, 227)
        check("float32", 700, 1, 90, 227)
        check("bfloat16", 256, 1, 80, 163)
    print("as they should be")


if __name__ == "__main__":
    main()
