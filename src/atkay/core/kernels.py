"""Kernels: the compiled ones, or their twins in NumPy where none could be built or loaded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from atkay.core.native.library import LIBRARY

if TYPE_CHECKING or LIBRARY is None:
    from atkay.core.reference import (
        along_lists,
        arrange,
        assign,
        by_score,
        changes,
        codes,
        count,
        divide,
        exact_sums,
        falling,
        find,
        fingerprint,
        finite,
        mark,
        match,
        number_ids,
        rising,
        span,
        steps,
        sums,
        take,
        take_runs,
        text_changes,
    )
else:
    from atkay.core.native.kernels import (
        along_lists,
        arrange,
        assign,
        by_score,
        changes,
        codes,
        count,
        divide,
        exact_sums,
        falling,
        find,
        fingerprint,
        finite,
        mark,
        match,
        number_ids,
        rising,
        span,
        steps,
        sums,
        take,
        take_runs,
        text_changes,
    )

if LIBRARY is None:
    from atkay.errors import SpeedWarning, warn

    warn(
        "atkay runs without its compiled kernels: the same numbers, more slowly. There was no C compiler when it was "
        "installed, or the library does not fit. Install a wheel for this machine; or pip install ziglang, a compiler, "
        "and atkay again.",
        SpeedWarning,
    )

__all__ = [
    "along_lists",
    "arrange",
    "assign",
    "by_score",
    "changes",
    "codes",
    "count",
    "divide",
    "exact_sums",
    "falling",
    "find",
    "fingerprint",
    "finite",
    "mark",
    "match",
    "number_ids",
    "rising",
    "span",
    "steps",
    "sums",
    "take",
    "take_runs",
    "text_changes",
]
