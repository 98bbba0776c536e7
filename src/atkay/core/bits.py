"""Bits: how many are set."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from atkay.core.types import Array, Hashes


def add_up_bits(words: Hashes) -> Array:
    """The bits that are set in each word of 64, added up in groups of 2, 4, 8 and then 64."""
    for width, mask in ((1, 0x5555555555555555), (2, 0x3333333333333333), (4, 0x0F0F0F0F0F0F0F0F)):
        words = (words & np.uint64(mask)) + (words >> np.uint64(width) & np.uint64(mask))
    return (words * np.uint64(0x0101010101010101) >> np.uint64(56)).astype(np.uint8)


count_bits = getattr(np, "bitwise_count", add_up_bits)
"""The bits that are set in each word of 64; NumPy counts them since 2.0."""
