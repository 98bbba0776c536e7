"""Numbers of ids that are the same on every machine and in every version: for random ties and fingerprints."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from atkay.core.kernels import text_numbers
from atkay.core.native.arrow import ArrowColumn
from atkay.core.reference import mix
from atkay.core.types import Hashes

if TYPE_CHECKING:
    import polars as pl

    from atkay.core.types import Ints

HASH_MODULUS = 1 << 64


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
    return text_numbers(ArrowColumn(text))


def scrambled(seed: int, *parts: Hashes) -> Hashes:
    """A number per row that looks random and depends on nothing but the row's parts and the seed."""
    mixed = mix(parts[0] ^ np.uint64(seed % HASH_MODULUS))
    for part in parts[1:]:
        mixed = mix(mixed ^ part)
    return mixed


Numbers = Hashes | int
"""The number of each item's code; or of the first code, where the others follow it as they do the ids."""


def numbers_of(codes: Ints, numbers: Numbers) -> Hashes:
    """The numbers of item codes."""
    if not isinstance(numbers, int):
        return numbers.take(codes)
    wide = codes.astype(np.int64, copy=False)
    return (wide + numbers if numbers else wide).view(np.uint64)


def item_fingerprint(items: Hashes) -> int:
    """A hash of a set of items."""
    return int(mix(items).sum())
