"""Bits that are set, counted with and without NumPy 2."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from atkay.core.bits import add_up_bits, count_bits


@pytest.mark.parametrize("count", [add_up_bits, count_bits])
def test_bits_are_counted_as_python_counts_them(count: Any) -> None:
    drawn = np.random.default_rng(0).integers(0, 2**64, 1000, np.uint64)
    words = np.concatenate([drawn, np.array([0, 1, 2**63, 2**64 - 1], np.uint64)])
    counts = count(words)
    assert counts.dtype == np.uint8
    assert counts.tolist() == [word.bit_count() for word in words.tolist()]
    assert count(words.reshape(2, -1)).shape == (2, len(words) // 2)
