"""Hashes of ids that are the same on every machine and in every version: for random ties and fingerprints."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import polars as pl

Hashes = NDArray[np.uint64]

_BASE = 0x100000001B3  # odd, so that its powers never vanish


def id_hashes(ids: pl.Series) -> Hashes:
    """A hash per id: of an integer's value, of anything else's text."""
    import polars as pl

    if ids.dtype.is_integer() and ids.dtype not in (pl.UInt64, pl.Int128, pl.UInt128):
        return mix(ids.cast(pl.Int64).to_numpy().view(np.uint64))
    text = ids.cast(pl.String)
    length = text.str.len_bytes().to_numpy().astype(np.int64)
    data = np.frombuffer("".join(text.to_list()).encode(), np.uint8).astype(np.uint64)
    end = np.cumsum(length)
    place = np.arange(len(data)) - np.repeat(end - length, length)
    powers = np.cumprod(np.full(length.max(initial=0), _BASE, np.uint64))
    # Sums of unsigned integers wrap around and lose nothing, so a difference of running sums is exact.
    running = np.concatenate((np.zeros(1, np.uint64), np.cumsum((data + np.uint64(1)) * powers[place])))
    return mix((running[end] - running[end - length]) ^ length.astype(np.uint64))


def scrambled(seed: int, *parts: Hashes) -> Hashes:
    """A number per row that looks random and depends on nothing but the row's parts and the seed."""
    mixed: Hashes = np.full(len(parts[0]), seed % (1 << 64), dtype=np.uint64)
    for part in parts:
        mixed = mix(mixed ^ part)
    return mixed


def mix(bits: Hashes) -> Hashes:
    """The finishing steps of splitmix64: every bit of the input moves about half the bits of the output."""
    bits = bits + np.uint64(0x9E3779B97F4A7C15)
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))
