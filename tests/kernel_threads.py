"""Kernels on several threads, for their tests."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch

from atkay.core.native import kernels
from atkay.core.native.library import call

ROWS_PER_PART = 65536
"""As the kernels have it."""


@contextmanager
def on(threads: int) -> Iterator[None]:
    """So many threads, and parts of a few rows, so that short lists are worth several; NumPy does nothing instead."""
    call("set_rows_per_part", 3)
    try:
        always = patch.multiple(kernels, FEW_IDS=0, SMALL_SIZE=0)
        with patch.dict(os.environ, ATKAY_THREADS=str(threads)), always:
            yield
    finally:
        call("set_rows_per_part", ROWS_PER_PART)
