"""Hashes of ids that are the same on every machine and in every version: for random ties and fingerprints."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from atkay.lists import Lists, in_threads

if TYPE_CHECKING:
    from collections.abc import Callable

    import polars as pl

    from atkay.arrays import Floats, Ints

Hashes = NDArray[np.uint64]

_BASE = 0x100000001B3  # odd, so that its powers never vanish


def id_hashes(ids: pl.Series) -> Hashes:
    """A hash per id: of an integer's value, of anything else's text."""
    import polars as pl

    if ids.dtype.is_temporal():
        ids = ids.to_physical()
    if ids.dtype.is_integer():
        narrow = ids.cast(pl.Int64, strict=False)
        if not narrow.null_count():
            return mix(narrow.to_numpy().view(np.uint64))
        wide = narrow.is_null().to_numpy()
        hashes = mix(narrow.fill_null(0).to_numpy().view(np.uint64))
        return np.where(wide, id_hashes(ids.cast(pl.String)), hashes)
    text = ids.bin.encode("hex") if ids.dtype == pl.Binary else ids.cast(pl.String)
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


def fingerprint(
    lists: Lists,
    query: Hashes,
    item: Callable[[Ints], Hashes],
    grade: Floats | None = None,
    *,
    ranked: bool = False,
) -> str:
    """A hash of all rows: their order counts within a list where it is ranked, that of the lists never."""

    def of_block(block: tuple[int, int]) -> int:
        some = np.flatnonzero(lists.length[block[0] : block[1]]) + block[0]
        if not len(some):
            return 0
        begin, end = int(lists.start[block[0]]), int(lists.start[block[1]])
        rows = item(lists.item[begin:end])
        if grade is not None:
            rows = scrambled(1, rows, grade[begin:end].view(np.uint64))
        start = lists.start[some] - begin
        of_list = np.add.reduceat(rows, start)  # unsigned: sums wrap around and lose nothing
        if ranked:
            rows *= np.arange(end - begin, dtype=np.uint64)
            of_list = mix(of_list) + np.add.reduceat(rows, start) - start.astype(np.uint64) * of_list
        return int(scrambled(2, query[some], of_list).sum())

    return f"{sum(in_threads(of_block, lists.blocks())) % (1 << 64):016x}"
