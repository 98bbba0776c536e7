"""Kernels on several threads, for their tests."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch

from atkay.core.native.library import call

ROWS_PER_PART = 65536
"""As the kernels have it."""


@contextmanager
def on(threads: int) -> Iterator[None]:
    """So many threads, and parts of a few rows, so that short lists are worth several."""
    call("set_rows_per_part", 3)
    try:
        with patch.dict(os.environ, ATKAY_THREADS=str(threads)):
            yield
    finally:
        call("set_rows_per_part", ROWS_PER_PART)
