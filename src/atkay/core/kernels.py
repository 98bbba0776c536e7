"""Kernels: the compiled ones, or their twins in NumPy where none could be built or loaded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from atkay.core.native.library import LIBRARY, PROBLEM

# Every public name of the one or the other module: a test sees that each kernel has its twin.
if TYPE_CHECKING or LIBRARY is None:
    from atkay.core.reference import *  # noqa: F403
else:
    from atkay.core.native.kernels import *  # noqa: F403

if PROBLEM:
    from atkay.errors import SpeedWarning, warn

    warn(
        f"atkay runs without its compiled kernels ({PROBLEM}): same numbers, slower. To build them, install "
        "a C compiler, for instance with pip install ziglang, and run python -m atkay.core.native.build",
        SpeedWarning,
    )
