"""Numbers of ids that are the same on every machine and in every version: for random ties and fingerprints."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from atkay.core.lists import Lists, in_threads

if TYPE_CHECKING:
    from collections.abc import Callable

    import polars as pl

    from atkay.core.types import Floats, Ints

Hashes = NDArray[np.uint64]

HASH_MODULUS = 1 << 64

SMALL_ROWS = 1000
"""The lengths of fewer texts than this are counted one by one: a query of Polars would take longer."""

_BASE = 0x100000001B3  # odd, so that its powers never vanish


class Fingerprint(NamedTuple):
    """What tells inputs apart: ``rows`` adds up over parts of the queries, ``fixed`` is the same for all of them."""

    rows: int = 0
    fixed: int = 0

    def merge(self, other: Fingerprint) -> Fingerprint:
        """The fingerprint of the queries of both."""
        return Fingerprint((self.rows + other.rows) % HASH_MODULUS, self.fixed)

    def __str__(self) -> str:
        return f"{self.rows ^ self.fixed:016x}"


def id_numbers(ids: pl.Series) -> Hashes:
    """A number per id: an integer's own value, a hash of anything else's text."""
    import polars as pl

    if ids.dtype.is_temporal():
        ids = ids.to_physical()
    if ids.dtype.is_integer():
        narrow = ids.cast(pl.Int64, strict=False)
        if not narrow.null_count():
            return narrow.to_numpy().view(np.uint64)
        wide = narrow.is_null().to_numpy()
        return np.where(wide, id_numbers(ids.cast(pl.String)), narrow.fill_null(0).to_numpy().view(np.uint64))
    text = ids.bin.encode("hex") if ids.dtype == pl.Binary else ids.cast(pl.String)
    words = text.to_list()
    if len(words) < SMALL_ROWS:
        length = np.array([len(word.encode()) for word in words], np.int64)
    else:
        length = text.str.len_bytes().to_numpy().astype(np.int64)
    data = np.frombuffer("".join(words).encode(), np.uint8).astype(np.uint64)
    end = np.cumsum(length)
    place = np.arange(len(data)) - np.repeat(end - length, length)
    powers = np.cumprod(np.full(length.max(initial=0), _BASE, np.uint64))
    # Sums of unsigned integers wrap around and lose nothing, so a difference of running sums is exact.
    running = np.concatenate((np.zeros(1, np.uint64), np.cumsum((data + np.uint64(1)) * powers[place])))
    return mix((running[end] - running[end - length]) ^ length.astype(np.uint64))


def scrambled(seed: int, *parts: Hashes) -> Hashes:
    """A number per row that looks random and depends on nothing but the row's parts and the seed."""
    mixed = mix(parts[0] ^ np.uint64(seed % HASH_MODULUS))
    for part in parts[1:]:
        mixed = mix(mixed ^ part)
    return mixed


def mix(bits: Hashes) -> Hashes:
    """The finishing steps of splitmix64: every bit of the input moves about half the bits of the output."""
    bits = bits + np.uint64(0x9E3779B97F4A7C15)
    bits ^= bits >> np.uint64(30)
    bits *= np.uint64(0xBF58476D1CE4E5B9)
    bits ^= bits >> np.uint64(27)
    bits *= np.uint64(0x94D049BB133111EB)
    bits ^= bits >> np.uint64(31)
    return bits


def fingerprint(
    lists: Lists,
    query: Hashes,
    item: Callable[[Ints], Hashes],
    grade: Floats | None = None,
    *,
    ranked: bool = False,
) -> int:
    """A hash of all rows: their order counts within a list where it is ranked, that of the lists never.

    ``query`` has a number per query, ``item`` gives those of items. A ranked list is the sum of its items' numbers,
    each times a number of its place; any other the sum of its rows' hashes, in which a grade of 1 is the same as none.
    Unsigned sums wrap around, losing nothing.
    """
    places = mix(np.arange(lists.length.max(initial=0) if ranked else 0, dtype=np.uint64))

    def of_block(block: tuple[int, int]) -> int:
        filled = np.flatnonzero(lists.length[block[0] : block[1]]) + block[0]
        if not len(filled):
            return 0
        begin, end = int(lists.start[block[0]]), int(lists.start[block[1]])
        number, start, length = item(lists.item[begin:end]), lists.start[filled] - begin, lists.length[filled]
        if ranked and (length == length[0]).all():
            of_list = np.einsum("ij,j->i", number.reshape(len(filled), -1), places[: length[0]])
        else:
            if ranked:
                rows = number * places.take(np.arange(len(number)) - np.repeat(start, length))
            else:
                rows = scrambled(1, number)
                graded = () if grade is None else np.flatnonzero(grade[begin:end] != 1)
                if grade is not None and len(graded):
                    rows[graded] = scrambled(1, number[graded], grade[begin:end][graded].view(np.uint64))
            of_list = np.add.reduceat(rows, start)
        return int(scrambled(2, query[filled], of_list, length.view(np.uint64)).sum())

    return sum(in_threads(of_block, lists.blocks())) % HASH_MODULUS


def item_fingerprint(items: Hashes) -> int:
    """A hash of a set of items."""
    return int(mix(items).sum())
